/// arrakis: the command line program. Reads the arguments, calls the library, prints.

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "arrakis/error.hpp"
#include "arrakis/time.hpp"
#include "command.hpp"
#include "command_line.hpp"
#include "common/output.hpp"
#include "common/program.hpp"
#include "common/program_log.hpp"
#include "common/stop_signals.hpp"

namespace arrakis::cli {
namespace {

/// Whether a server refused it or could not be asked.
bool is_of_a_request(const Error& error) {
  if (error.request_id()) return true;
  switch (error.code()) {
    case Errc::unavailable:
    case Errc::unauthenticated:
    case Errc::permission_denied:
    case Errc::server:
    case Errc::cancelled:
    case Errc::protocol:
    case Errc::timeout:
      return true;
    default:
      return false;
  }
}

int run_command(Command& command, const CommandLine& line, console::StopSignals& signals) {
  console::ProgramLog log(line.log);
  Session session{line.client, log, signals};
  try {
    return command.run(session);
  } catch (const Error& error) {
    if (!is_of_a_request(error)) throw;
    console::print_error("request error", error.what());
    return console::kFailure;
  }
}

int run(const std::vector<std::string>& arguments) {
  console::StopSignals signals;
  const CommandLine line = parse_command_line(
      arguments, [](const char* name) { return std::getenv(name); }, system_clock().now());
  if (const auto* print = std::get_if<PrintText>(&line.action)) {
    console::Output(STDOUT_FILENO).write(print->text);
    return console::kSuccess;
  }
  if (const auto* pages = std::get_if<WriteManPages>(&line.action)) {
    write_man_pages(pages->folder);
    return console::kSuccess;
  }
  if (const auto* usage = std::get_if<UsageError>(&line.action)) {
    console::print_error(usage->message);
    return console::kUsageError;
  }
  if (const auto* refusal = std::get_if<Refusal>(&line.action)) {
    console::print_error(refusal->message);
    return console::kFailure;
  }
  return run_command(*std::get<std::unique_ptr<Command>>(line.action), line, signals);
}

}  // namespace
}

int main(int argc, char** argv) {
  return arrakis::console::run_program([&] { return arrakis::cli::run({argv + 1, argv + argc}); });
}
