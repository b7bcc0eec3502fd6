#include "vectors/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "arrakis/block.hpp"
#include "vectors/vector_json.hpp"
#include "wire/row_encoder.hpp"

namespace arrakis::vectors {
namespace {

/// A channel that the vector doesn't describe: only its id and the number of its samples are known.
Channel undescribed_channel(const Channel& neighbour, std::uint32_t id, std::size_t samples) {
  const double stride_ns = static_cast<double>(neighbour.stride.value_or(Duration(0)).count());
  Channel channel(fmt::format("X1:ROW-{}", id), neighbour.data_type(),
                  SampleRate(static_cast<double>(samples) * 1e9 / stride_ns));
  channel.partition_id = neighbour.partition_id;
  channel.replay_id = neighbour.replay_id;
  channel.partition_index = id;
  channel.stride = neighbour.stride;
  return channel;
}

Channel channel_of_row(const Json& row, const ChannelSet& channels) {
  const std::int64_t id = integer_at(row, "id");
  const auto found = std::ranges::find_if(channels, [&](const Channel& channel) {
    return channel.partition_index && *channel.partition_index == id;
  });
  if (found != channels.end()) return *found;
  if (!std::in_range<std::uint32_t>(id) || channels.empty()) {
    throw std::runtime_error("malformed: a row's id out of range");
  }
  return undescribed_channel(channels[0], static_cast<std::uint32_t>(id), row.at("values").size());
}

}  // namespace

std::string encode_rows(const Json& rows, const ChannelSet& channels, GpsTime time) {
  std::vector<Channel> row_channels;
  for (const Json& row : rows) row_channels.push_back(channel_of_row(row, channels));
  BlockBuilder builder(time, ChannelSet(row_channels));
  for (std::size_t i = 0; i < row_channels.size(); ++i) {
    set_samples(builder, row_channels[i], rows[i].at("values"));
  }
  std::vector<EncodedMessage> messages = encode_messages(builder.build());
  if (messages.size() != 1) throw std::runtime_error("malformed: not the rows of one message");
  return std::move(messages.front().bytes);
}

DecodeResult decode_bytes(RowDecoder& decoder, std::string bytes) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return decoder.decode({std::as_bytes(std::span(*owner)), owner});
}

BlockPartPtr decode_message(RowDecoder& decoder, std::string bytes) {
  const DecodeResult result = decode_bytes(decoder, std::move(bytes));
  if (result.status == DecodeResult::Status::bad) {
    throw std::runtime_error(fmt::format("refused: {}", result.reason));
  }
  return result.part;
}

}  // namespace arrakis::vectors
