#include "wire/synthetic_blocks.hpp"

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wire/row_encoder.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr GpsTime kStart = GpsTime::from_seconds(std::int64_t{1'400'000'000});

}  // namespace

ChannelSet synthetic_channels(std::size_t count, std::size_t samples) {
  constexpr std::size_t kBlocksPerSecond = 16;
  std::vector<Channel> channels;
  channels.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    Channel& channel =
        channels.emplace_back("X1:BEN-" + std::to_string(i), DataType::float32,
                              SampleRate(static_cast<std::int64_t>(samples * kBlocksPerSecond)));
    channel.publisher = "BEN";
    channel.partition_id = "P";
    channel.partition_index = static_cast<std::uint32_t>(i);
    channel.stride = kSyntheticStride;
    channel.max_latency = std::chrono::seconds(1);
  }
  return ChannelSet(std::move(channels));
}

SeriesBlock synthetic_block(const ChannelSet& channels, std::int64_t number) {
  BlockBuilder builder(kStart + number * kSyntheticStride, channels);
  auto next = static_cast<float>(number);
  for (const Channel& channel : channels) {
    std::vector<float> samples(channel.sample_rate().samples_in(kSyntheticStride));
    for (float& sample : samples) sample = (next += 0.5F);
    builder.set(channel.name(), samples);
  }
  return builder.build();
}

ReceivedBytes synthetic_message(const ChannelSet& channels, std::int64_t number) {
  std::vector<EncodedMessage> messages = encode_messages(synthetic_block(channels, number));
  const auto bytes = std::make_shared<const std::string>(std::move(messages.front().bytes));
  return {std::as_bytes(std::span(*bytes)), bytes};
}

}  // namespace arrakis::inline v1
