#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <istream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
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

template <typename T>
requires std::is_integral_v<T>
void append_number(std::string& out, T value) {
  const fmt::format_int text(value);
  out.append(text.data(), text.size());
}

// The shortest decimal that reads back to the same double, always with a point or an exponent.
void append_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  constexpr std::size_t kLongest = 32;
  char text[kLongest];
  const std::string_view written(text, fmt::format_to(text, "{}", value));
  out += written;
  if (written.find_first_of(".e") == std::string_view::npos) out += ".0";
}

class ChannelWriter {
 public:
  ChannelWriter(std::string& out, NullFields nulls) : out_(out), nulls_(nulls), object_(out) {}

  void write(const Channel& channel) {
    object_.key("name");
    append_json_string(out_, channel.name());
    object_.key("data_type");
    append_json_string(out_, to_string(channel.data_type()));
    object_.key("sample_rate");
    out_ += channel.sample_rate().to_string();
    field("time", channel.time);
    field("publisher", channel.publisher);
    field("partition_id", channel.partition_id);
    field("partition_index", channel.partition_index);
    field("stride", channel.stride);
    field("max_latency", channel.max_latency);
    field("replay_id", channel.replay_id);
    object_.close();
  }

 private:
  template <typename T>
  void field(std::string_view name, const std::optional<T>& value) {
    if (!value && nulls_ == NullFields::omitted) return;
    object_.key(name);
    if (value) {
      append_value(*value);
    } else {
      out_ += "null";
    }
  }
  void append_value(const std::string& text) { append_json_string(out_, text); }
  void append_value(std::uint32_t number) { append_number(out_, number); }
  void append_value(Duration duration) { append_number(out_, duration.count()); }
  void append_value(GpsTime time) { append_number(out_, time.ns()); }

  std::string& out_;
  NullFields nulls_;
  JsonObjectWriter object_;
};

template <typename T>
void append_samples(std::string& out, const Series& series) {
  // int8 is a char to most formatters; a float32 is written as the double it equals.
  using Written =
      std::conditional_t<std::is_floating_point_v<T>, double,
                         std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
  const std::span<const T> values = series.values<T>();
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != 0) out += ", ";
    if (series.is_gap(i)) {
      out += "null";
    } else {
      append_number(out, static_cast<Written>(values[i]));
    }
  }
  out += ']';
}

void append_samples(std::string& out, const Series& series) {
  visit_type(series.channel().data_type(), [&]<typename T>(T) { append_samples<T>(out, series); });
}

[[noreturn]] void throw_invalid(const std::string& message) {
  throw Error(Errc::invalid_argument, message);
}

// One object's fields by name; what is wrong with one is said with the channel's name.
class FieldReader {
 public:
  explicit FieldReader(const json& object) : object_(object) {
    if (!object.is_object()) {
      throw_invalid(fmt::format("a channel is a JSON object, not {}", json_excerpt(object)));
    }
    const auto name = object.find("name");
    if (name != object.end() && name->is_string()) name_ = name->get<std::string>();
  }

  [[nodiscard]] std::string required_text(const char* key) const {
    return text_of(key, required(key));
  }
  [[nodiscard]] std::optional<std::string> text(const char* key) const {
    const json* value = find(key);
    return value == nullptr ? std::nullopt : std::optional(text_of(key, *value));
  }

  [[nodiscard]] DataType data_type() const {
    const std::string text = required_text("data_type");
    const std::optional<DataType> type = parse_data_type(text);
    if (!type) fail("data_type", "the name of a sample type", json(text));
    return *type;
  }
  [[nodiscard]] SampleRate sample_rate() const {
    const char* const key = "sample_rate";
    const json& value = required(key);
    const bool is_positive = value.is_number() && value.get<double>() > 0;
    if (!is_positive || !std::isfinite(value.get<double>())) {
      fail(key, "a number of samples a second above zero", value);
    }
    // The text of a greater integer need not be one that JSON readers take for an integer.
    const bool keeps_integer_form =
        value.is_number_unsigned() && value.get<double>() <= kGreatestExactDouble;
    if (keeps_integer_form) return SampleRate(value.get<std::uint64_t>());
    return SampleRate(value.get<double>());
  }

  [[nodiscard]] std::optional<GpsTime> time(const char* key) const {
    const auto ns = integer(key, std::numeric_limits<std::int64_t>::min(),
                            std::numeric_limits<std::int64_t>::max());
    return ns ? std::optional(GpsTime::from_ns(*ns)) : std::nullopt;
  }
  [[nodiscard]] std::optional<Duration> duration(const char* key) const {
    const auto ns = integer(key, 0, std::numeric_limits<std::int64_t>::max());
    return ns ? std::optional(Duration(*ns)) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint32_t> index(const char* key) const {
    const auto value = integer(key, 0, std::numeric_limits<std::uint32_t>::max());
    return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw_invalid(name_ ? fmt::format("channel {}: {}", arrakis::quoted(*name_), what) : what);
  }

 private:
  // nullptr where it is absent or null.
  [[nodiscard]] const json* find(const char* key) const {
    const auto it = object_.find(key);
    return it == object_.end() || it->is_null() ? nullptr : &*it;
  }
  [[nodiscard]] const json& required(const char* key) const {
    const json* value = find(key);
    if (value == nullptr) fail(fmt::format("'{}' is missing", key));
    return *value;
  }
  [[noreturn]] void fail(const char* key, std::string_view expected, const json& value) const {
    fail(fmt::format("'{}' must be {}, not {}", key, expected, json_excerpt(value)));
  }
  [[nodiscard]] std::string text_of(const char* key, const json& value) const {
    if (!value.is_string()) fail(key, "a string", value);
    return value.get<std::string>();
  }

  // Whole reals ("62500000.0") count as integers: programs that keep columns of numbers with holes
  // write them so.
  [[nodiscard]] std::optional<std::int64_t> integer(const char* key, std::int64_t least,
                                                    std::int64_t greatest) const {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    const std::optional<std::int64_t> number = json_integer(*value);
    if (!number || *number < least || *number > greatest) {
      fail(key, fmt::format("an integer from {} to {}", least, greatest), *value);
    }
    return number;
  }
  const json& object_;
  std::optional<std::string> name_;
};

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\v\f") == std::string_view::npos;
}

}

nlohmann::json parse_json(std::string_view text) {
  try {
    return json::parse(text.begin(), text.end());
  } catch (const json::parse_error& error) {
    throw_invalid(fmt::format("not valid JSON (at byte {})", error.byte));
  } catch (const json::out_of_range&) {
    throw_invalid("a number in it is greater than any that a double holds");
  }
}

Channel channel_of(const json& object) {
  const FieldReader fields(object);
  const std::string name = fields.required_text("name");
  if (!parse_channel_name(name)) {
    fields.fail("the name does not have the form '<domain>:<subsystem>[(-|_)<rest>]'");
  }
  const DataType type = fields.data_type();
  Channel channel(name, type, fields.sample_rate());
  channel.time = fields.time("time");
  channel.publisher = fields.text("publisher");
  channel.partition_id = fields.text("partition_id");
  channel.partition_index = fields.index("partition_index");
  channel.stride = fields.duration("stride");
  channel.max_latency = fields.duration("max_latency");
  channel.replay_id = fields.text("replay_id");
  // Stores without nulls keep "live" as an empty replay.
  if (channel.replay_id && channel.replay_id->empty()) channel.replay_id.reset();
  return channel;
}

std::string to_json(const Channel& channel, NullFields nulls) {
  std::string out;
  ChannelWriter(out, nulls).write(channel);
  return out;
}

Channel channel_from_json(std::string_view text) { return channel_of(parse_json(text)); }

std::vector<Channel> read_channels(std::istream& lines, std::string_view origin) {
  std::vector<Channel> channels;
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (is_blank(line)) continue;
    try {
      channels.push_back(channel_from_json(line));
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}:{}: {}", origin, number, error.what()));
    }
  }
  if (lines.bad()) throw Error(Errc::io, fmt::format("{} could not be read", origin));
  return channels;
}

std::string to_json(const SeriesBlock& block) {
  std::string out;
  JsonObjectWriter object(out);
  object.key("time_ns");
  append_number(out, block.time().ns());

  object.key("data");
  JsonObjectWriter data(out);
  for (std::size_t i = 0; i < block.size(); ++i) {
    data.key(block.channels()[i].name());
    append_samples(out, block.at(i));
  }
  data.close();

  object.key("channels");
  JsonObjectWriter channels(out);
  for (const Channel& channel : block.channels()) {
    channels.key(channel.name());
    ChannelWriter(out, NullFields::omitted).write(channel);
  }
  channels.close();

  object.key("_duration_ns");
  append_number(out, block.duration().count());
  object.close();
  return out;
}

}  // namespace arrakis::inline v1
