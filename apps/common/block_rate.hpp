#pragma once

/// How many blocks a second arrive.

#include <cstddef>
#include <deque>

#include "arrakis/time.hpp"

namespace arrakis::console {

/// The rate over the last few seconds. Times are of a clock that never jumps; not safe from several
/// threads at once.
class BlockRate {
 public:
  void count(Duration now);
  /// Blocks a second; zero until two have come.
  [[nodiscard]] double per_second() const;

 private:
  std::deque<Duration> arrivals_;
};

}
