#include <arrow/array/data.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "arrakis/arrow.hpp"
#include "core/quote.hpp"
#include "core/result.hpp"
#include "wire/arrow_types.hpp"
#include "wire/bitmap.hpp"
#include "wire/column_part.hpp"
#include "wire/row_plan.hpp"
#include "wire/row_table.hpp"

namespace arrakis::inline v1 {
namespace {

[[noreturn]] void throw_decode(const std::string& message) { throw Error(Errc::decode, message); }

// What is left of a buffer from element `first` on; empty when that is behind its end.
std::span<const std::byte> elements_from(const std::shared_ptr<arrow::Buffer>& buffer,
                                         std::int64_t first, std::size_t width) {
  if (buffer == nullptr || buffer->size() <= 0 || first < 0) return {};
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(buffer->data()),
                                         static_cast<std::size_t>(buffer->size()));
  if (static_cast<std::size_t>(first) > bytes.size() / width) return {};
  return bytes.subspan(static_cast<std::size_t>(first) * width);
}

Bitmap validity_of(const arrow::ArrayData& data) {
  return {elements_from(data.buffers[0], 0, 1), static_cast<std::size_t>(data.offset)};
}

// A column of the batch that has the form asked for: its buffers and children can be looked at,
// what is in them is not known yet.
const arrow::ArrayData& column(const arrow::RecordBatch& batch, const char* name,
                               std::initializer_list<arrow::Type::type> types,
                               std::size_t children) {
  const int place = batch.schema()->GetFieldIndex(name);
  if (place < 0) throw_decode(fmt::format("the batch does not have exactly one column '{}'", name));
  const std::shared_ptr<arrow::ArrayData>& data = batch.column_data(place);
  const bool is_type = data != nullptr && data->type != nullptr &&
                       std::find(types.begin(), types.end(), data->type->id()) != types.end();
  if (!is_type) {
    throw_decode(fmt::format("column '{}' has the type {}", name,
                             batch.schema()->field(place)->type()->ToString()));
  }
  if (data->length != batch.num_rows() || data->offset < 0 || data->buffers.size() != 2 ||
      data->child_data.size() != children) {
    throw_decode(fmt::format("column '{}' is malformed", name));
  }
  return *data;
}

void read_times(const arrow::RecordBatch& batch, RowTable& table) {
  const arrow::ArrayData& data = column(batch, "time", {arrow::Type::INT64}, 0);
  const Bitmap validity = validity_of(data);
  if (!validity.covers(table.rows)) throw_decode("the validity bitmap of 'time' is too short");
  if (!validity.all_valid() && count_zero_bits(validity.bits(), validity.offset, table.rows) != 0) {
    throw_decode("a row's time is null");
  }
  table.times = elements_from(data.buffers[1], data.offset, sizeof(std::int64_t));
}

void read_ids(const arrow::RecordBatch& batch, RowTable& table) {
  const arrow::ArrayData& data = column(batch, "id", {arrow::Type::UINT32, arrow::Type::INT32}, 0);
  table.signed_ids = data.type->id() == arrow::Type::INT32;
  table.id_validity = validity_of(data);
  table.ids = elements_from(data.buffers[1], data.offset, sizeof(std::uint32_t));
  if (!table.id_validity.covers(table.rows) ||
      table.ids.size() / sizeof(std::uint32_t) < table.rows) {
    throw_decode("column 'id' is malformed");
  }
}

void read_lists(const arrow::RecordBatch& batch, RowTable& table) {
  const arrow::ArrayData& lists =
      column(batch, "data", {arrow::Type::LIST, arrow::Type::LARGE_LIST}, 1);
  table.large_offsets = lists.type->id() == arrow::Type::LARGE_LIST;
  table.list_validity = validity_of(lists);
  table.offsets = elements_from(lists.buffers[1], lists.offset,
                                table.large_offsets ? sizeof(std::int64_t) : sizeof(std::int32_t));

  const arrow::ArrayData* items = lists.child_data[0].get();
  const bool is_typed = items != nullptr && items->type != nullptr;
  const std::optional<DataType> type = is_typed ? sample_type(*items->type) : std::nullopt;
  if (!type) {
    throw_decode(fmt::format("column 'data' has the type {}", lists.type->ToString()));
  }
  if (items->buffers.size() != 2 || items->offset < 0 || items->length < 0) {
    throw_decode("column 'data' is malformed");
  }
  table.type = *type;
  table.values = elements_from(items->buffers[1], items->offset, size_of(*type));
  table.value_count = static_cast<std::size_t>(items->length);
  table.validity = validity_of(*items);
}

RowTable table_of(const arrow::RecordBatch& batch) {
  RowTable table;
  table.rows = static_cast<std::size_t>(batch.num_rows());
  read_times(batch, table);
  read_ids(batch, table);
  read_lists(batch, table);
  return table;
}

std::unordered_map<std::uint32_t, std::size_t> places_by_index(const ChannelSet& channels) {
  std::unordered_map<std::uint32_t, std::size_t> places;
  places.reserve(channels.size());
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const Channel& channel = channels[i];
    if (!channel.partition_index) {
      throw Error(Errc::precondition,
                  fmt::format("channel {} has no partition_index", quoted(channel.name())));
    }
    const auto [it, is_new] = places.try_emplace(*channel.partition_index, i);
    if (!is_new) {
      throw Error(
          Errc::precondition,
          fmt::format("channels {} and {} both have index {}", quoted(channels[it->second].name()),
                      quoted(channel.name()), *channel.partition_index));
    }
  }
  return places;
}

// The channels that have a row, in the order of their first ones: `channels` itself where that is
// the same.
ChannelSet channels_in(const RowTable& table, const ChannelSet& channels) {
  const std::unordered_map<std::uint32_t, std::size_t> places = places_by_index(channels);
  std::vector<std::size_t> order;
  std::vector<bool> seen(channels.size());
  bool same_order = true;
  for (std::size_t row = 0; row < table.rows; ++row) {
    std::uint32_t id = 0;
    std::memcpy(&id, table.ids.data() + row * sizeof id, sizeof id);
    const bool is_negative = table.signed_ids && static_cast<std::int32_t>(id) < 0;
    if (is_negative || !table.id_validity.is_valid(row)) continue;
    const auto it = places.find(id);
    if (it == places.end() || seen[it->second]) continue;
    seen[it->second] = true;
    same_order = same_order && it->second == order.size();
    order.push_back(it->second);
  }
  if (same_order && order.size() == channels.size()) return channels;
  std::vector<Channel> present;
  present.reserve(order.size());
  for (const std::size_t place : order) present.push_back(channels[place]);
  return ChannelSet(std::move(present));
}

}

std::vector<std::pair<std::string, std::shared_ptr<arrow::RecordBatch>>> to_row_batches(
    const SeriesBlock& block) {
  std::vector<std::pair<std::string, std::shared_ptr<arrow::RecordBatch>>> batches;
  for (const PartitionRows& partition : plan_rows(block.channels())) {
    batches.emplace_back(partition.partition_id, row_batch(partition, block));
  }
  return batches;
}

SeriesBlock from_row_batch(const std::shared_ptr<arrow::RecordBatch>& batch,
                           const ChannelSet& channels) {
  if (batch == nullptr) throw_decode("there is no batch");
  if (batch->device_type() != arrow::DeviceAllocationType::kCPU) {
    throw_decode("the batch is not in the processor's memory");
  }
  if (batch->num_rows() <= 0) return {};
  const RowTable table = table_of(*batch);
  const ChannelSet present = channels_in(table, channels);
  if (present.empty()) return {};

  auto layout = std::make_shared<RowLayout>(value_or_throw(RowMapper(present).map(table)));
  if (layout->duration <= Duration::zero()) {
    throw_decode(layout->drop_reason.empty() ? "no row has samples" : layout->drop_reason);
  }
  return block_of(present, std::make_shared<RowPart>(first_time(table), std::move(layout),
                                                     table.values.data(), table.validity, batch));
}

}  // namespace arrakis::inline v1
