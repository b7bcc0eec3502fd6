#include "arrakis/arrow.hpp"

#include <arrow/array/data.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/quote.hpp"
#include "wire/arrow_types.hpp"
#include "wire/bitmap.hpp"
#include "wire/buffer_arena.hpp"
#include "wire/column_part.hpp"
#include "wire/series_buffers.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr const char* kTimeColumn = "time";
constexpr const char* kRateKey = "rate";
// A column batch holds one row, the block, whose list begins at item 0.
constexpr std::int64_t kRows = 1;

std::shared_ptr<arrow::Field> time_field(bool nullable) {
  return arrow::field(kTimeColumn, arrow::int64(), nullable);
}

std::shared_ptr<arrow::Schema> make_row_schema(DataType type) {
  return arrow::schema({time_field(true), arrow::field("id", arrow::uint32()),
                        arrow::field("data", arrow::list(arrow_type(type)))});
}

std::shared_ptr<arrow::Schema> block_order_schema(const ChannelSet& channels) {
  arrow::FieldVector fields{time_field(true)};
  for (const Channel& channel : channels) {
    fields.push_back(arrow::field(channel.name(), arrow::list(arrow_type(channel.data_type()))));
  }
  return arrow::schema(std::move(fields));
}

[[noreturn]] void throw_misfit(const std::string& what) {
  throw Error(Errc::precondition, "the schema does not fit the block: " + what);
}

// Where each field of a column schema comes from in a block: kTimePlace or the channel's position.
constexpr std::size_t kTimePlace = static_cast<std::size_t>(-1);

std::size_t place_of(const arrow::Field& field, const ChannelSet& channels) {
  if (field.name() == kTimeColumn) {
    if (field.type()->id() == arrow::Type::INT64) return kTimePlace;
    throw_misfit(fmt::format("column 'time' is {}, not int64", field.type()->ToString()));
  }
  const std::optional<std::size_t> place = channels.find(field.name());
  if (!place) throw_misfit(fmt::format("the block has no channel {}", quoted(field.name())));
  const Channel& channel = channels[*place];
  const arrow::DataType& type = *field.type();
  if (type.id() != arrow::Type::LIST ||
      sample_type(*type.field(0)->type()) != channel.data_type()) {
    throw_misfit(fmt::format("channel {} is {}, its column {}", quoted(channel.name()),
                             to_string(channel.data_type()), type.ToString()));
  }
  return *place;
}

std::vector<std::size_t> places_of(const arrow::Schema& schema, const ChannelSet& channels) {
  std::vector<std::size_t> places;
  std::vector<bool> found(channels.size());
  bool has_time = false;
  for (const std::shared_ptr<arrow::Field>& field : schema.fields()) {
    const std::size_t place = place_of(*field, channels);
    if (place == kTimePlace ? has_time : found[place]) {
      throw_misfit(fmt::format("it has two columns {}", quoted(field->name())));
    }
    if (place == kTimePlace) {
      has_time = true;
    } else {
      found[place] = true;
    }
    places.push_back(place);
  }
  if (!has_time) throw_misfit("it has no column 'time'");
  const auto missing = std::find(found.begin(), found.end(), false);
  if (missing != found.end()) {
    const auto& channel = channels[static_cast<std::size_t>(missing - found.begin())];
    throw_misfit(fmt::format("it has no column for channel {}", quoted(channel.name())));
  }
  return places;
}

std::vector<Series> series_at(const SeriesBlock& block, std::span<const std::size_t> places) {
  std::vector<Series> series;
  series.reserve(block.size());
  for (const std::size_t place : places) {
    if (place != kTimePlace) series.push_back(block.at(place));
  }
  return series;
}

std::size_t arena_bytes(const Series& series) {
  return BufferArena::bytes_for({2 * sizeof(std::int32_t),
                                 series.has_gaps() ? bitmap_bytes(series.size()) : 0,
                                 series.bytes().size()});
}

std::size_t arena_bytes(std::span<const Series> all) {
  std::size_t bytes = BufferArena::padded(sizeof(std::int64_t));
  for (const Series& series : all) bytes += arena_bytes(series);
  return bytes;
}

std::shared_ptr<arrow::ArrayData> time_array(GpsTime time, BufferArena& arena) {
  ArenaPiece piece = arena.take(sizeof(std::int64_t));
  const std::int64_t ns = time.ns();
  std::memcpy(piece.data, &ns, sizeof ns);
  return arrow::ArrayData::Make(arrow::int64(), kRows, {nullptr, std::move(piece.buffer)}, 0);
}

std::shared_ptr<arrow::ArrayData> list_array(const Series& series,
                                             const std::shared_ptr<arrow::DataType>& type,
                                             BufferArena& arena) {
  constexpr std::size_t kMaxSamples = std::numeric_limits<std::int32_t>::max();
  if (series.size() > kMaxSamples) {
    throw Error(Errc::precondition,
                fmt::format("channel {} has {} samples; a column holds at most {}",
                            quoted(series.channel().name()), series.size(), kMaxSamples));
  }
  ArenaPiece offsets = arena.take(2 * sizeof(std::int32_t));
  const std::int32_t bounds[] = {0, static_cast<std::int32_t>(series.size())};
  std::memcpy(offsets.data, bounds, sizeof bounds);

  ArenaPiece validity;
  if (series.has_gaps()) {
    validity = arena.take(bitmap_bytes(series.size()));
    std::memset(validity.data, 0, bitmap_bytes(series.size()));
    write_validity(series, validity.data, 0);
  }
  ArenaPiece values = arena.take(series.bytes().size());
  write_values(series, reinterpret_cast<std::byte*>(values.data));

  auto items = arrow::ArrayData::Make(type->field(0)->type(), bounds[1],
                                      {std::move(validity.buffer), std::move(values.buffer)},
                                      static_cast<std::int64_t>(series.gap_count()));
  return arrow::ArrayData::Make(type, kRows, {nullptr, std::move(offsets.buffer)},
                                {std::move(items)}, 0);
}

// From here on: reading. A batch may come from another process or program, so that nothing about
// its arrays is taken for granted.

[[noreturn]] void throw_decode(const std::string& message) { throw Error(Errc::decode, message); }

std::span<const std::byte> bytes_of(const std::shared_ptr<arrow::Buffer>& buffer) {
  if (buffer == nullptr || buffer->size() <= 0) return {};
  return {reinterpret_cast<const std::byte*>(buffer->data()),
          static_cast<std::size_t>(buffer->size())};
}

template <typename T>
std::optional<T> element_at(std::span<const std::byte> bytes, std::size_t index) {
  const std::size_t elements = bytes.size() / sizeof(T);
  if (index >= elements) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

bool is_well_formed(const arrow::ArrayData& data, std::size_t buffers, std::size_t children) {
  return data.type != nullptr && data.buffers.size() == buffers &&
         data.child_data.size() == children && data.offset >= 0 && data.length >= 0;
}

bool is_null(const arrow::ArrayData& data, std::size_t row) {
  const Bitmap validity{bytes_of(data.buffers[0]), static_cast<std::size_t>(data.offset)};
  return !validity.covers(row + 1) || !validity.is_valid(row);
}

// Owns what the samples of a block made from a batch point into.
struct BatchOwner {
  std::shared_ptr<arrow::RecordBatch> batch;
  std::vector<std::unique_ptr<std::uint64_t[]>> copies;  // of values that were misaligned
};

const std::byte* aligned(std::span<const std::byte> values, std::size_t width, BatchOwner& owner) {
  if (reinterpret_cast<std::uintptr_t>(values.data()) % width == 0) return values.data();
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  auto copy = std::make_unique<std::uint64_t[]>((values.size() + kWord - 1) / kWord);
  std::memcpy(copy.get(), values.data(), values.size());
  return reinterpret_cast<const std::byte*>(owner.copies.emplace_back(std::move(copy)).get());
}

struct ItemRange {
  std::size_t first;
  std::size_t end;
};

// The items of a list column's only row, as positions in its child array.
template <typename Offset>
std::optional<ItemRange> item_range(const arrow::ArrayData& list) {
  const std::span<const std::byte> offsets = bytes_of(list.buffers[1]);
  const auto row = static_cast<std::size_t>(list.offset);
  const std::optional<Offset> first = element_at<Offset>(offsets, row);
  const std::optional<Offset> end = element_at<Offset>(offsets, row + 1);
  if (!first || !end || *first < 0 || *end < *first) return std::nullopt;
  if (*end > list.child_data[0]->length) return std::nullopt;
  return ItemRange{static_cast<std::size_t>(*first), static_cast<std::size_t>(*end)};
}

Samples column_samples(const arrow::ArrayData& list, const Channel& channel, BatchOwner& owner) {
  const auto id = list.type == nullptr ? arrow::Type::NA : list.type->id();
  const bool is_list = id == arrow::Type::LIST || id == arrow::Type::LARGE_LIST;
  if (!is_list || !is_well_formed(list, 2, 1) || !is_well_formed(*list.child_data[0], 2, 0) ||
      sample_type(*list.child_data[0]->type) != channel.data_type()) {
    throw_decode(fmt::format("column {} is {}, not a list of {}", quoted(channel.name()),
                             list.type == nullptr ? "nothing" : list.type->ToString(),
                             to_string(channel.data_type())));
  }
  if (is_null(list, 0)) return {};
  const std::optional<ItemRange> range =
      id == arrow::Type::LIST ? item_range<std::int32_t>(list) : item_range<std::int64_t>(list);
  const arrow::ArrayData& items = *list.child_data[0];
  const std::span<const std::byte> values = bytes_of(items.buffers[1]);
  const std::size_t width = size_of(channel.data_type());
  const auto offset = static_cast<std::size_t>(items.offset);
  if (!range || (range->end != range->first && offset + range->end > values.size() / width)) {
    throw_decode(fmt::format("column {}: the list's offsets point outside its samples",
                             quoted(channel.name())));
  }
  Samples samples{.size = range->end - range->first, .present = true};
  if (samples.size == 0) return samples;
  const Bitmap validity{bytes_of(items.buffers[0]), offset + range->first};
  if (!validity.covers(samples.size)) {
    throw_decode(
        fmt::format("column {}: the validity bitmap is too short", quoted(channel.name())));
  }
  samples.values =
      aligned(values.subspan((offset + range->first) * width, samples.size * width), width, owner);
  if (!validity.all_valid()) {
    samples.gap_count = count_zero_bits(validity.bits(), validity.offset, samples.size);
    if (samples.gap_count != 0) samples.validity = validity.bits();
    samples.validity_offset = validity.offset;
  }
  return samples;
}

GpsTime column_time(const arrow::RecordBatch& batch) {
  const int place = batch.schema()->GetFieldIndex(kTimeColumn);
  if (place < 0) throw_decode("the batch does not have exactly one column 'time'");
  const arrow::ArrayData& data = *batch.column_data(place);
  if (!is_well_formed(data, 2, 0) || data.type->id() != arrow::Type::INT64) {
    throw_decode(fmt::format("column 'time' is {}, not int64",
                             data.type == nullptr ? "nothing" : data.type->ToString()));
  }
  const std::optional<std::int64_t> ns =
      element_at<std::int64_t>(bytes_of(data.buffers[1]), static_cast<std::size_t>(data.offset));
  if (!ns || is_null(data, 0)) throw_decode("the block's time is null");
  return GpsTime::from_ns(*ns);
}

void require_one_row(const arrow::RecordBatch* batch) {
  if (batch == nullptr) throw_decode("there is no batch");
  if (batch->device_type() != arrow::DeviceAllocationType::kCPU) {
    throw_decode("the batch is not in the processor's memory");
  }
  if (batch->num_rows() != kRows) {
    throw_decode(fmt::format("a column batch has one row, this one {}", batch->num_rows()));
  }
  for (int i = 0; i < batch->num_columns(); ++i) {
    if (batch->column_data(i) == nullptr || batch->column_data(i)->length != kRows) {
      throw_decode(fmt::format("column {} does not have one row", quoted(batch->column_name(i))));
    }
  }
}

// The batch's channels in the order of its columns: `channels` itself where that is the same.
ChannelSet batch_channels(const arrow::Schema& schema, const ChannelSet& channels) {
  std::vector<std::size_t> places;
  std::unordered_set<std::string_view> names;
  bool same_order = true;
  for (const std::shared_ptr<arrow::Field>& field : schema.fields()) {
    if (field->name() == kTimeColumn) continue;
    const std::optional<std::size_t> place = channels.find(field->name());
    if (!place) {
      throw_decode(fmt::format("column {} is none of the {} channels known", quoted(field->name()),
                               channels.size()));
    }
    same_order = same_order && *place == places.size();
    places.push_back(*place);
  }
  if (same_order && places.size() == channels.size()) return channels;

  std::vector<Channel> chosen;
  chosen.reserve(places.size());
  for (const std::size_t place : places) {
    chosen.push_back(channels[place]);
    if (!names.insert(channels[place].name()).second) {
      throw_decode(fmt::format("the batch has two columns {}", quoted(channels[place].name())));
    }
  }
  return ChannelSet(std::move(chosen));
}

// The duration that all columns with samples have.
Duration common_duration(const ChannelSet& channels, std::span<const Samples> samples) {
  std::optional<std::size_t> first;
  Duration common{};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i].present) continue;
    if (samples[i].size == 0) {
      throw_decode(fmt::format("column {} has no samples", quoted(channels[i].name())));
    }
    const Duration duration = channels[i].sample_rate().duration_of(samples[i].size);
    if (!first) {
      first = i;
      common = duration;
    } else if (duration != common) {
      throw_decode(
          fmt::format("the columns' durations differ: {} has {} samples, {} ns; {} "
                      "has {}, {} ns",
                      quoted(channels[*first].name()), samples[*first].size, common.count(),
                      quoted(channels[i].name()), samples[i].size, duration.count()));
    }
  }
  if (!first && !samples.empty()) throw_decode("every column's list is null");
  return common;
}

}

std::shared_ptr<arrow::Schema> column_schema(const ChannelSet& channels) {
  std::vector<const Channel*> sorted;
  sorted.reserve(channels.size());
  for (const Channel& channel : channels) sorted.push_back(&channel);
  std::sort(sorted.begin(), sorted.end(),
            [](const Channel* a, const Channel* b) { return a->name() < b->name(); });

  arrow::FieldVector fields{time_field(false)};
  fields.reserve(sorted.size() + 1);
  for (const Channel* channel : sorted) {
    fields.push_back(arrow::field(
        channel->name(), arrow::list(arrow_type(channel->data_type())), true,
        arrow::KeyValueMetadata::Make({kRateKey}, {channel->sample_rate().to_string()})));
  }
  return arrow::schema(std::move(fields));
}

std::shared_ptr<arrow::Schema> row_schema(DataType type) {
  return visit_type(type, []<typename T>(T) {
    static const std::shared_ptr<arrow::Schema> kSchema = make_row_schema(data_type_of<T>());
    return kSchema;
  });
}

std::shared_ptr<arrow::RecordBatch> to_column_batch(const SeriesBlock& block,
                                                    const std::shared_ptr<arrow::Schema>& schema) {
  const std::shared_ptr<arrow::Schema> columns =
      schema != nullptr ? schema : block_order_schema(block.channels());
  const std::vector<std::size_t> places = places_of(*columns, block.channels());
  const std::vector<Series> all_series = series_at(block, places);

  BufferArena arena(arena_bytes(all_series));
  std::vector<std::shared_ptr<arrow::ArrayData>> arrays;
  arrays.reserve(places.size());
  auto series = all_series.begin();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& type = columns->field(static_cast<int>(i))->type();
    arrays.push_back(places[i] == kTimePlace ? time_array(block.time(), arena)
                                             : list_array(*series++, type, arena));
  }
  return arrow::RecordBatch::Make(columns, kRows, std::move(arrays));
}

SeriesBlock from_column_batch(const std::shared_ptr<arrow::RecordBatch>& batch,
                              const ChannelSet& channels) {
  require_one_row(batch.get());
  const GpsTime time = column_time(*batch);
  ChannelSet present = batch_channels(*batch->schema(), channels);

  auto owner = std::make_shared<BatchOwner>();
  owner->batch = batch;
  std::vector<Samples> samples;
  samples.reserve(present.size());
  for (int i = 0; i < batch->num_columns(); ++i) {
    if (batch->column_name(i) == kTimeColumn) continue;
    samples.push_back(column_samples(*batch->column_data(i), present[samples.size()], *owner));
  }
  const Duration duration = common_duration(present, samples);
  return block_of(std::move(present), std::make_shared<ColumnPart>(
                                          time, duration, std::move(samples), std::move(owner)));
}

}  // namespace arrakis::inline v1
