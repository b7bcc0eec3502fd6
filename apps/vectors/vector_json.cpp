#include "vectors/vector_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "arrakis/json.hpp"
#include "vectors/compare.hpp"
#include "wire/block_data.hpp"

namespace arrakis::vectors {
namespace {

[[noreturn]] void malformed(const std::string& what, const Json& value) {
  throw std::runtime_error(fmt::format("malformed: {}, not {}", what, shown(value)));
}

const Json* find_value(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

double real_of(const Json& sample) {
  if (sample.is_number()) return sample.get<double>();
  if (sample == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (sample == "Infinity") return std::numeric_limits<double>::infinity();
  if (sample == "-Infinity") return -std::numeric_limits<double>::infinity();
  malformed(R"(a sample is a number, "NaN", "Infinity" or "-Infinity")", sample);
}

template <typename T>
T sample_of(const Json& sample) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(real_of(sample));
  } else {
    if (sample.is_number_unsigned() && std::in_range<T>(sample.get<std::uint64_t>())) {
      return static_cast<T>(sample.get<std::uint64_t>());
    }
    if (sample.is_number_integer() && !sample.is_number_unsigned() &&
        std::in_range<T>(sample.get<std::int64_t>())) {
      return static_cast<T>(sample.get<std::int64_t>());
    }
    malformed("a sample is an integer of the channel's type", sample);
  }
}

template <typename T>
Json sample_json(T sample) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(sample)) return "NaN";
    if (std::isinf(sample)) return sample > 0 ? "Infinity" : "-Infinity";
    return static_cast<double>(sample);
  } else {
    return sample;
  }
}

}  // namespace

std::int64_t integer_of(const Json& value) {
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<std::int64_t>(value.get<std::uint64_t>())
                        : value.is_number_integer();
  if (!fits) malformed("an integer was expected", value);
  return value.get<std::int64_t>();
}

std::int64_t integer_at(const Json& object, const char* key) { return integer_of(object.at(key)); }

std::optional<std::int64_t> optional_integer_at(const Json& object, const char* key) {
  const Json* value = find_value(object, key);
  if (value == nullptr) return {};
  return integer_of(*value);
}

GpsTime time_at(const Json& object, const char* key) {
  return GpsTime::from_ns(integer_at(object, key));
}

std::optional<GpsTime> optional_time_at(const Json& object, const char* key) {
  const std::optional<std::int64_t> ns = optional_integer_at(object, key);
  if (!ns) return {};
  return GpsTime::from_ns(*ns);
}

Duration duration_at(const Json& object, const char* key) {
  return Duration(integer_at(object, key));
}

Duration positive_duration_at(const Json& object, const char* key) {
  const Duration duration = duration_at(object, key);
  if (duration <= Duration::zero()) malformed("a duration above zero was expected", object.at(key));
  return duration;
}

std::optional<Duration> optional_duration_at(const Json& object, const char* key) {
  const std::optional<std::int64_t> ns = optional_integer_at(object, key);
  if (!ns) return {};
  return Duration(*ns);
}

std::string string_at(const Json& object, const char* key) {
  return object.at(key).get<std::string>();
}

std::optional<std::string> optional_string_at(const Json& object, const char* key) {
  const Json* value = find_value(object, key);
  if (value == nullptr) return {};
  return value->get<std::string>();
}

bool bool_at(const Json& object, const char* key) { return object.at(key).get<bool>(); }

SampleRate rate_of(const Json& value) {
  if (value.is_number_integer()) return SampleRate(integer_of(value));
  return SampleRate(value.get<double>());
}

Json optional_ns(std::optional<GpsTime> time) { return time ? Json(time->ns()) : Json(); }

ChannelSet channels_of(const Json& list) {
  std::vector<Channel> channels;
  for (const Json& item : list) channels.push_back(channel_from_json(item.dump()));
  return ChannelSet(std::move(channels));
}

void set_samples(BlockBuilder& builder, const Channel& channel, const Json& samples) {
  if (!samples.is_array()) malformed("a list of samples was expected", samples);
  const std::size_t size = samples.size();
  const auto gaps = std::make_unique<bool[]>(size);
  visit_type(channel.data_type(), [&]<typename T>(T /*type*/) {
    std::vector<T> values(size);
    for (std::size_t i = 0; i < size; ++i) {
      gaps[i] = samples[i].is_null();
      if (!gaps[i]) values[i] = sample_of<T>(samples[i]);
    }
    builder.set<T>(channel.name(), values, std::span<const bool>(gaps.get(), size));
  });
}

Json samples_json(const Series& series) {
  Json list = Json::array();
  visit_type(series.channel().data_type(), [&]<typename T>(T /*type*/) {
    const std::span<const T> values = series.values<T>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      list.push_back(series.is_gap(i) ? Json() : sample_json(values[i]));
    }
  });
  return list;
}

Json block_json(const SeriesBlock& block) {
  Json data = Json::object();
  for (std::size_t i = 0; i < block.size(); ++i) {
    data[block.channels()[i].name()] = samples_json(block.at(i));
  }
  return {{"time_ns", block.time().ns()},
          {"duration_ns", block.duration().count()},
          {"data", std::move(data)}};
}

Json part_json(const BlockPartPtr& part, const ChannelSet& channels) {
  const auto layout = std::make_shared<const BlockLayout>(std::vector<ChannelSet>{channels});
  const PartSlot slot{part->time(), part->duration(), part};
  Json block = block_json(make_block(layout, part->time(), part->duration(), {{slot}}));
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (!part->samples(i).present) block["data"].erase(channels[i].name());
  }
  return block;
}

void drop_absent_channels(Json& block, const Json& expected) {
  const Json* expected_data = find_value(expected, "data");
  if (expected_data == nullptr || !block.contains("data")) return;
  Json kept = Json::object();
  for (const auto& [name, samples] : block["data"].items()) {
    const bool is_all_gap = std::ranges::all_of(samples, [](const Json& s) { return s.is_null(); });
    if (expected_data->contains(name) || !is_all_gap) kept[name] = samples;
  }
  block["data"] = std::move(kept);
}

bool expects_failure(const Json& expect) { return expect.is_object() && expect.contains("raises"); }

Json raises(const char* name) { return {{"raises", name}}; }

}  // namespace arrakis::vectors
