#pragma once

/// Holds the log lines that any thread writes while it lives.

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrakis/log.hpp"

namespace arrakis::testing {

class LogLines {
 public:
  explicit LogLines(LogLevel least = LogLevel::info) {
    set_log_sink(
        [this](LogLevel level, std::string_view, std::string_view message) {
          const std::unique_lock lock(mutex_);
          lines_.emplace_back(level, message);
        },
        least);
  }
  ~LogLines() { set_log_sink({}); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  /// The lines of exactly this level so far that hold all of the words.
  [[nodiscard]] std::vector<std::string> of(LogLevel level,
                                            const std::vector<std::string>& words = {}) const {
    const std::unique_lock lock(mutex_);
    std::vector<std::string> found;
    for (const auto& [its_level, line] : lines_) {
      const std::string& text = line;
      if (its_level == level &&
          std::all_of(words.begin(), words.end(), [&](const std::string& word) {
            return text.find(word) != std::string::npos;
          })) {
        found.push_back(text);
      }
    }
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<LogLevel, std::string>> lines_;
};

}
