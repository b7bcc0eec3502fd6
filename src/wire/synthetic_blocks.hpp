#pragma once

/// Channels, blocks and messages of made-up samples, for the micro-benchmarks.

#include <cstddef>
#include <cstdint>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/time.hpp"
#include "wire/row_decoder.hpp"

namespace arrakis::inline v1 {

/// Length of every synthetic block.
constexpr Duration kSyntheticStride{62'500'000};

/// `count` float32 channels of one partition with `samples` samples a block; indexes 0 …
ChannelSet synthetic_channels(std::size_t count, std::size_t samples);
/// Block number `number` of those channels or some of them, its samples unlike those of its
/// neighbours.
SeriesBlock synthetic_block(const ChannelSet& channels, std::int64_t number);
/// The message of that block, which must be of one partition. The bytes keep themselves alive.
ReceivedBytes synthetic_message(const ChannelSet& channels, std::int64_t number);

}  // namespace arrakis::inline v1
