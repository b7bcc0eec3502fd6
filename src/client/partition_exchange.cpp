#include "client/partition_exchange.hpp"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/status.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "arrakis/error.hpp"
#include "wire/schemas.hpp"

namespace arrakis::inline v1 {

namespace {

/// The rate as the exchange's column holds it.
std::int32_t whole_rate(const Channel& channel) {
  const double hz = channel.sample_rate().hz();
  if (std::trunc(hz) != hz || hz > std::numeric_limits<std::int32_t>::max()) {
    throw Error(Errc::invalid_argument,
                fmt::format("channel {} can't be registered: its rate of {} Hz is no whole number "
                            "that fits 32 bits",
                            channel.name(), channel.sample_rate().to_string()));
  }
  return static_cast<std::int32_t>(hz);
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> build_batch(
    const std::vector<Channel>& channels) {
  arrow::StringBuilder names;
  arrow::StringBuilder types;
  arrow::Int32Builder rates;
  arrow::StringBuilder partitions;
  arrow::UInt32Builder indexes;
  for (const Channel& channel : channels) {
    ARROW_RETURN_NOT_OK(names.Append(channel.name()));
    ARROW_RETURN_NOT_OK(types.Append(to_string(channel.data_type())));
    ARROW_RETURN_NOT_OK(rates.Append(whole_rate(channel)));
    ARROW_RETURN_NOT_OK(partitions.AppendNull());
    ARROW_RETURN_NOT_OK(indexes.AppendNull());
  }
  arrow::ArrayVector columns(5);
  ARROW_RETURN_NOT_OK(names.Finish(&columns[0]));
  ARROW_RETURN_NOT_OK(types.Finish(&columns[1]));
  ARROW_RETURN_NOT_OK(rates.Finish(&columns[2]));
  ARROW_RETURN_NOT_OK(partitions.Finish(&columns[3]));
  ARROW_RETURN_NOT_OK(indexes.Finish(&columns[4]));
  return arrow::RecordBatch::Make(schemas::partition(), static_cast<std::int64_t>(channels.size()),
                                  std::move(columns));
}

/// Adds the pairs of an answer's rows. What has another form is no answer.
void add_properties(const arrow::RecordBatch& batch, const ServerUrl& server,
                    std::map<std::string, std::string>& properties) {
  const std::shared_ptr<arrow::Array> column = batch.GetColumnByName("properties");
  const auto expected = schemas::publish()->field(0)->type();
  if (column == nullptr || !column->type()->Equals(expected)) {
    throw Error(Errc::protocol,
                fmt::format("publish at {}: an answer without a column 'properties' of text pairs",
                            server.text));
  }
  const auto& maps = static_cast<const arrow::MapArray&>(*column);
  const auto& keys = static_cast<const arrow::StringArray&>(*maps.keys());
  const auto& values = static_cast<const arrow::StringArray&>(*maps.items());
  for (std::int64_t row = 0; row < maps.length(); ++row) {
    if (maps.IsNull(row)) continue;
    for (std::int64_t i = maps.value_offset(row); i < maps.value_offset(row + 1); ++i) {
      if (!values.IsNull(i)) properties.insert_or_assign(keys.GetString(i), values.GetString(i));
    }
  }
}

}

void exchange_partitions(ServerCalls& calls, const PartitionRequest& publisher,
                         const std::vector<Channel>& channels) {
  auto batch = build_batch(channels);
  if (!batch.ok()) throw Error(Errc::invalid_argument, batch.status().message());
  // What comes back is asked for again by find, with everything else that is known of them.
  calls.exchange(publisher, *batch);
}

std::map<std::string, std::string> publish_properties(ServerCalls& calls,
                                                      const PublishRequest& publisher) {
  std::map<std::string, std::string> properties;
  const CallDeadline deadline = calls.deadline();
  const FlightEndpoints where = calls.get_info(publisher);
  for (const FlightEndpoint& endpoint : where.endpoints) {
    const auto rows = calls.open(endpoint, where.asked, "publish", deadline);
    while (const auto batch = rows->next()) add_properties(*batch, where.asked, properties);
  }
  return properties;
}

}
