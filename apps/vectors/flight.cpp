#include <arrow/compare.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/arrow.hpp"
#include "arrakis/block.hpp"
#include "vectors/arrow_json.hpp"
#include "vectors/compare.hpp"
#include "vectors/handlers.hpp"
#include "vectors/messages.hpp"
#include "vectors/vector_json.hpp"
#include "wire/block_data.hpp"
#include "wire/row_decoder.hpp"
#include "wire/schemas.hpp"

namespace arrakis::vectors {
namespace {

SeriesBlock build_block(const Json& described, const ChannelSet& channels) {
  BlockBuilder builder(time_at(described, "time_ns"), channels);
  for (const Channel& channel : channels) {
    set_samples(builder, channel, described.at("data").at(channel.name()));
  }
  return builder.build();
}

/// A batch, the block that it is and the description of both must be one and the same, whichever
/// the library makes of which.
std::string column_batch_difference(const std::shared_ptr<arrow::RecordBatch>& batch,
                                    const Json& columns, const Json& block,
                                    const ChannelSet& channels) {
  std::string found = difference(block, block_json(from_column_batch(batch, channels)));
  if (!found.empty()) return "from_column_batch: " + found;
  const auto built = to_column_batch(build_block(block, channels), column_schema(channels));
  found = difference(columns, columns_json(*built));
  if (!found.empty()) return "to_column_batch: " + found;
  const auto options = arrow::EqualOptions::Defaults().nans_equal(true).signed_zeros_equal(false);
  return built->Equals(*batch, /*check_metadata=*/true, options)
             ? std::string()
             : "to_column_batch: the batches differ";
}

Finding replay_columns(const VectorFile& file) {
  const Json& content = file.content;
  const ChannelSet channels = channels_of(content.at("channels"));
  const auto schema = column_schema(channels);
  const IpcStream stream = read_ipc(read_bytes(file.folder / string_at(content, "file")));

  std::string found =
      difference({{"schema", content.at("schema")}}, {{"schema", schema_json(*schema)}});
  if (!found.empty()) return {.difference = found};
  if (!schema->Equals(*stream.schema, /*check_metadata=*/true)) {
    return {.difference = "the schema differs from the file's"};
  }
  const std::size_t count = stream.batches.size();
  if (content.at("batches").size() != count || content.at("blocks").size() != count) {
    return {.difference = fmt::format("the file holds {} batches, not {}", count,
                                      content.at("batches").size())};
  }
  for (std::size_t i = 0; i < count; ++i) {
    found = column_batch_difference(stream.batches[i], content.at("batches")[i],
                                    content.at("blocks")[i], channels);
    if (!found.empty()) return {.difference = fmt::format("batch {}: {}", i, found)};
  }
  return {};
}

/// The library's schema of that answer, told apart by its columns.
std::shared_ptr<arrow::Schema> schema_like(const arrow::Schema& schema) {
  const std::array candidates = {schemas::metadata(), schemas::partition(), schemas::count(),
                                 schemas::publish()};
  const auto* const found = std::ranges::find_if(candidates, [&](const auto& candidate) {
    return candidate->field_names() == schema.field_names();
  });
  if (found == candidates.end()) throw std::runtime_error("no schema has these columns");
  return *found;
}

Finding replay_rows(const VectorFile& file) {
  const Json& content = file.content;
  const IpcStream stream = read_ipc(read_bytes(file.folder / string_at(content, "file")));
  const std::shared_ptr<arrow::Schema> schema = schema_like(*stream.schema);
  if (!schema->Equals(*stream.schema, /*check_metadata=*/true)) {
    return {.difference = "the schema differs from the file's"};
  }
  Json rows = Json::array();
  for (const auto& batch : stream.batches) {
    for (Json& row : rows_json(*batch)) rows.push_back(std::move(row));
  }
  return {.difference = difference({{"schema", content.at("schema")}, {"rows", content.at("rows")}},
                                   {{"schema", schema_json(*schema)}, {"rows", rows}})};
}

/// One part a native slot, decoded from the message with these rows; null: no message.
std::vector<PartSlot> slots_of(const Json& messages, const ChannelSet& channels, GpsTime time) {
  const Duration stride = channels[0].stride.value_or(Duration::zero());
  RowDecoder decoder(channels);
  std::vector<PartSlot> slots;
  for (const Json& rows : messages) {
    PartSlot slot{time, stride, nullptr};
    if (!rows.is_null()) slot.part = decode_message(decoder, encode_rows(rows, channels, time));
    slots.push_back(std::move(slot));
    time += stride;
  }
  return slots;
}

Finding replay_assembly(const Json& item) {
  const GpsTime time = time_at(item, "time_ns");
  std::vector<ChannelSet> streams;
  std::vector<std::vector<PartSlot>> slots;
  Duration duration{};
  for (const auto& [name, list] : item.at("streams").items()) {
    streams.push_back(channels_of(list));
    slots.push_back(slots_of(item.at("slots").at(name), streams.back(), time));
    duration = Duration();
    for (const PartSlot& slot : slots.back()) duration += slot.duration;
  }
  const auto layout = std::make_shared<const BlockLayout>(std::move(streams));
  const SeriesBlock block = make_block(layout, time, duration, std::move(slots));
  const auto batch = to_column_batch(block, column_schema(layout->channels()));
  return {.difference = difference(item.at("expect"), columns_json(*batch))};
}

}  // namespace

void replay_column_batches(const VectorFile& file, FileReport& report) {
  report.run("", "batches", [&] { return replay_columns(file); });
}

void replay_result_batches(const VectorFile& file, FileReport& report) {
  report.run("", "rows", [&] { return replay_rows(file); });
}

void replay_assemble(const VectorFile& file, FileReport& report) {
  replay_section(file, report, "cases", replay_assembly);
}

}  // namespace arrakis::vectors
