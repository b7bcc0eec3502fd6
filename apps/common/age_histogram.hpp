#pragma once

/// How old blocks were when they arrived.

#include <array>
#include <cstddef>
#include <cstdint>

#include "arrakis/time.hpp"

namespace arrakis::console {

/// Percentiles of any number of ages in a fixed amount of memory, to within 2 %.
/// Not safe from several threads at once.
class AgeHistogram {
 public:
  void add(Duration age);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// The age that the fraction `p` (0 to 1) of all is not above; zero when there are none.
  [[nodiscard]] Duration percentile(double p) const;

 private:
  static constexpr std::size_t kBuckets = 1024;
  std::array<std::uint64_t, kBuckets> buckets_{};
  std::uint64_t count_ = 0;
};

}
