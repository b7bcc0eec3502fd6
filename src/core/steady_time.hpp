#pragma once

/// GPS time that survives somebody setting the machine's clock.
///
/// A deadline that follows a clock which is set an hour ahead gives up an hour of data that is
/// still to come; one that follows a clock set back waits an hour too long. Whether the old or the
/// new time is the true one, the clock can't tell, but the data can: it comes from other machines.

#include <optional>

#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

/// Follows the wall clock while it agrees with the monotonic one. After a step it goes on with the
/// old time for as long as data that is of now by the old time, and not by the new one, keeps
/// coming; it takes the new time as soon as data is of now by that one only, or when for kPatience
/// nothing speaks for the old one. Not safe from several threads at once.
class SteadyTime {
 public:
  /// What counts as a step; less is followed without a word, as are a time server's corrections.
  static constexpr Duration kStep = std::chrono::seconds(1);
  /// How long nothing may speak for the old time before the new one is taken.
  static constexpr Duration kPatience = std::chrono::seconds(10);

  /// `clock` must outlive this.
  explicit SteadyTime(const Clock& clock);

  GpsTime now();
  /// Data of time `t` came from a stream whose data is of now when no older than `window`.
  /// Whether that has made now() another one.
  bool saw(GpsTime t, Duration window);

 private:
  /// A step that is not followed yet.
  struct Step {
    Duration offset;       // of the clock after the step
    Duration denied_at{};  // monotonic time of the latest sign that the old time is right
  };
  void take(Duration offset);

  const Clock* clock_;
  Duration offset_;  // GPS time less monotonic time
  std::optional<Step> step_;
};

}
