#pragma once

#include <atomic>

#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

/// A clock that stands still until it is set: for tests of everything with a deadline. Safe from
/// any thread.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(GpsTime now = {}, Duration monotonic = {})
      : now_ns_(now.ns()), monotonic_(monotonic) {}

  [[nodiscard]] GpsTime now() const override { return GpsTime::from_ns(now_ns_.load()); }
  [[nodiscard]] Duration monotonic() const override { return monotonic_.load(); }

  void set_now(GpsTime now) { now_ns_.store(now.ns()); }
  void set_monotonic(Duration monotonic) { monotonic_.store(monotonic); }
  /// Both clocks go on by `step`. One thread at a time.
  void advance(Duration step) {
    set_now(now() + step);
    set_monotonic(monotonic() + step);
  }

 private:
  std::atomic<std::int64_t> now_ns_;
  std::atomic<Duration> monotonic_;
};

}  // namespace arrakis::inline v1
