#pragma once

/// Channels and blocks of made-up samples, for what needs data and no matter which.

#include <cstddef>
#include <cstdint>
#include <string>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/time.hpp"

namespace arrakis::bench {

/// Length of a block of every synthetic channel.
constexpr Duration kStride{62'500'000};

struct Shape {
  std::size_t partitions = 1;
  std::size_t channels = 1000;  ///< a partition
  int rate = 16;                ///< Hz; a multiple of 16
  DataType type = DataType::float32;

  [[nodiscard]] std::size_t samples() const { return static_cast<std::size_t>(rate) / 16; }
};

/// "X1:BEN-<prefix><partition>_<channel>" in partition "<prefix><partition>", partition after
/// partition. Throws Error(invalid_argument) for a rate that is no multiple of 16.
ChannelSet make_channels(const Shape& shape, const std::string& prefix);
/// Every sample of every channel another one, and different for another `seed`.
SeriesBlock make_samples(const ChannelSet& channels, GpsTime time, std::uint64_t seed);

}
