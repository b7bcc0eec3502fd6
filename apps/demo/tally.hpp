#pragma once

/// What the demo has received, and whether anything was lost on the way.

#include <cstdint>
#include <string>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/time.hpp"
#include "common/age_histogram.hpp"
#include "demo/detector.hpp"

namespace arrakis::demo {

/// Not safe from several threads at once.
class Tally {
 public:
  /// `detector` must outlive it.
  explicit Tally(const Detector& detector) : detector_(detector) {}

  /// `age` is now minus the block's end: how long ago its last sample was taken.
  void add(const SeriesBlock& block, Duration age);

  [[nodiscard]] std::uint64_t blocks() const { return blocks_; }
  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  [[nodiscard]] std::uint64_t blocks_with_gaps() const { return blocks_with_gaps_; }
  /// Samples that the detector never took, as was to be.
  [[nodiscard]] std::uint64_t silent_samples() const { return silent_samples_; }
  /// Samples that were taken and did not arrive.
  [[nodiscard]] std::uint64_t lost_samples() const { return lost_samples_; }
  [[nodiscard]] Duration span() const { return span_; }
  [[nodiscard]] const console::AgeHistogram& ages() const { return ages_; }

  /// A few lines for people, each at most 80 characters.
  [[nodiscard]] std::vector<std::string> summary() const;

 private:
  const Detector& detector_;
  console::AgeHistogram ages_;
  Duration span_{};
  std::uint64_t blocks_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t blocks_with_gaps_ = 0;
  std::uint64_t silent_samples_ = 0;
  std::uint64_t lost_samples_ = 0;
  std::size_t channels_ = 0;
};

/// An age as the demo shows it: "3.2 ms", "0.8 ms", "1.25 s".
std::string age_text(Duration age);

}
