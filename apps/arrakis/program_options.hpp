#pragma once

/// The program's options and commands as CLI11 sees them; what --help, the man pages and the
/// completions are made from.

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"

namespace arrakis::cli {

/// The values of the options that stand before the command.
struct GlobalOptions {
  std::vector<std::string> urls;
  std::optional<std::string> token, token_file, ca, cert, key, timeout, completion, man_pages;
  bool insecure = false, no_token = false;
  bool quiet = false, verbose = false, url_help = false;
};

/// A command with its place in the CLI::App.
struct KnownCommand {
  const CommandEntry* entry;
  CLI::App* app;
  std::unique_ptr<Command> command;
};

/// Owns what parsing writes into; not movable, because options point into it.
class ProgramOptions {
 public:
  ProgramOptions();
  ProgramOptions(const ProgramOptions&) = delete;
  ProgramOptions& operator=(const ProgramOptions&) = delete;

  [[nodiscard]] CLI::App& app() { return app_; }
  [[nodiscard]] const GlobalOptions& globals() const { return globals_; }
  [[nodiscard]] std::vector<KnownCommand>& commands() { return commands_; }
  /// The command of that name or alias, or nullptr.
  [[nodiscard]] KnownCommand* find(std::string_view name);

 private:
  void add_global_options();

  GlobalOptions globals_;
  CLI::App app_;
  std::vector<KnownCommand> commands_;
};

/// The options of an app as lists of names and values are made from them: those with a description.
std::vector<const CLI::Option*> described_options(const CLI::App& app);
/// What --help and the man page say of a command below its options.
std::string details_of(const KnownCommand& command);
/// Whether a value follows the option.
bool takes_value(const CLI::Option& option);

/// A script for bash that completes commands, options, and values of a fixed set.
std::string bash_completion(ProgramOptions& options);

/// The page "arrakis.1", or that of a command.
std::string man_page(ProgramOptions& options);
std::string man_page(const KnownCommand& command);

}
