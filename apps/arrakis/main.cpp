/// arrakis: the command line program. Reads the arguments, calls the library, prints.

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include "arrakis/time.hpp"
#include "command_line.hpp"
#include "common/output.hpp"
#include "common/program.hpp"
#include "common/program_log.hpp"
#include "common/stop_signals.hpp"
#include "stream_command.hpp"

namespace arrakis::cli {
namespace {

int run(const std::vector<std::string>& arguments) {
  console::StopSignals signals;
  const CommandLine line = parse_command_line(
      arguments, [](const char* name) { return std::getenv(name); }, system_clock().now());
  if (const auto* print = std::get_if<PrintText>(&line.command)) {
    console::Output(STDOUT_FILENO).write(print->text);
    return console::kSuccess;
  }
  if (const auto* usage = std::get_if<UsageError>(&line.command)) {
    console::print_error(usage->message);
    return console::kUsageError;
  }
  console::ProgramLog log(line.log);
  return run_stream(std::get<StreamCommand>(line.command), log, signals);
}

}  // namespace
}

int main(int argc, char** argv) {
  return arrakis::console::run_program([&] { return arrakis::cli::run({argv + 1, argv + argc}); });
}
