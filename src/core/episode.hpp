#pragma once

/// A fault that comes in runs: the first time is said at once, further times are counted and summed
/// up every 30 s, and the end is said once.

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

/// Between two summaries of a fault that goes on.
constexpr Duration kEpisodeSummaryInterval = std::chrono::seconds(30);

/// Two states: quiet, and running since a first occurrence. Not safe from several threads at once.
class Episode {
 public:
  /// Counts an occurrence at `monotonic`. The number since the last report when it is time for one,
  /// else nothing.
  std::optional<std::uint64_t> occurred(Duration monotonic) {
    ++unreported_;
    ++total_;
    if (running_ && monotonic - reported_at_ < kEpisodeSummaryInterval) return std::nullopt;
    running_ = true;
    reported_at_ = monotonic;
    return std::exchange(unreported_, 0);
  }

  struct Ended {
    std::uint64_t total;       ///< occurrences of the episode
    std::uint64_t unreported;  ///< of those, not in any report yet
  };
  /// Ends the episode; nothing when none was running.
  std::optional<Ended> ended() {
    if (!running_) return std::nullopt;
    running_ = false;
    return Ended{std::exchange(total_, 0), std::exchange(unreported_, 0)};
  }

  [[nodiscard]] bool running() const { return running_; }

 private:
  bool running_ = false;
  Duration reported_at_{};
  std::uint64_t unreported_ = 0;
  std::uint64_t total_ = 0;
};

}
