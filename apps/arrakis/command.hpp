#pragma once

/// What every command of the program is.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arrakis/client.hpp"
#include "common/program_log.hpp"
#include "common/stop_signals.hpp"
#include "options.hpp"

namespace arrakis::cli {

/// What a command runs with.
struct Session {
  ClientOptions client;
  console::ProgramLog& log;
  console::StopSignals& signals;
};

/// One run of one command. Made new for each command line.
class Command {
 public:
  Command() = default;
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  virtual void add_options(OptionAdder& add) = 0;
  /// Reads what the options hold. Throws UsageError, and Error for what is to end with status 1.
  virtual void check(const ArgumentReader& /*read*/) {}
  /// Does it and returns the exit status. Throws Error, and OutputClosed when nobody reads the
  /// output any more.
  virtual int run(Session& session) = 0;
};

/// A line of the table of commands.
struct CommandEntry {
  std::string_view name;
  std::vector<std::string_view> aliases;
  std::string_view summary;  ///< one line
  std::string_view details;  ///< what --help and the man page say below the options; may be empty
  std::unique_ptr<Command> (*make)();
};

/// All commands, in the order of --help.
const std::vector<CommandEntry>& command_table();

}
