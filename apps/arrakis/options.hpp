#pragma once

/// How commands say which options they have, without knowing CLI11. --help, the man pages and the
/// completions are all made from what is said here.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arrakis/time.hpp"

namespace CLI {
class App;
}

namespace arrakis::cli {

/// Thrown for a command line that can't be used.
struct UsageError {
  std::string message;  ///< one line that names the argument
};

[[noreturn]] void refuse(std::string_view argument, std::string_view reason);

/// Adds options to one command. `names` is as CLI11 takes it ("-e,--endpoints"), `type` what
/// --help calls the value. What is added writes into its target while the command line is parsed;
/// the target must live until then.
class OptionAdder {
 public:
  explicit OptionAdder(CLI::App& app) : app_(app) {}

  OptionAdder& flag(const char* names, bool& target, const char* help);
  /// Given more than once, the last counts.
  OptionAdder& value(const char* names, std::optional<std::string>& target, const char* type,
                     const char* help);
  /// May be given several times.
  OptionAdder& values(const char* names, std::vector<std::string>& target, const char* type,
                      const char* help);
  enum class Need { required, optional };
  OptionAdder& positional(const char* name, std::optional<std::string>& target, const char* help);
  OptionAdder& positionals(const char* name, std::vector<std::string>& target, Need need,
                           const char* help);
  /// Options after this one stand under this heading in --help.
  OptionAdder& group(const char* heading);

 private:
  CLI::App& app_;
  std::string group_;
};

/// Looks up a variable of the environment; nullptr when it is not set.
using Environment = std::function<const char*(const char* name)>;

/// Converts texts of options. Every function throws UsageError that names the argument.
class ArgumentReader {
 public:
  ArgumentReader(const Environment& environment, GpsTime now)
      : environment_(environment), now_(now) {}

  [[nodiscard]] GpsTime now() const { return now_; }
  /// The variable's text; empty when it isn't set.
  [[nodiscard]] std::string_view variable(const char* name) const;

  /// An instant, not before the GPS epoch.
  [[nodiscard]] std::optional<GpsTime> time(std::string_view argument,
                                            const std::optional<std::string>& text) const;
  /// A span above zero.
  static std::optional<Duration> span(std::string_view argument,
                                      const std::optional<std::string>& text);
  static std::optional<std::int64_t> integer(std::string_view argument,
                                             const std::optional<std::string>& text,
                                             std::int64_t least, std::int64_t most);
  static std::optional<double> real(std::string_view argument,
                                    const std::optional<std::string>& text, double least,
                                    double most);

 private:
  const Environment& environment_;
  GpsTime now_;
};

}
