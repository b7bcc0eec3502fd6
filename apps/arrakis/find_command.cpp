#include "find_command.hpp"

#include <unistd.h>

#include <string>

#include "arrakis/error.hpp"
#include "channel_printer.hpp"
#include "common/output.hpp"
#include "common/program.hpp"
#include "common/screen.hpp"

namespace arrakis::cli {

void FindCommand::add_options(OptionAdder& add) {
  query_options_.add_to(add,
                        "Regular expression (Python's) for the beginning of the name; '.' is every "
                        "channel");
  format_options_.add_to(add, FormatOptions::Listing::yes);
}

void FindCommand::check(const ArgumentReader& read) {
  format_ = format_options_.chosen();
  // A failure and not a usage error: scripts know it by its status.
  if (!query_options_.has_pattern()) {
    throw Error(Errc::invalid_argument,
                "a channel pattern is required ('.' matches every channel -- potentially hundreds "
                "of thousands; try 'arrakis count' first to see how many match)");
  }
  query_ = query_options_.query(read);
}

int FindCommand::run(Session& session) {
  const Client client(session.client);
  console::Output output(STDOUT_FILENO);
  ChannelPrinter printer(output, format_, console::terminal_size(output.fd()).columns,
                         console::can_redraw(STDERR_FILENO));
  ChannelListing listing = client.find(query_);
  for (const Channel& channel : listing) printer.add(channel);
  printer.finish();
  return console::kSuccess;
}

void CountCommand::add_options(OptionAdder& add) {
  query_options_.add_to(
      add, "Regular expression (Python's) for the beginning of the name (default: any)");
  format_options_.add_to(add);
}

void CountCommand::check(const ArgumentReader& read) {
  // A number looks the same in every form.
  static_cast<void>(format_options_.chosen());
  query_ = query_options_.query(read);
}

int CountCommand::run(Session& session) {
  const Client client(session.client);
  console::Output(STDOUT_FILENO).write(std::to_string(client.count(query_)) + "\n");
  return console::kSuccess;
}

}
