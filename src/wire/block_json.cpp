#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrakis/json.hpp"
#include "core/quote.hpp"
#include "wire/json_text.hpp"
#include "wire/json_value.hpp"

namespace arrakis::inline v1 {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(Errc::invalid_argument, message);
}

const json& member(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) refuse(fmt::format("'{}' is missing", key));
  return *found;
}

const json& object_member(const json& object, const char* key) {
  const json& value = member(object, key);
  if (!value.is_object()) {
    refuse(fmt::format("'{}' must be an object, not {}", key, json_excerpt(value)));
  }
  return value;
}

GpsTime time_of(const json& object) {
  const json& value = member(object, "time_ns");
  const bool fits =
      value.is_number_integer() &&
      (!value.is_number_unsigned() ||
       value.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()});
  if (!fits)
    refuse(fmt::format("'time_ns' must be whole nanoseconds, not {}", json_excerpt(value)));
  return GpsTime::from_ns(value.get<std::int64_t>());
}

template <typename T>
bool is_sample(const json& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value.is_number() && std::abs(value.get<double>()) <= std::numeric_limits<T>::max();
  } else if (value.is_number_unsigned()) {
    return std::in_range<T>(value.get<std::uint64_t>());
  } else {
    return value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
  }
}

template <typename T>
void set_samples(BlockBuilder& builder, const Channel& channel, const json& values) {
  if (!values.is_array()) {
    refuse(fmt::format("channel {}: its samples must be an array, not {}",
                       arrakis::quoted(channel.name()), json_excerpt(values)));
  }
  std::vector<T> samples;
  std::vector<bool> gaps;
  samples.reserve(values.size());
  gaps.reserve(values.size());
  for (const json& value : values) {
    gaps.push_back(value.is_null());
    if (!value.is_null() && !is_sample<T>(value)) {
      refuse(fmt::format("channel {}: sample {} must be null or a number that fits {}, not {}",
                         arrakis::quoted(channel.name()), samples.size(),
                         to_string(channel.data_type()), json_excerpt(value)));
    }
    samples.push_back(value.is_null() ? T{} : value.get<T>());
  }
  builder.set<T>(channel.name(), samples, gaps);
}

ChannelSet channels_of(const json& described) {
  std::vector<Channel> channels;
  channels.reserve(described.size());
  for (const auto& [name, description] : described.items()) {
    channels.push_back(channel_of(description));
    if (channels.back().name() != name) {
      refuse(fmt::format("channel {} is described as {}", arrakis::quoted(name),
                         arrakis::quoted(channels.back().name())));
    }
  }
  return ChannelSet(std::move(channels));
}

}  // namespace

SeriesBlock block_from_json(std::string_view text) {
  const json object = parse_json(text);
  if (!object.is_object())
    refuse(fmt::format("a block is an object, not {}", json_excerpt(object)));
  const ChannelSet channels = channels_of(object_member(object, "channels"));
  const json& data = object_member(object, "data");
  for (const auto& [name, values] : data.items()) {
    if (!channels.contains(name)) {
      refuse(fmt::format("channel {} has samples and no description", arrakis::quoted(name)));
    }
  }
  BlockBuilder builder(time_of(object), channels);
  for (const Channel& channel : channels) {
    const auto values = data.find(channel.name());
    if (values == data.end()) {
      refuse(fmt::format("channel {} has a description and no samples",
                         arrakis::quoted(channel.name())));
    }
    visit_type(channel.data_type(),
               [&]<typename T>(T) { set_samples<T>(builder, channel, *values); });
  }
  try {
    return builder.build();
  } catch (const Error& error) {
    refuse(error.what());
  }
}

}  // namespace arrakis::inline v1
