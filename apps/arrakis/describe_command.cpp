#include "describe_command.hpp"

#include <unistd.h>

#include <iostream>

#include "channel_arguments.hpp"
#include "channel_printer.hpp"
#include "common/output.hpp"
#include "common/program.hpp"
#include "common/screen.hpp"

namespace arrakis::cli {

void DescribeCommand::add_options(OptionAdder& add) {
  add.positionals("CHANNEL", channels_, OptionAdder::Need::required, kChannelHelp);
  add.value("--time", time_text_, "TIME", "Channels as they were then (default: now)");
  add.value("--replay-id", replay_id_, "ID", "Channels of this replay");
  format_options_.add_to(add, FormatOptions::Listing::yes);
}

void DescribeCommand::check(const ArgumentReader& read) {
  format_ = format_options_.chosen();
  time_ = read.time("--time", time_text_);
}

int DescribeCommand::run(Session& session) {
  const Client client(session.client);
  const std::vector<std::string> names =
      resolve_names(client, expand_names(channels_, std::cin), time_, replay_id_);
  const ChannelSet channels = client.describe(names, time_, replay_id_);
  console::Output output(STDOUT_FILENO);
  ChannelPrinter printer(output, format_, console::terminal_size(output.fd()).columns, false);
  for (const Channel& channel : channels) printer.add(channel);
  printer.finish();
  return console::kSuccess;
}

}
