#pragma once

/// For tests: holds the log lines written while it lives.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrakis/log.hpp"

namespace arrakis::inline v1 {

class CapturedLog {
 public:
  CapturedLog() {
    set_log_sink([this](LogLevel level, std::string_view,
                        std::string_view message) { lines_.emplace_back(level, message); },
                 LogLevel::debug);
  }
  ~CapturedLog() { set_log_sink({}); }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  /// The lines of exactly this level since the last call for it.
  std::vector<std::string> take(LogLevel level) {
    std::vector<std::string> taken;
    std::vector<std::pair<LogLevel, std::string>> kept;
    for (auto& line : lines_) {
      if (line.first == level) {
        taken.push_back(std::move(line.second));
      } else {
        kept.push_back(std::move(line));
      }
    }
    lines_ = std::move(kept);
    return taken;
  }

 private:
  std::vector<std::pair<LogLevel, std::string>> lines_;
};

}  // namespace arrakis::inline v1
