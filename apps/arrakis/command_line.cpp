#include "command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "arrakis/error.hpp"
#include "help_texts.hpp"
#include "program_options.hpp"

namespace arrakis::cli {
namespace {

constexpr const char* kLogLevelVariable = "ARRAKIS_LOG_LEVEL";
constexpr const char* kServerVariable = "ARRAKIS_SERVER";
constexpr std::string_view kSshScheme = "ssh://";
constexpr std::string_view kEndOfOptions = "--";

/// The options that a long one, written in part, may mean.
class Abbreviations {
 public:
  explicit Abbreviations(ProgramOptions& options) { add(options.app()); }

  void add(const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names_.emplace_back(name, option);
    }
  }
  /// The option that `name` means; nullptr when it is unknown. Throws UsageError when it may be
  /// several.
  [[nodiscard]] std::pair<std::string, const CLI::Option*> resolve(const std::string& name) const {
    std::vector<std::string> candidates;
    const CLI::Option* found = nullptr;
    std::string full;
    for (const auto& [known, option] : names_) {
      if (known == name) return {known, option};
      if (known.rfind(name, 0) != 0) continue;
      candidates.push_back("--" + known);
      if (found != option) full = known;
      found = option;
    }
    if (candidates.size() > 1) {
      throw UsageError{fmt::format("--{} may mean {}", name, fmt::join(candidates, " or "))};
    }
    return {full, found};
  }

 private:
  std::vector<std::pair<std::string, const CLI::Option*>> names_;
};

/// Walks over the arguments once: writes abbreviated options in full and finds the command.
class ArgumentWalk {
 public:
  ArgumentWalk(ProgramOptions& options, std::vector<std::string> arguments)
      : options_(options), known_(options), arguments_(std::move(arguments)) {}

  /// Throws UsageError for an unknown command and an ambiguous option.
  void run() {
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      std::string& argument = arguments_[i];
      if (argument == kEndOfOptions) return;
      if (argument.rfind("--", 0) == 0) {
        if (expand(argument)) ++i;
      } else if (argument.size() > 1 && argument[0] == '-') {
        if (value_follows(argument)) ++i;
      } else if (command_ == nullptr) {
        enter(argument);
      }
    }
  }
  [[nodiscard]] KnownCommand* command() const { return command_; }
  [[nodiscard]] const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  void enter(const std::string& name) {
    command_ = options_.find(name);
    if (command_ == nullptr) {
      std::vector<std::string_view> names;
      for (const CommandEntry& entry : command_table()) names.push_back(entry.name);
      throw UsageError{
          fmt::format("'{}' is no command; there are {}", name, fmt::join(names, ", "))};
    }
    known_.add(*command_->app);
  }
  /// Whether the next argument is the option's value.
  bool expand(std::string& argument) const {
    const std::size_t equals = std::min(argument.find('='), argument.size());
    const auto [full, option] = known_.resolve(argument.substr(2, equals - 2));
    if (option == nullptr) return false;
    argument = "--" + full + argument.substr(equals);
    return takes_value(*option) && argument.find('=') == std::string::npos;
  }
  [[nodiscard]] bool value_follows(const std::string& argument) const {
    if (argument.size() != 2) return false;
    const CLI::Option* option = options_.app().get_option_no_throw(argument);
    if (option == nullptr && command_ != nullptr) {
      option = command_->app->get_option_no_throw(argument);
    }
    return option != nullptr && takes_value(*option);
  }

  ProgramOptions& options_;
  Abbreviations known_;
  std::vector<std::string> arguments_;
  KnownCommand* command_ = nullptr;
};

console::LogThreshold log_threshold(const GlobalOptions& globals, const ArgumentReader& read) {
  if (globals.quiet && globals.verbose) refuse("--quiet", "not allowed with --verbose");
  if (globals.quiet) return {LogLevel::warning};
  if (globals.verbose) return {LogLevel::debug};
  const std::string_view text = read.variable(kLogLevelVariable);
  if (text.empty()) return {};
  const std::optional<console::LogThreshold> threshold = console::parse_log_threshold(text);
  if (!threshold) refuse(kLogLevelVariable, fmt::format("'{}' is not a log level", text));
  return *threshold;
}

std::string token_in(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  if (!file || !(file >> token)) {
    throw Error(Errc::io, file.eof() ? fmt::format("--token-file: {} is empty", path)
                                     : fmt::format("--token-file: {} can't be read: {}", path,
                                                   std::generic_category().message(errno)));
  }
  return token;
}

TokenOptions token_options(const GlobalOptions& globals) {
  const int given = static_cast<int>(globals.token.has_value()) +
                    static_cast<int>(globals.token_file.has_value()) +
                    static_cast<int>(globals.no_token);
  if (given > 1) refuse("--token, --token-file and --no-token", "exclude each other");
  TokenOptions options;
  if (globals.no_token) options.mode = TokenOptions::Mode::off;
  if (globals.token) options.token = *globals.token;
  if (globals.token && globals.token->empty()) refuse("--token", "is empty");
  if (globals.token_file) options.token = token_in(*globals.token_file);
  return options;
}

TlsOptions tls_options(const GlobalOptions& globals) {
  if (globals.cert.has_value() != globals.key.has_value()) {
    refuse(globals.cert ? "--cert" : "--key", globals.cert ? "requires --key" : "requires --cert");
  }
  TlsOptions options;
  options.root_certificates = globals.ca.value_or("");
  options.client_certificate = globals.cert.value_or("");
  options.client_key = globals.key.value_or("");
  options.verify = !globals.insecure;
  return options;
}

void refuse_ssh(std::string_view argument, std::string_view url) {
  if (url.substr(0, kSshScheme.size()) != kSshScheme) return;
  refuse(argument, fmt::format("'{}': ssh is not in this version; forward the port with 'ssh -L' "
                               "and name it here",
                               url));
}

ClientOptions client_options(const GlobalOptions& globals, const ArgumentReader& read) {
  ClientOptions options;
  for (const std::string& url : globals.urls) {
    refuse_ssh("--url", url);
    options.urls.push_back(url);
  }
  if (options.urls.empty()) refuse_ssh(kServerVariable, read.variable(kServerVariable));
  options.token = token_options(globals);
  options.tls = tls_options(globals);
  const std::optional<Duration> timeout = ArgumentReader::span("--timeout", globals.timeout);
  if (timeout) options.timeout = *timeout;
  return options;
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

/// What --help and the like ask for, or nothing.
std::optional<PrintText> text_asked_for(ProgramOptions& options) {
  const GlobalOptions& globals = options.globals();
  if (globals.url_help) return PrintText{std::string(kUrlText)};
  if (!globals.completion) return std::nullopt;
  if (*globals.completion != "bash") {
    refuse("--generate-completion", fmt::format("'{}' is not bash", *globals.completion));
  }
  return PrintText{bash_completion(options)};
}

CommandLine checked(ProgramOptions& options, KnownCommand* command, const ArgumentReader& read) {
  const GlobalOptions& globals = options.globals();
  if (std::optional<PrintText> text = text_asked_for(options)) return {std::move(*text)};
  if (globals.man_pages) return {WriteManPages{*globals.man_pages}};
  CommandLine line;
  line.log = log_threshold(globals, read);
  if (command == nullptr) {
    line.action = PrintText{options.app().help()};
    return line;
  }
  line.client = client_options(globals, read);
  command->command->check(read);
  line.action = std::move(command->command);
  return line;
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw Error(Errc::io, fmt::format("{} can't be written", path.string()));
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments,
                               const Environment& environment, GpsTime now) {
  ProgramOptions options;
  ArgumentWalk walk(options, arguments);
  try {
    walk.run();
    // CLI11 takes them from the back.
    options.app().parse(
        std::vector<std::string>(walk.arguments().rbegin(), walk.arguments().rend()));
    return checked(options, walk.command(), ArgumentReader(environment, now));
  } catch (const UsageError& error) {
    return {error};
  } catch (const CLI::CallForHelp&) {
    if (walk.command() == nullptr) return {PrintText{options.app().help()}};
    return {PrintText{walk.command()->app->help("arrakis")}};
  } catch (const CLI::CallForVersion& call) {
    return {PrintText{std::string(call.what()) + "\n"}};
  } catch (const CLI::Error& error) {
    return {UsageError{first_line(error.what())}};
  } catch (const Error& error) {
    return {Refusal{error.what()}};
  }
}

void write_man_pages(const std::string& folder) {
  const std::filesystem::path base(folder);
  std::error_code error;
  std::filesystem::create_directories(base, error);
  ProgramOptions options;
  write_file(base / "arrakis.1", man_page(options));
  for (const KnownCommand& command : options.commands()) {
    write_file(base / fmt::format("arrakis-{}.1", command.entry->name), man_page(command));
  }
}

}
