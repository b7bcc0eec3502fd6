#include "fetch_command.hpp"

#include <unistd.h>

#include <iostream>
#include <utility>

#include "arrakis/error.hpp"
#include "channel_arguments.hpp"
#include "common/output.hpp"
#include "common/program.hpp"
#include "common/screen.hpp"

namespace arrakis::cli {
namespace {

/// Whether the request is for one block, whose length only the server knows.
bool is_one_block(const StreamRequest& request) { return !request.end && !request.duration; }

}  // namespace

void FetchCommand::add_options(OptionAdder& add) {
  request_options_.add_to(add);
  format_options_.add_to(add);
  file_.add_to(add);
}

void FetchCommand::check(const ArgumentReader& read) {
  format_ = format_options_.chosen();
  request_ = request_options_.request(read);
  if (request_options_.metadata()) refuse("--metadata", "only 'stream' reads without a server");
  // A failure and not a usage error: scripts know it by its status.
  if (request_.end && !request_.start) {
    throw Error(Errc::invalid_argument, "--end requires --start");
  }
  file_.check();
  if (file_.given() && format_ != Format::table) {
    refuse("--output", "not allowed with a form for standard output");
  }
}

int FetchCommand::run(Session& session) {
  const Client client(session.client);
  request_.channels = resolve_names(client, expand_names(request_.channels, std::cin),
                                    request_.start, request_.replay_id);
  if (!file_.given()) {
    print_block(client.fetch(request_));
    return console::kSuccess;
  }
  if (is_one_block(request_)) {
    write_block(session, client.fetch(request_), file_);
    return console::kSuccess;
  }
  // Not in one block: a file takes more than memory does.
  BlockStream stream = client.stream(request_);
  const console::ScopedStopAction cancel_on_signal(session.signals, [&stream] { stream.cancel(); });
  write_stream(session, stream, request_, file_);
  stream.close();
  const std::optional<int> signal = session.signals.received();
  return signal ? console::StopSignals::status(*signal) : console::kSuccess;
}

void FetchCommand::print_block(const SeriesBlock& block) const {
  console::Output output(STDOUT_FILENO);
  output.write(format_ == Format::table
                   ? block_table(block, console::terminal_size(output.fd()).columns)
                   : formatted(block, format_) + "\n");
}

}
