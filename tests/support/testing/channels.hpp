#pragma once

/// Channels and blocks for tests.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/time.hpp"

namespace arrakis::testing {

inline constexpr Duration kStride = std::chrono::microseconds(62500);
inline constexpr Duration kLatency = std::chrono::seconds(1);

/// A channel as a server describes it: sixteen blocks a second, one second of latency.
inline Channel make_channel(const std::string& name, const std::string& partition,
                            std::uint32_t index, DataType type = DataType::float32, int rate = 64) {
  Channel channel(name, type, SampleRate(rate));
  channel.publisher = "PUB";
  channel.partition_id = partition;
  channel.partition_index = index;
  channel.stride = kStride;
  channel.max_latency = kLatency;
  return channel;
}

/// `count` float32 channels of 64 Hz in one partition: X1:<partition>-0, …
inline std::vector<Channel> make_partition(const std::string& partition, std::uint32_t count) {
  std::vector<Channel> channels;
  for (std::uint32_t i = 0; i < count; ++i) {
    channels.push_back(make_channel("X1:" + partition + "-" + std::to_string(i), partition, i));
  }
  return channels;
}

inline ChannelSet join(std::vector<Channel> a, const std::vector<Channel>& b = {},
                       const std::vector<Channel>& c = {}) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  return ChannelSet(std::move(a));
}

/// A block in which sample i of channel c is `seed + 1000 * c + i`.
inline SeriesBlock make_block(GpsTime time, const ChannelSet& channels, int seed) {
  BlockBuilder builder(time, channels);
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const Channel& channel = channels[c];
    visit_type(channel.data_type(), [&](auto zero) {
      using T = decltype(zero);
      std::vector<T> samples(channel.sample_rate().samples_in(*channel.stride));
      for (std::size_t i = 0; i < samples.size(); ++i) {
        samples[i] = static_cast<T>(seed + 1000 * static_cast<int>(c) + static_cast<int>(i));
      }
      builder.set<T>(channel.name(), samples);
    });
  }
  return builder.build();
}

/// The start of the stride that `t` lies in.
inline GpsTime on_grid(GpsTime t) { return t.floor_to(kStride); }

}
