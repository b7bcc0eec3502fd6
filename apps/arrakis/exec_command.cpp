#include "exec_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include "arrakis/error.hpp"

namespace arrakis::cli {

void ExecCommand::add_options(OptionAdder& add) {
  add.positionals("COMMAND", command_, OptionAdder::Need::required,
                  "Program and its arguments, after '--' where they look like options");
}

int ExecCommand::run(Session& session) {
  const std::string url = Client(session.client).url();
  ::setenv("ARRAKIS_SERVER", url.c_str(), 1);
  std::vector<char*> arguments;
  for (std::string& argument : command_) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  // This program ignores it, the other is to find it as ever.
  std::signal(SIGPIPE, SIG_DFL);
  ::execvp(arguments[0], arguments.data());
  throw Error(Errc::io, fmt::format("'{}' can't be run: {}", command_[0],
                                    std::generic_category().message(errno)));
}

}
