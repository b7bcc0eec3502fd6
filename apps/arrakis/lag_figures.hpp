#pragma once

/// How far behind each partition is: what `arrakis lag` shows.
///
/// A block's lag is how long after its last sample was taken it arrived. A block that is all gaps
/// never arrived: it counts as missing and says nothing of lag.
/// Memory is fixed. Not safe from several threads at once.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/time.hpp"
#include "common/age_histogram.hpp"
#include "common/block_rate.hpp"

namespace arrakis::cli {

struct LagFigures {
  std::string partition;
  std::uint64_t blocks = 0;          ///< that arrived
  std::uint64_t missing_blocks = 0;  ///< that were all gaps
  std::uint64_t samples = 0;         ///< of all blocks, gaps included
  std::uint64_t gap_samples = 0;
  double blocks_per_second = 0;   ///< over the last few seconds
  std::optional<Duration> age;    ///< since the newest block that arrived ended; grows in silence
  std::optional<Duration> lag;    ///< of that block
  std::optional<Duration> worst;  ///< the greatest lag of all
  /// Not above these are half, 90 % and 99 % of all lags, to within 2 %.
  std::optional<Duration> p50, p90, p99;

  /// Share of the samples that are gaps.
  [[nodiscard]] double gap_share() const {
    return samples == 0 ? 0 : static_cast<double>(gap_samples) / static_cast<double>(samples);
  }
};

class LagTable {
 public:
  explicit LagTable(std::vector<std::string> partitions);

  /// A block of partition `index` has arrived. `now` is the time that it is, `monotonic` that of a
  /// clock that never jumps.
  void add(std::size_t index, const SeriesBlock& block, GpsTime now, Duration monotonic);

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] LagFigures figures(std::size_t index, GpsTime now) const;
  /// All of them, in the order given at first.
  [[nodiscard]] std::vector<LagFigures> figures(GpsTime now) const;

 private:
  struct Row {
    LagFigures counted;
    std::optional<GpsTime> newest_end;
    console::AgeHistogram lags;
    console::BlockRate rate;
  };
  std::vector<Row> rows_;
};

}
