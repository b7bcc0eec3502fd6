#pragma once

/// What a SeriesBlock holds: a layout that many blocks share, and parts by stream and slot.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/time.hpp"
#include "wire/part.hpp"

namespace arrakis::inline v1 {

/// Which stream and which of its channels each channel of a block is. Made once, shared by every
/// block of a stream of blocks.
class BlockLayout {
 public:
  struct Place {
    std::uint32_t stream = 0;
    std::uint32_t channel = 0;
    bool operator==(const Place&) const = default;
  };

  /// All channels of all streams, in order. Error(precondition) names a channel that two streams
  /// carry.
  explicit BlockLayout(const std::vector<ChannelSet>& streams);
  /// Any channels of `streams` streams; a place a channel.
  BlockLayout(ChannelSet channels, std::vector<Place> places, std::size_t streams);

  [[nodiscard]] const ChannelSet& channels() const { return channels_; }
  [[nodiscard]] Place place(std::size_t channel) const { return places_[channel]; }
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }
  [[nodiscard]] std::size_t stream_count() const { return streams_; }

 private:
  ChannelSet channels_;
  std::vector<Place> places_;
  std::size_t streams_;
};

/// One native slot of one stream in a block.
struct PartSlot {
  GpsTime time;
  Duration duration{};
  BlockPartPtr part;  ///< nullptr: a gap over the whole slot
};

/// Makes the block [time, time + duration) of the slots given by stream, in order of time, covering
/// that span without a break. What of a slot lies outside the span is cut off: a channel keeps the
/// samples whose times lie inside. A part's own time and duration are those of its samples; where
/// it leaves some of the span uncovered, that is a gap. O(streams); nothing is copied or looked at.
SeriesBlock make_block(std::shared_ptr<const BlockLayout> layout, GpsTime time, Duration duration,
                       std::vector<std::vector<PartSlot>> slots);

/// What SeriesBlock points to. Immutable but for what it remembers of itself.
struct BlockData {
  /// A slot and how much of it belongs to the block.
  struct Slot {
    GpsTime from, to;  ///< the samples whose times lie in [from, to)
    GpsTime time;      ///< the slot itself; of a part, the part's own
    Duration duration{};
    BlockPartPtr part;

    [[nodiscard]] bool is_whole() const { return from <= time && time + duration <= to; }
  };

  std::shared_ptr<const BlockLayout> layout;
  GpsTime time;
  Duration duration{};
  std::vector<Slot> slots;              ///< stream after stream, each in order of time
  std::vector<std::size_t> first_slot;  ///< by stream, and one more: the number of slots

  [[nodiscard]] std::span<const Slot> slots_of(std::size_t stream) const {
    return std::span(slots).subspan(first_slot[stream],
                                    first_slot[stream + 1] - first_slot[stream]);
  }
  /// The series of channel `index`, which shares `self`.
  static Series series(const std::shared_ptr<const BlockData>& self, std::size_t index);

  static SeriesBlock block(std::shared_ptr<const BlockData> data);
  static const std::shared_ptr<const BlockData>& of(const SeriesBlock& block);
  /// What keeps the series' memory alive.
  static const std::shared_ptr<const void>& owner_of(const Series& series);
  [[nodiscard]] bool has_gaps() const;
  [[nodiscard]] bool is_all_gap() const;

  enum class Known : std::uint8_t { nothing, no, yes };
  mutable std::atomic<Known> gaps_known{Known::nothing};

 private:
  static Series view(std::shared_ptr<const void> owner, const Channel& channel,
                     const Samples& samples, GpsTime time);
  /// What does not lie in one piece, or lies in a piece that is cut.
  static Series joined(const std::shared_ptr<const BlockData>& self, std::size_t index,
                       std::span<const Slot> slots);
};

}  // namespace arrakis::inline v1
