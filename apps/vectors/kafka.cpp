#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/arrow.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/error.hpp"
#include "vectors/arrow_json.hpp"
#include "vectors/compare.hpp"
#include "vectors/handlers.hpp"
#include "vectors/messages.hpp"
#include "vectors/vector_json.hpp"
#include "wire/block_data.hpp"
#include "wire/row_decoder.hpp"

namespace arrakis::vectors {
namespace {

/// Stands for whatever error class the vector names: any error is as good.
constexpr const char* kAnyError = "error";

/// One vector: a message and what a reader of `channels` makes of it.
struct Message {
  const Json& content;
  ChannelSet channels;
  std::string bytes;
};

Message read_message(const VectorFile& file) {
  return {file.content, channels_of(file.content.at("requested_channels")),
          read_bytes(file.folder / string_at(file.content, "file"))};
}

/// The stated blocks, error classes made equal; without those of unusable batches when `usable`.
Json stated_blocks(const Json& content, bool usable) {
  Json blocks = Json::array();
  for (const Json& block : content.at("blocks")) {
    if (block.is_null() && usable) continue;
    blocks.push_back(expects_failure(block) ? raises(kAnyError) : block);
  }
  return blocks;
}

std::vector<BlockPartPtr> parts_of(const DecodeResult& result) {
  std::vector<BlockPartPtr> parts;
  if (result.part != nullptr) parts.push_back(result.part);
  parts.insert(parts.end(), result.more.begin(), result.more.end());
  return parts;
}

const char* status_name(DecodeResult::Status status) {
  switch (status) {
    case DecodeResult::Status::decoded:
      return "decoded";
    case DecodeResult::Status::no_rows:
      return "no rows";
    case DecodeResult::Status::bad:
      break;
  }
  return "bad";
}

std::string decoder_difference(const Message& message) {
  RowDecoder decoder(message.channels);
  const DecodeResult result = decode_bytes(decoder, message.bytes);
  const bool is_bad = !message.content.at("decode_error").is_null();
  const Json blocks = stated_blocks(message.content, /*usable=*/true);
  const char* status = is_bad ? "bad" : blocks.empty() ? "no rows" : "decoded";

  Json parts = Json::array();
  for (const BlockPartPtr& part : parts_of(result)) {
    parts.push_back(part_json(part, message.channels));
  }
  return difference({{"status", status}, {"blocks", blocks}},
                    {{"status", status_name(result.status)}, {"blocks", std::move(parts)}});
}

Json block_of_batch(const std::shared_ptr<arrow::RecordBatch>& batch, const ChannelSet& channels,
                    const Json& stated) {
  try {
    const SeriesBlock block = from_row_batch(batch, channels);
    if (block.empty()) return {};
    Json json = block_json(block);
    drop_absent_channels(json, stated);
    return json;
  } catch (const Error&) {
    return raises(kAnyError);
  }
}

std::string batch_difference(const Message& message) {
  if (!message.content.at("decode_error").is_null()) return {};
  const Json stated = stated_blocks(message.content, /*usable=*/false);
  const IpcStream stream = read_ipc(message.bytes);
  Json blocks = Json::array();
  for (std::size_t i = 0; i < stream.batches.size(); ++i) {
    const Json expected = i < stated.size() ? stated[i] : Json();
    blocks.push_back(block_of_batch(stream.batches[i], message.channels, expected));
  }
  return difference({{"blocks", stated}}, {{"blocks", std::move(blocks)}});
}

/// The rows of a message that a publisher sent must give the same bytes again.
std::string encoder_difference(const Message& message) {
  if (!bool_at(message.content, "reference_publisher_output")) return {};
  const Json& rows = message.content.at("batches").at(0).at("rows");
  const std::string bytes = encode_rows(rows, message.channels, time_at(rows.at(0), "time"));
  if (bytes == message.bytes) return {};
  return fmt::format("{} bytes differ from the file's {}", bytes.size(), message.bytes.size());
}

std::string topic_difference(const Message& message) {
  if (message.channels.empty()) return {};
  return difference(message.content.at("topic"), topic_of(message.channels[0]));
}

bool is_wanted(const Json& id, const ChannelSet& channels) {
  return std::ranges::any_of(channels, [&](const Channel& channel) {
    return channel.partition_index && integer_of(id) == *channel.partition_index;
  });
}

/// What is right where the vector's reader gives up: of the rows of an id the last counts, and a
/// channel without a row of the right length is a gap.
struct RightBlock {
  Json block;
  std::size_t dropped_rows = 0;
};

const Json* last_row_of(const Json& rows, std::uint32_t id) {
  const Json* last = nullptr;
  for (const Json& row : rows) {
    if (integer_at(row, "id") == id) last = &row;
  }
  return last;
}

RightBlock right_block(const Json& rows, const ChannelSet& channels) {
  RightBlock right;
  const Duration stride = channels[0].stride.value_or(Duration::zero());
  right.block = {{"time_ns", rows.at(0).at("time")}, {"duration_ns", stride.count()}};
  for (const Channel& channel : channels) {
    const std::size_t size = channel.sample_rate().samples_in(stride);
    const Json* row = last_row_of(rows, channel.partition_index.value_or(0));
    const Json samples = row == nullptr ? Json() : row->at("values");
    const bool is_right = samples.is_array() && samples.size() == size;
    if (samples.is_array() && !is_right) ++right.dropped_rows;
    right.block["data"][channel.name()] = is_right ? samples : Json(Json::array_t(size));
  }
  return right;
}

std::string decoder_error(const Message& message, const RightBlock& right) {
  RowDecoder decoder(message.channels);
  const DecodeResult result = decode_bytes(decoder, message.bytes);
  if (result.part == nullptr) return fmt::format("not decoded: {}", result.reason);
  const auto layout =
      std::make_shared<const BlockLayout>(std::vector<ChannelSet>{message.channels});
  const PartSlot slot{result.part->time(), result.part->duration(), result.part};
  const SeriesBlock block = make_block(layout, slot.time, slot.duration, {{slot}});
  return difference({{"block", right.block}, {"dropped_rows", right.dropped_rows}},
                    {{"block", block_json(block)}, {"dropped_rows", result.dropped_rows}});
}

/// A batch's block has only the channels that the batch has rows of.
std::string batch_error(const Message& message, const RightBlock& right, const Json& rows) {
  Json expected = right.block;
  for (const Channel& channel : message.channels) {
    if (last_row_of(rows, channel.partition_index.value_or(0)) == nullptr) {
      expected["data"].erase(channel.name());
    }
  }
  const IpcStream stream = read_ipc(message.bytes);
  return difference(expected, block_json(from_row_batch(stream.batches.at(0), message.channels)));
}

std::string error_of(const Message& message) {
  const Json& rows = message.content.at("batches").at(0).at("rows");
  const RightBlock right = right_block(rows, message.channels);
  std::string found = decoder_error(message, right);
  if (!found.empty()) return "decoder: " + found;
  found = batch_error(message, right, rows);
  return found.empty() ? std::string() : "from_row_batch: " + found;
}

/// What the message itself holds must be as described.
std::string content_difference(const Message& message) {
  const Json& content = message.content;
  if (!content.at("decode_error").is_null()) return {};
  const IpcStream stream = read_ipc(message.bytes);
  const Json schema = schema_json(*stream.schema);
  Json fields = Json::array();
  for (const Json& field : schema.at("fields")) {
    fields.push_back({{"name", field.at("name")},
                      {"type", field.at("type")},
                      {"nullable", field.at("nullable")}});
  }
  Json batches = Json::array();
  Json wanted_ids = Json::array();
  for (const auto& batch : stream.batches) {
    Json rows = Json::array();
    Json ids = Json::array();
    for (const Json& row : rows_json(*batch)) {
      rows.push_back({{"time", row.at("time")}, {"id", row.at("id")}, {"values", row.at("data")}});
      if (is_wanted(row.at("id"), message.channels)) ids.push_back(row.at("id"));
    }
    batches.push_back({{"num_rows", batch->num_rows()}, {"rows", std::move(rows)}});
    wanted_ids.push_back(std::move(ids));
  }
  return difference({{"schema", content.at("schema")},
                     {"batches", content.at("batches")},
                     {"filtered_ids", content.at("filtered_ids")}},
                    {{"schema", std::move(fields)},
                     {"batches", std::move(batches)},
                     {"filtered_ids", std::move(wanted_ids)}});
}

bool raises_somewhere(const Json& blocks) {
  for (const Json& block : blocks) {
    if (expects_failure(block)) return true;
  }
  return false;
}

Finding replay_message(const VectorFile& file) {
  const Message message = read_message(file);
  Finding finding;
  const auto note = [&finding](const char* by, const std::string& found) {
    if (finding.difference.empty() && !found.empty()) {
      finding.difference = fmt::format("{}: {}", by, found);
    }
  };
  note("content", content_difference(message));
  note("topic", topic_difference(message));
  note("decoder", decoder_difference(message));
  note("from_row_batch", batch_difference(message));
  note("encoder", encoder_difference(message));
  if (raises_somewhere(message.content.at("blocks"))) {
    finding.error = error_of(message);
    finding.vector_error = content_difference(message);
  }
  return finding;
}

}  // namespace

void replay_kafka_message(const VectorFile& file, FileReport& report) {
  report.run("", "message", [&] { return replay_message(file); });
}

}  // namespace arrakis::vectors
