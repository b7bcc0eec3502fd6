#pragma once

/// BlockPart: one decoded message of one stream, the unit that travels from a Source through the
/// multiplexer into a SeriesBlock.

#include <cstddef>
#include <cstdint>

#include "arrakis/fwd.hpp"
#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

/// One channel's samples in a part. A view: valid as long as the part.
struct Samples {
  const std::byte* values = nullptr;       ///< aligned for the channel's type
  std::size_t size = 0;                    ///< samples
  const std::uint8_t* validity = nullptr;  ///< Arrow bitmap, 1 = sample; nullptr: no gaps
  std::size_t validity_offset = 0;         ///< bit of sample 0
  std::size_t gap_count = 0;
  bool present = false;  ///< false: the message has no (usable) row of this channel
};

/// Immutable and safe from any thread. Channels are numbered as in their stream's ChannelSet.
class BlockPart {
 public:
  BlockPart(GpsTime time, Duration duration, std::size_t bytes = 0)
      : time_(time), duration_(duration), bytes_(bytes) {}
  virtual ~BlockPart() = default;
  BlockPart(const BlockPart&) = delete;
  BlockPart& operator=(const BlockPart&) = delete;

  [[nodiscard]] GpsTime time() const { return time_; }
  /// As its rows say; the multiplexer compares it with the stream's stride.
  [[nodiscard]] Duration duration() const { return duration_; }
  /// What it counts for where the bytes held are limited; zero for a part of a block.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// The samples of a channel. The first call that finds the message's memory misaligned copies
  /// the message's values once, for all channels.
  [[nodiscard]] virtual Samples samples(std::size_t channel) const = 0;
  /// Whether any present channel has a gap, or any channel is absent.
  [[nodiscard]] virtual bool has_gaps() const = 0;

 private:
  GpsTime time_;
  Duration duration_;
  std::size_t bytes_;
};

}  // namespace arrakis::inline v1
