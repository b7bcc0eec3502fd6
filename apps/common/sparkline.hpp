#pragma once

/// A channel's recent past in one line of text.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/time.hpp"

namespace arrakis::console {

/// One bar (▁ to █) a value, scaled so that the least and the greatest value of all fill the
/// height; all bars are half high when all values are equal. NaN is shown as "·".
std::string sparkline(std::span<const double> values);

/// Keeps the last seconds of a channel, in steps of equal length on the grid of GPS time.
///
/// Costs a look at every sample once and a fixed amount of memory. Not safe from several threads
/// at once.
class SampleHistory {
 public:
  /// `step` > 0.
  SampleHistory(Duration step, std::size_t steps);

  [[nodiscard]] Duration step() const { return step_; }
  /// Counts the series into the step that holds its first sample. Steps in between are gaps;
  /// a series older than the newest step is ignored.
  void add(const Series& series);
  /// The last `width` steps, the newest at the right; "·" is a gap, and blank what was before the
  /// first. A step is drawn by the mean of its samples, or, where the channel swings more within
  /// steps than from step to step, by how far it swings: so both a slow channel's course and a fast
  /// one's bursts are seen.
  [[nodiscard]] std::string draw(std::size_t width) const;

 private:
  /// What is remembered of a step: of its finite samples.
  struct Step {
    double least = std::numeric_limits<double>::infinity();
    double greatest = -std::numeric_limits<double>::infinity();
    double sum = 0;
    std::uint64_t count = 0;
  };
  [[nodiscard]] const Step& step_at(std::int64_t number) const;
  Step& step_at(std::int64_t number);

  Duration step_;
  std::vector<Step> ring_;  // the step with number n is at n modulo the size
  std::int64_t newest_ = 0;
  std::size_t known_ = 0;  // steps since the first, at most the ring's size
};

}
