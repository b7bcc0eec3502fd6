#pragma once

/// Channels: what a timeseries is called, how it is sampled, and where it travels.
///
/// Values; safe to share between threads when not modified. @since 0.1

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "arrakis/error.hpp"
#include "arrakis/export.hpp"
#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

/// The sample types that travel; named as NumPy names them.
enum class DataType : std::uint8_t {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
};

/// "float32"
ARRAKIS_API std::string_view to_string(DataType type);
/// Reads a type's name, or one of NumPy's other spellings of it ("f4", "<f8", "double"). Nothing
/// for what can't travel (float16, bool, complex, big-endian).
ARRAKIS_API std::optional<DataType> parse_data_type(std::string_view text);
/// Bytes a sample.
constexpr std::size_t size_of(DataType type) {
  switch (type) {
    case DataType::int8:
    case DataType::uint8:
      return 1;
    case DataType::int16:
    case DataType::uint16:
      return 2;
    case DataType::int32:
    case DataType::uint32:
    case DataType::float32:
      return 4;
    case DataType::int64:
    case DataType::uint64:
    case DataType::float64:
      return 8;
  }
  return 0;
}

/// Calls `f(T{})` with the C++ type of `type` and returns its result.
template <typename F>
constexpr decltype(auto) visit_type(DataType type, F&& f) {
  switch (type) {
    case DataType::int8:
      return f(std::int8_t{});
    case DataType::int16:
      return f(std::int16_t{});
    case DataType::int32:
      return f(std::int32_t{});
    case DataType::int64:
      return f(std::int64_t{});
    case DataType::uint8:
      return f(std::uint8_t{});
    case DataType::uint16:
      return f(std::uint16_t{});
    case DataType::uint32:
      return f(std::uint32_t{});
    case DataType::uint64:
      return f(std::uint64_t{});
    case DataType::float32:
      return f(float{});
    case DataType::float64:
      break;
  }
  return f(double{});
}

/// The DataType of a C++ sample type: data_type_of<float>() == DataType::float32.
template <typename T>
consteval DataType data_type_of() {
  if constexpr (std::is_same_v<T, float>) {
    return DataType::float32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DataType::float64;
  } else {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>, "not a sample type");
    constexpr bool is_signed = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1) {
      return is_signed ? DataType::int8 : DataType::uint8;
    } else if constexpr (sizeof(T) == 2) {
      return is_signed ? DataType::int16 : DataType::uint16;
    } else if constexpr (sizeof(T) == 4) {
      return is_signed ? DataType::int32 : DataType::uint32;
    } else {
      return is_signed ? DataType::int64 : DataType::uint64;
    }
  }
}

/// Samples a second (Hz), > 0 and finite. Remembers whether it was written as an integer ("16") or
/// a real ("16.0"), because metadata must be written back the same way; equality ignores that.
/// Rates below 1 Hz and fractions are exact here and in JSON; Arrow metadata columns cut them to
/// int32.
class ARRAKIS_API SampleRate {
 public:
  /// Throws Error(invalid_argument) unless hz > 0 and finite.
  template <typename T>
  requires std::is_integral_v<T>
  explicit SampleRate(T hz) : SampleRate(static_cast<double>(hz), true) {}
  explicit SampleRate(double hz) : SampleRate(hz, false) {}

  [[nodiscard]] double hz() const { return hz_; }
  /// Whether it was written as an integer.
  [[nodiscard]] bool is_integer_form() const { return integer_form_; }
  /// "16" or "16.0": the form it came in, shortest exact decimal.
  [[nodiscard]] std::string to_string() const;

  /// trunc(samples * 1e9 / hz) with one division, as every peer computes it.
  [[nodiscard]] Duration duration_of(std::uint64_t samples) const;
  /// How many samples fill `span`: the n with duration_of(n) == span where there is one, else the
  /// greatest that fits. 1 for 333333333 ns at 3 Hz; 0 for a negative span.
  [[nodiscard]] std::uint64_t samples_in(Duration span) const;

  friend bool operator==(const SampleRate& a, const SampleRate& b) { return a.hz_ == b.hz_; }

 private:
  SampleRate(double hz, bool integer_form);

  double hz_;
  bool integer_form_;
};

/// The parts of a channel name "<domain>:<subsystem>[(-|_)<rest>]"; views into the name given.
/// The domain runs to the last colon after which the grammar still holds.
struct ChannelName {
  std::string_view domain;
  std::string_view subsystem;
  std::optional<char> delimiter;
  std::optional<std::string_view> rest;
};
/// Nothing when `name` is not a channel name (it has no colon).
ARRAKIS_API std::optional<ChannelName> parse_channel_name(std::string_view name);

/// A channel's description. Name, type and rate are always there and can't change; the rest is
/// plain data, there when somebody said so.
class ARRAKIS_API Channel {
 public:
  /// Throws Error(invalid_argument) that quotes the name when it does not follow the grammar.
  Channel(std::string name, DataType data_type, SampleRate sample_rate);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] DataType data_type() const { return data_type_; }
  [[nodiscard]] SampleRate sample_rate() const { return sample_rate_; }
  [[nodiscard]] ChannelName name_parts() const;

  std::optional<GpsTime> time;                   ///< from when this description is valid
  std::optional<std::string> publisher;          ///< who writes it
  std::optional<std::string> partition_id;       ///< names its Kafka topic
  std::optional<std::uint32_t> partition_index;  ///< its row id in that topic's messages
  std::optional<Duration> stride;                ///< length of a published block
  std::optional<Duration> max_latency;           ///< how late a block may be published
  std::optional<std::string> replay_id;          ///< the replay it belongs to; none: live

 private:
  std::string name_;
  DataType data_type_;
  SampleRate sample_rate_;
};

/// Whether both describe the same channel: name, type and rate equal, and every optional field that
/// both define equal. An empty string counts as undefined, a zero as defined. Not transitive.
ARRAKIS_API bool matches(const Channel& a, const Channel& b);
/// A line for logs and messages: "<H1:A-B, 16 Hz, 'int32', publisher='P', stride=62_500_000>".
ARRAKIS_API std::string describe(const Channel& channel);
/// "arrakis-<partition_id>", or "arrakis-replay-<replay_id>-<partition_id>" in a replay. Throws
/// Error(precondition) that names the channel when it has no partition_id.
ARRAKIS_API std::string topic_of(const Channel& channel);

/// An immutable list of channels with distinct names, in the order given. Copies share one table;
/// look-up by name is O(1) and allocates nothing. A channel and its replay have one name, so they
/// can't be in one set. Safe from any thread.
class ARRAKIS_API ChannelSet {
 public:
  using value_type = Channel;
  using const_iterator = std::vector<Channel>::const_iterator;

  ChannelSet();
  /// Throws Error(invalid_argument) when a name comes twice.
  explicit ChannelSet(std::vector<Channel> channels);

  [[nodiscard]] std::size_t size() const { return channels().size(); }
  [[nodiscard]] bool empty() const { return channels().empty(); }
  [[nodiscard]] const_iterator begin() const { return channels().begin(); }
  [[nodiscard]] const_iterator end() const { return channels().end(); }
  [[nodiscard]] const Channel& operator[](std::size_t index) const { return channels()[index]; }
  [[nodiscard]] const std::vector<Channel>& channels() const;
  /// Its position, or nothing.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const { return find(name).has_value(); }
  /// Throws Error(not_found) that names it.
  [[nodiscard]] const Channel& at(std::string_view name) const;

  /// The channels that `selectors` name, each once, in the order of the selectors: an exact name,
  /// or a glob when it holds '*', '?' or '['. Throws Error(not_found) that quotes a selector
  /// without a match.
  [[nodiscard]] ChannelSet select(std::span<const std::string> selectors) const;
  [[nodiscard]] ChannelSet select(std::initializer_list<std::string> selectors) const {
    return select(std::span(selectors.begin(), selectors.size()));
  }

  /// Whether both share one table; cheap, may be false for equal sets.
  [[nodiscard]] bool same_table(const ChannelSet& other) const { return table_ == other.table_; }

 private:
  struct Table;
  std::shared_ptr<const Table> table_;
};

}  // namespace arrakis::inline v1
