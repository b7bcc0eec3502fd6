#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>

#include "arrakis/error.hpp"

namespace arrakis::cli {
namespace {

/// `parse(text)`, with what it throws turned into a usage error that names the argument.
template <typename Parse>
auto parse_argument(std::string_view argument, Parse&& parse) {
  try {
    return parse();
  } catch (const Error& error) {
    refuse(argument, error.what());
  }
}

template <typename T>
std::optional<T> number(const std::string& text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

}  // namespace

void refuse(std::string_view argument, std::string_view reason) {
  throw UsageError{fmt::format("{}: {}", argument, reason)};
}

OptionAdder& OptionAdder::flag(const char* names, bool& target, const char* help) {
  CLI::Option* option = app_.add_flag(names, target, help);
  if (!group_.empty()) option->group(group_);
  return *this;
}

OptionAdder& OptionAdder::value(const char* names, std::optional<std::string>& target,
                                const char* type, const char* help) {
  CLI::Option* option = app_.add_option(
      names,
      [&target](const CLI::results_t& results) {
        target = results.back();
        return true;
      },
      help);
  option->type_name(type)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  if (!group_.empty()) option->group(group_);
  return *this;
}

OptionAdder& OptionAdder::values(const char* names, std::vector<std::string>& target,
                                 const char* type, const char* help) {
  CLI::Option* option = app_.add_option(names, target, help);
  option->type_name(type)->expected(1)->take_all()->allow_extra_args(false);
  if (!group_.empty()) option->group(group_);
  return *this;
}

OptionAdder& OptionAdder::positional(const char* name, std::optional<std::string>& target,
                                     const char* help) {
  app_.add_option(
          name,
          [&target](const CLI::results_t& results) {
            target = results.back();
            return true;
          },
          help)
      ->type_name("")
      ->expected(1);
  return *this;
}

OptionAdder& OptionAdder::positionals(const char* name, std::vector<std::string>& target, Need need,
                                      const char* help) {
  CLI::Option* option = app_.add_option(name, target, help);
  option->type_name("");
  if (need == Need::required) option->required();
  return *this;
}

OptionAdder& OptionAdder::group(const char* heading) {
  group_ = heading;
  return *this;
}

std::string_view ArgumentReader::variable(const char* name) const {
  const char* text = environment_(name);
  return text == nullptr ? std::string_view() : text;
}

std::optional<GpsTime> ArgumentReader::time(std::string_view argument,
                                            const std::optional<std::string>& text) const {
  if (!text) return std::nullopt;
  const GpsTime time = parse_argument(argument, [&] { return parse_time(*text, now_); });
  if (time < GpsTime()) refuse(argument, fmt::format("'{}' is before the GPS epoch", *text));
  return time;
}

std::optional<Duration> ArgumentReader::span(std::string_view argument,
                                             const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const Duration span = parse_argument(argument, [&] { return parse_duration(*text); });
  if (span <= Duration::zero()) refuse(argument, fmt::format("'{}' is not above zero", *text));
  return span;
}

std::optional<std::int64_t> ArgumentReader::integer(std::string_view argument,
                                                    const std::optional<std::string>& text,
                                                    std::int64_t least, std::int64_t most) {
  if (!text) return std::nullopt;
  const std::optional<std::int64_t> value = number<std::int64_t>(*text);
  if (!value || *value < least || *value > most) {
    refuse(argument, fmt::format("'{}' is not an integer from {} to {}", *text, least, most));
  }
  return value;
}

std::optional<double> ArgumentReader::real(std::string_view argument,
                                           const std::optional<std::string>& text, double least,
                                           double most) {
  if (!text) return std::nullopt;
  const std::optional<double> value = number<double>(*text);
  if (!value || !(*value >= least && *value <= most)) {
    refuse(argument, fmt::format("'{}' is not a number from {} to {}", *text, least, most));
  }
  return value;
}

}
