#pragma once

/// Tells of runs of gap slots in one stream: one warning when a run has lasted, one line when data
/// is back, and next to nothing for short runs.

#include <cstdint>
#include <string_view>

#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

class GapLog {
 public:
  /// A run is warned of when it has lasted this long, and at least kMinPatience.
  explicit GapLog(Duration timeout);
  static constexpr Duration kMinPatience = std::chrono::seconds(1);

  enum class State {
    no_data_yet,    ///< nothing served
    waiting_first,  ///< gaps served, and never data
    flowing,        ///< the last slot had data
    short_gap,      ///< in a run of gaps, not warned of
    long_gap,       ///< in a run of gaps, warned of
  };
  [[nodiscard]] State state() const { return state_; }

  /// The slot was served with data. `name` is the stream's, here and below.
  void data(std::string_view name, GpsTime slot) {
    if (state_ != State::flowing) resume(name, slot);
  }
  /// The slots from `first` to the one that begins at `last` were served, or skipped, as gaps.
  void gap(std::string_view name, GpsTime first, GpsTime last);

 private:
  void resume(std::string_view name, GpsTime slot);

  Duration patience_;
  State state_ = State::no_data_yet;
  GpsTime run_start_;
};

}  // namespace arrakis::inline v1
