#pragma once

/// Log lines of programs: "2026-11-30 03:38:07,470 INFO text", on standard error.

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "arrakis/log.hpp"
#include "common/screen.hpp"

namespace arrakis::console {

/// From which level lines are written; `least` is empty for "none at all".
struct LogThreshold {
  std::optional<LogLevel> least = LogLevel::info;
};

/// Reads a level as the environment variable ARRAKIS_LOG_LEVEL holds it: a name in any case
/// ("debug", "INFO", "warning", "error", "critical") or a number (10, 20, 30, 40, 50; a number
/// between stands for the next level above). Nothing when it is neither.
std::optional<LogThreshold> parse_log_threshold(std::string_view text);

/// "2026-11-30 03:38:07,470 INFO text", in local time; control characters in `message` replaced.
std::string log_line(LogLevel level, std::string_view message);

/// Takes the library's log lines while it exists. Safe from any thread.
class ProgramLog {
 public:
  explicit ProgramLog(LogThreshold threshold);
  ~ProgramLog();
  ProgramLog(const ProgramLog&) = delete;
  ProgramLog& operator=(const ProgramLog&) = delete;

  void write(LogLevel level, std::string_view message);
  /// From now, lines go above what `screen` shows, so that they don't tear it; nullptr: no more.
  /// Only of use when standard error is the same terminal.
  void set_screen(Screen* screen);

 private:
  LogThreshold threshold_;
  std::mutex mutex_;
  Screen* screen_ = nullptr;
};

}
