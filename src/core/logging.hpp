#pragma once

/// How the library writes a log line. Formatting happens only when somebody listens at that level.

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "arrakis/log.hpp"

namespace arrakis::inline v1::log {

/// Whether a line of this level would go anywhere; one atomic load.
[[nodiscard]] bool enabled(LogLevel level);
/// Hands a finished line to the sink.
void write(LogLevel level, std::string_view component, std::string_view message);

template <typename... Args>
void line(LogLevel level, std::string_view component, fmt::format_string<Args...> format,
          Args&&... args) {
  if (enabled(level)) write(level, component, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void debug(std::string_view component, fmt::format_string<Args...> format, Args&&... args) {
  line(LogLevel::debug, component, format, std::forward<Args>(args)...);
}
template <typename... Args>
void info(std::string_view component, fmt::format_string<Args...> format, Args&&... args) {
  line(LogLevel::info, component, format, std::forward<Args>(args)...);
}
template <typename... Args>
void warning(std::string_view component, fmt::format_string<Args...> format, Args&&... args) {
  line(LogLevel::warning, component, format, std::forward<Args>(args)...);
}
template <typename... Args>
void error(std::string_view component, fmt::format_string<Args...> format, Args&&... args) {
  line(LogLevel::error, component, format, std::forward<Args>(args)...);
}

}  // namespace arrakis::inline v1::log
