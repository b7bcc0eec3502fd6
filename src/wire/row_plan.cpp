#include "wire/row_plan.hpp"

#include <arrow/array/data.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "arrakis/arrow.hpp"
#include "core/quote.hpp"
#include "wire/arrow_types.hpp"
#include "wire/bitmap.hpp"
#include "wire/buffer_arena.hpp"
#include "wire/series_buffers.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr std::size_t kMaxSamples = std::numeric_limits<std::int32_t>::max();

void require_partition(const Channel& channel) {
  if (channel.partition_id && channel.partition_index) return;
  throw Error(Errc::precondition,
              fmt::format("channel {} has no {}, so its samples can't be put into a message",
                          quoted(channel.name()),
                          channel.partition_id ? "partition_index" : "partition_id"));
}

void require_same_type(const Channel& first, const Channel& channel) {
  if (first.data_type() == channel.data_type()) return;
  throw Error(
      Errc::precondition,
      fmt::format("partition {} holds one data type: channel {} is {}, but {} is {}",
                  quoted(*first.partition_id), quoted(first.name()), to_string(first.data_type()),
                  quoted(channel.name()), to_string(channel.data_type())));
}

[[noreturn]] void throw_same_index(const PartitionRows& partition, const ChannelSet& channels,
                                   std::uint32_t index) {
  std::string names;
  for (const std::size_t place : partition.places) {
    if (channels[place].partition_index != index) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", quoted(channels[place].name()));
  }
  throw Error(Errc::precondition, fmt::format("partition {} has several channels of index {}: {}",
                                              quoted(partition.partition_id), index, names));
}

// A reader would keep only the last of two rows with the same id. Channels usually stand in the
// order of their indexes, so that one pass is enough.
void require_distinct_ids(const PartitionRows& partition, const ChannelSet& channels) {
  const auto& ids = partition.ids;
  const bool rising =
      std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end();
  if (rising) return;
  std::vector<std::uint32_t> sorted = ids;
  std::sort(sorted.begin(), sorted.end());
  const auto same = std::adjacent_find(sorted.begin(), sorted.end());
  if (same != sorted.end()) throw_same_index(partition, channels, *same);
}

struct Rows {
  std::vector<Series> series;
  std::size_t samples = 0;
  std::size_t gaps = 0;
};

Rows rows_of(const PartitionRows& partition, const SeriesBlock& block) {
  Rows rows;
  rows.series.reserve(partition.places.size());
  for (const std::size_t place : partition.places) {
    const Series& row = rows.series.emplace_back(block.at(place));
    rows.samples += row.size();
    rows.gaps += row.gap_count();
  }
  if (rows.samples > kMaxSamples) {
    throw Error(Errc::precondition,
                fmt::format("partition {} has {} samples in one block; a message holds at most {}",
                            quoted(partition.partition_id), rows.samples, kMaxSamples));
  }
  return rows;
}

// The buffers of a message's body, in their order.
struct Body {
  ArenaPiece time;      // int64 a row
  ArenaPiece id;        // uint32 a row
  ArenaPiece offsets;   // int32 a row and one more
  ArenaPiece validity;  // a bit a sample; none when no sample is a gap
  ArenaPiece values;
};

Body make_body(std::size_t rows, std::size_t samples, std::size_t width, bool has_gaps) {
  const std::size_t time_bytes = rows * sizeof(std::int64_t);
  const std::size_t id_bytes = rows * sizeof(std::uint32_t);
  const std::size_t offset_bytes = (rows + 1) * sizeof(std::int32_t);
  const std::size_t validity_bytes = has_gaps ? bitmap_bytes(samples) : 0;
  const std::size_t value_bytes = samples * width;
  BufferArena arena(
      BufferArena::bytes_for({time_bytes, id_bytes, offset_bytes, validity_bytes, value_bytes}));
  Body body;
  body.time = arena.take(time_bytes);
  body.id = arena.take(id_bytes);
  body.offsets = arena.take(offset_bytes);
  if (has_gaps) body.validity = arena.take(validity_bytes);
  body.values = arena.take(value_bytes);
  return body;
}

void write_times(GpsTime time, std::size_t rows, const ArenaPiece& piece) {
  std::fill_n(reinterpret_cast<std::int64_t*>(piece.data), rows, time.ns());
}

void write_ids(const std::vector<std::uint32_t>& ids, const ArenaPiece& piece) {
  std::memcpy(piece.data, ids.data(), ids.size() * sizeof(std::uint32_t));
}

void write_lists(const Rows& rows, std::size_t width, const Body& body) {
  auto* const offsets = reinterpret_cast<std::int32_t*>(body.offsets.data);
  auto* const values = reinterpret_cast<std::byte*>(body.values.data);
  std::uint8_t* const validity = body.validity.data;
  if (validity != nullptr) std::memset(validity, 0, bitmap_bytes(rows.samples));
  std::size_t offset = 0;
  for (std::size_t i = 0; i < rows.series.size(); ++i) {
    const Series& row = rows.series[i];
    offsets[i] = static_cast<std::int32_t>(offset);
    write_values(row, values + offset * width);
    if (validity != nullptr) write_validity(row, validity, offset);
    offset += row.size();
  }
  offsets[rows.series.size()] = static_cast<std::int32_t>(offset);
}

}

std::vector<PartitionRows> plan_rows(const ChannelSet& channels) {
  std::vector<PartitionRows> partitions;
  std::unordered_map<std::string_view, std::size_t> known;
  std::size_t current = 0;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const Channel& channel = channels[i];
    require_partition(channel);
    // Neighbours mostly share a partition.
    if (partitions.empty() || partitions[current].partition_id != *channel.partition_id) {
      const auto [it, is_new] = known.try_emplace(*channel.partition_id, partitions.size());
      current = it->second;
      if (is_new) {
        partitions.push_back({.partition_id = *channel.partition_id,
                              .topic = topic_of(channel),
                              .type = channel.data_type(),
                              .places = {},
                              .ids = {}});
      }
    }
    PartitionRows& partition = partitions[current];
    if (!partition.places.empty()) require_same_type(channels[partition.places.front()], channel);
    partition.places.push_back(i);
    partition.ids.push_back(*channel.partition_index);
  }
  for (const PartitionRows& partition : partitions) require_distinct_ids(partition, channels);
  return partitions;
}

std::shared_ptr<arrow::RecordBatch> row_batch(const PartitionRows& partition,
                                              const SeriesBlock& block) {
  const Rows rows = rows_of(partition, block);
  const std::size_t width = size_of(partition.type);
  Body body = make_body(rows.series.size(), rows.samples, width, rows.gaps != 0);
  write_times(block.time(), rows.series.size(), body.time);
  write_ids(partition.ids, body.id);
  write_lists(rows, width, body);

  const auto length = static_cast<std::int64_t>(rows.series.size());
  const std::shared_ptr<arrow::Schema> schema = row_schema(partition.type);
  auto times =
      arrow::ArrayData::Make(arrow::int64(), length, {nullptr, std::move(body.time.buffer)}, 0);
  auto ids =
      arrow::ArrayData::Make(arrow::uint32(), length, {nullptr, std::move(body.id.buffer)}, 0);
  auto items =
      arrow::ArrayData::Make(arrow_type(partition.type), static_cast<std::int64_t>(rows.samples),
                             {std::move(body.validity.buffer), std::move(body.values.buffer)},
                             static_cast<std::int64_t>(rows.gaps));
  auto lists =
      arrow::ArrayData::Make(schema->field(2)->type(), length,
                             {nullptr, std::move(body.offsets.buffer)}, {std::move(items)}, 0);
  return arrow::RecordBatch::Make(schema, length,
                                  {std::move(times), std::move(ids), std::move(lists)});
}

}  // namespace arrakis::inline v1
