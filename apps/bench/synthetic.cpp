#include "bench/synthetic.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "arrakis/error.hpp"

namespace arrakis::bench {

ChannelSet make_channels(const Shape& shape, const std::string& prefix) {
  if (shape.rate <= 0 || shape.rate % 16 != 0) {
    throw Error(Errc::invalid_argument,
                fmt::format("a rate of {} Hz: no positive multiple of 16", shape.rate));
  }
  std::vector<Channel> channels;
  channels.reserve(shape.partitions * shape.channels);
  for (std::size_t p = 0; p < shape.partitions; ++p) {
    for (std::size_t c = 0; c < shape.channels; ++c) {
      Channel& channel = channels.emplace_back(fmt::format("X1:BEN-{}{}_{}", prefix, p, c),
                                               shape.type, SampleRate(shape.rate));
      channel.publisher = "BEN";
      channel.partition_id = fmt::format("{}{}", prefix, p);
      channel.partition_index = static_cast<std::uint32_t>(c);
      channel.stride = kStride;
      channel.max_latency = std::chrono::seconds(1);
    }
  }
  return ChannelSet(std::move(channels));
}

SeriesBlock make_samples(const ChannelSet& channels, GpsTime time, std::uint64_t seed) {
  BlockBuilder builder(time, channels);
  std::uint64_t next = seed * 1000;
  for (const Channel& channel : channels) {
    const std::size_t size = channel.sample_rate().samples_in(kStride);
    visit_type(channel.data_type(), [&]<typename T>(T) {
      std::vector<T> samples(size);
      for (T& sample : samples) sample = static_cast<T>(next++ % 100'003);
      builder.set<T>(channel.name(), samples);
    });
  }
  return builder.build();
}

}
