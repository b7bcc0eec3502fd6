#include "files/file_schema.hpp"

#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrakis/arrow.hpp"
#include "arrakis/json.hpp"
#include "core/quote.hpp"
#include "wire/arrow_types.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr std::string_view kTimeColumn = "time";
constexpr std::string_view kChannelKey = "arrakis.channel.";

[[noreturn]] void refuse(const std::string& column, std::string_view why) {
  throw Error(Errc::decode, fmt::format("column {}: {}", arrakis::quoted(column), why));
}

std::optional<std::string> value_of(const arrow::KeyValueMetadata* metadata, std::string_view key) {
  if (metadata == nullptr) return std::nullopt;
  const int place = metadata->FindKey(key);
  return place < 0 ? std::nullopt : std::optional(metadata->value(place));
}

DataType list_type(const arrow::Field& field) {
  const arrow::DataType& type = *field.type();
  std::optional<DataType> samples;
  if (type.id() == arrow::Type::LIST || type.id() == arrow::Type::LARGE_LIST) {
    samples = sample_type(*type.field(0)->type());
  }
  if (!samples) {
    refuse(field.name(),
           fmt::format("it is {}, not a list of samples", arrakis::quoted(type.ToString())));
  }
  return *samples;
}

SampleRate rate_of(const arrow::Field& field) {
  const std::optional<std::string> text = value_of(field.metadata().get(), "rate");
  if (!text) refuse(field.name(), "nothing says its sample rate");
  const char* const end = text->data() + text->size();
  std::uint64_t whole = 0;
  if (const auto read = std::from_chars(text->data(), end, whole);
      read.ec == std::errc() && read.ptr == end && whole > 0) {
    return SampleRate(whole);
  }
  double hz = 0;
  const auto read = std::from_chars(text->data(), end, hz);
  if (read.ec != std::errc() || read.ptr != end || !(hz > 0) || !std::isfinite(hz)) {
    refuse(field.name(), fmt::format("its rate is {}, not a number of samples a second above zero",
                                     arrakis::quoted(*text)));
  }
  return SampleRate(hz);
}

Channel described_channel(const arrow::Field& field, const std::string& json, DataType type) {
  std::optional<Channel> channel;
  try {
    channel = channel_from_json(json);
  } catch (const Error& error) {
    refuse(field.name(), fmt::format("its description can't be read: {}", error.what()));
  }
  if (channel->name() != field.name()) {
    refuse(field.name(), fmt::format("it is described as {}", arrakis::quoted(channel->name())));
  }
  if (channel->data_type() != type) {
    refuse(field.name(), fmt::format("it holds {} samples, its description says {}",
                                     to_string(type), to_string(channel->data_type())));
  }
  return *std::move(channel);
}

Channel channel_of(const arrow::Field& field, const arrow::KeyValueMetadata* metadata) {
  const DataType type = list_type(field);
  const std::optional<std::string> json =
      value_of(metadata, std::string(kChannelKey) + field.name());
  if (json) return described_channel(field, *json, type);
  if (!parse_channel_name(field.name())) refuse(field.name(), "that is not a channel's name");
  return {field.name(), type, rate_of(field)};
}

}  // namespace

std::shared_ptr<arrow::Schema> file_schema(const ChannelSet& channels) {
  auto metadata = std::make_shared<arrow::KeyValueMetadata>();
  for (const Channel& channel : channels) {
    metadata->Append(std::string(kChannelKey) + channel.name(), to_json(channel));
  }
  return column_schema(channels)->WithMetadata(std::move(metadata));
}

ChannelSet channels_of(const arrow::Schema& schema) {
  std::vector<Channel> channels;
  bool has_time = false;
  for (const std::shared_ptr<arrow::Field>& field : schema.fields()) {
    if (field->name() == kTimeColumn) {
      has_time = true;
    } else {
      channels.push_back(channel_of(*field, schema.metadata().get()));
    }
  }
  if (!has_time) throw Error(Errc::decode, "there is no column 'time': these are no blocks");
  try {
    return ChannelSet(std::move(channels));
  } catch (const Error& error) {
    throw Error(Errc::decode, error.what());
  }
}

}  // namespace arrakis::inline v1
