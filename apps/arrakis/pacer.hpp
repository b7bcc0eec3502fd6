#pragma once

/// When a program that publishes sends its next block.

#include <condition_variable>
#include <mutex>
#include <optional>

#include "arrakis/time.hpp"

namespace arrakis::cli {

/// Lets blocks pass one after the other as fast as their times do, or faster or slower by a factor.
/// One thread waits; stop() may be called from any.
class Pacer {
 public:
  /// `rate` 1: as time passes; 10: ten times as fast; 0: without waiting.
  explicit Pacer(double rate, const Clock& clock = system_clock()) : rate_(rate), clock_(clock) {}

  /// Waits until the block [begin, end) is due: its first sample is "now" when the first block of
  /// all is let in, but not before that block's time has come. False: stopped meanwhile.
  bool wait(GpsTime begin, GpsTime end);
  /// How long wait() would wait now; zero or less: not at all.
  Duration left(GpsTime begin, GpsTime end);
  void stop();
  [[nodiscard]] bool stopped() const;

 private:
  [[nodiscard]] Duration scaled(Duration span) const;

  double rate_;
  const Clock& clock_;
  std::optional<GpsTime> first_;  // time of the first block, and when it was let in
  GpsTime began_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
};

}
