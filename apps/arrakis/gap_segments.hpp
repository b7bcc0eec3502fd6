#pragma once

/// What is missing in a sequence of blocks, as lists of segments.
///
/// A sample that is a gap is missing from its own time to the next one's; time between two blocks
/// is missing in every channel. Segments that touch are one. Memory grows with the number of
/// segments. Not safe from several threads at once.

#include <cstddef>
#include <optional>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/time.hpp"

namespace arrakis::cli {

/// [start, end)
struct Segment {
  GpsTime start, end;
  bool operator==(const Segment&) const = default;
};
using SegmentList = std::vector<Segment>;

class GapSegments {
 public:
  /// `start`: from when data was wanted; none: from the first block on.
  explicit GapSegments(ChannelSet channels, std::optional<GpsTime> start = {});

  /// Blocks come in order of time. Channels of ours that a block does not have are missing in it,
  /// others are passed over.
  void add(const SeriesBlock& block);
  /// Data was wanted up to `end`: what has not come until then is missing.
  void finish(GpsTime end);

  [[nodiscard]] const ChannelSet& channels() const { return channels_; }
  /// Of channels()[index]; in order, none touching the next.
  [[nodiscard]] const SegmentList& of(std::size_t index) const { return segments_[index]; }
  /// When at least one channel is missing.
  [[nodiscard]] SegmentList any() const;
  /// When every channel is missing.
  [[nodiscard]] SegmentList every() const;
  [[nodiscard]] bool empty() const;

 private:
  void add_time_until(GpsTime time);
  void add_samples(std::size_t channel, const Series& series, GpsTime block_end);
  void add_segment(std::size_t channel, Segment segment);
  [[nodiscard]] SegmentList where_missing(std::size_t least) const;

  ChannelSet channels_;
  std::optional<GpsTime> known_until_;
  std::vector<SegmentList> segments_;
};

/// Total length of a list.
Duration total(const SegmentList& segments);

}
