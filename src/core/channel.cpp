#include "arrakis/channel.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "core/quote.hpp"
#include "core/wide_int.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr double kNsASecond = 1e9;

struct TypeName {
  std::string_view name;
  DataType type;
};

/// NumPy's names first, then its other spellings as x86-64 Linux reads them.
constexpr TypeName kTypeNames[] = {
    {"int8", DataType::int8},       {"int16", DataType::int16},      {"int32", DataType::int32},
    {"int64", DataType::int64},     {"uint8", DataType::uint8},      {"uint16", DataType::uint16},
    {"uint32", DataType::uint32},   {"uint64", DataType::uint64},    {"float32", DataType::float32},
    {"float64", DataType::float64}, {"i1", DataType::int8},          {"i2", DataType::int16},
    {"i4", DataType::int32},        {"i8", DataType::int64},         {"u1", DataType::uint8},
    {"u2", DataType::uint16},       {"u4", DataType::uint32},        {"u8", DataType::uint64},
    {"f4", DataType::float32},      {"f8", DataType::float64},       {"b", DataType::int8},
    {"h", DataType::int16},         {"i", DataType::int32},          {"l", DataType::int64},
    {"q", DataType::int64},         {"B", DataType::uint8},          {"H", DataType::uint16},
    {"I", DataType::uint32},        {"L", DataType::uint64},         {"Q", DataType::uint64},
    {"f", DataType::float32},       {"d", DataType::float64},        {"byte", DataType::int8},
    {"short", DataType::int16},     {"intc", DataType::int32},       {"int", DataType::int64},
    {"long", DataType::int64},      {"longlong", DataType::int64},   {"ubyte", DataType::uint8},
    {"ushort", DataType::uint16},   {"uintc", DataType::uint32},     {"uint", DataType::uint64},
    {"ulong", DataType::uint64},    {"ulonglong", DataType::uint64}, {"single", DataType::float32},
    {"double", DataType::float64},  {"float", DataType::float64},
};

/// Position of the last colon that may end a domain: a domain holds no line end.
std::size_t find_domain_end(std::string_view name) {
  const std::string_view first_line = name.substr(0, name.find('\n'));
  return first_line.rfind(':');
}

bool is_glob(std::string_view selector) {
  return selector.find_first_of("*?[") != std::string_view::npos;
}

template <typename T>
bool agree(const std::optional<T>& a, const std::optional<T>& b) {
  return !a || !b || *a == *b;
}

/// As agree, where an empty text says nothing.
bool agree_text(const std::optional<std::string>& a, const std::optional<std::string>& b) {
  return !a || !b || a->empty() || b->empty() || *a == *b;
}

/// 62500000 -> "62_500_000"
std::string with_separators(std::int64_t value) {
  constexpr std::size_t group = 3;
  std::string digits = fmt::format("{}", value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + group;) {
    at -= group;
    digits.insert(at, 1, '_');
  }
  return digits;
}

void append_field(std::string& out, std::string_view key, std::int64_t value) {
  fmt::format_to(std::back_inserter(out), ", {}={}", key, with_separators(value));
}

void append_field(std::string& out, std::string_view key, const std::string& value) {
  fmt::format_to(std::back_inserter(out), ", {}={}", key, quoted(value));
}

}  // namespace

std::string_view to_string(DataType type) {
  const auto* const found =
      std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                   [type](const TypeName& entry) { return entry.type == type; });
  return found == std::end(kTypeNames) ? std::string_view("unknown") : found->name;
}

std::optional<DataType> parse_data_type(std::string_view text) {
  // '<' little-endian, '=' native, '|' without byte order.
  if (!text.empty() && std::string_view("<=|").find(text.front()) != std::string_view::npos) {
    text.remove_prefix(1);
  }
  const auto* const found =
      std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                   [text](const TypeName& entry) { return entry.name == text; });
  if (found == std::end(kTypeNames)) return std::nullopt;
  return found->type;
}

SampleRate::SampleRate(double hz, bool integer_form) : hz_(hz), integer_form_(integer_form) {
  if (std::isfinite(hz) && hz > 0) return;
  throw Error(Errc::invalid_argument,
              fmt::format("a sample rate must be a finite number of Hz above zero, not {}", hz));
}

std::string SampleRate::to_string() const {
  if (integer_form_) return fmt::format("{:.0f}", hz_);
  std::string text = fmt::format("{}", hz_);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

Duration SampleRate::duration_of(std::uint64_t samples) const {
  constexpr std::uint64_t ns_in_second = 1'000'000'000;
  constexpr double limit = 9223372036854775808.0;  // 2^63
  const double ns = static_cast<double>(UInt128{samples} * ns_in_second) / hz_;
  if (ns >= limit) return Duration::max();
  return Duration(static_cast<std::int64_t>(ns));
}

std::uint64_t SampleRate::samples_in(Duration span) const {
  // The estimate is off by a sample or two: once for its own rounding, once because durations are
  // cut to whole nanoseconds, so that the n looked for is often the next one above. (Only spans of
  // more than 2^53 ns, 104 days, can be further off, where duration_of itself is coarser.)
  constexpr int max_steps = 4;
  constexpr long double limit = 18446744073709551616.0L;  // 2^64
  if (span <= Duration(0)) return 0;
  const long double estimate =
      static_cast<long double>(span.count()) * static_cast<long double>(hz_) / kNsASecond;
  if (estimate >= limit) return std::numeric_limits<std::uint64_t>::max();
  auto n = static_cast<std::uint64_t>(estimate);
  for (int i = 0; i < max_steps && n > 0 && duration_of(n) > span; ++i) --n;
  for (int i = 0; i < max_steps && duration_of(n) < span; ++i) {
    if (n == std::numeric_limits<std::uint64_t>::max() || duration_of(n + 1) > span) break;
    ++n;
  }
  return n;
}

// The grammar is the regular expression ^(.*):([^_-]*)(([_-])(.*))?$ where '.' takes no line end
// and '$' also stands before a line end that closes the text. An earlier colon than the last
// possible one never helps: what follows it would hold the same line ends.
std::optional<ChannelName> parse_channel_name(std::string_view name) {
  const std::size_t colon = find_domain_end(name);
  if (colon == std::string_view::npos) return std::nullopt;
  ChannelName parts;
  parts.domain = name.substr(0, colon);
  const std::string_view tail = name.substr(colon + 1);
  const std::size_t delimiter = tail.find_first_of("_-");
  parts.subsystem = tail.substr(0, delimiter);
  if (delimiter == std::string_view::npos) return parts;
  parts.delimiter = tail[delimiter];
  std::string_view rest = tail.substr(delimiter + 1);
  if (rest.ends_with('\n')) rest.remove_suffix(1);
  if (rest.find('\n') != std::string_view::npos) return std::nullopt;
  parts.rest = rest;
  return parts;
}

Channel::Channel(std::string name, DataType data_type, SampleRate sample_rate)
    : name_(std::move(name)), data_type_(data_type), sample_rate_(sample_rate) {
  if (parse_channel_name(name_)) return;
  throw Error(Errc::invalid_argument, fmt::format("invalid channel name format: {} is not "
                                                  "<domain>:<subsystem>[(-|_)<rest>]",
                                                  quoted(name_)));
}

ChannelName Channel::name_parts() const {
  // A moved-from channel has no name.
  return parse_channel_name(name_).value_or(ChannelName{});
}

bool matches(const Channel& a, const Channel& b) {
  return a.name() == b.name() && a.data_type() == b.data_type() &&
         a.sample_rate() == b.sample_rate() && agree(a.time, b.time) &&
         agree_text(a.publisher, b.publisher) && agree_text(a.partition_id, b.partition_id) &&
         agree(a.partition_index, b.partition_index) && agree(a.stride, b.stride) &&
         agree(a.max_latency, b.max_latency) && agree_text(a.replay_id, b.replay_id);
}

std::string describe(const Channel& channel) {
  std::string out = fmt::format("<{}, {} Hz, '{}'", channel.name(),
                                channel.sample_rate().to_string(), to_string(channel.data_type()));
  if (channel.time) append_field(out, "time", channel.time->ns());
  if (channel.publisher) append_field(out, "publisher", *channel.publisher);
  if (channel.partition_id) append_field(out, "partition_id", *channel.partition_id);
  if (channel.partition_index) append_field(out, "partition_index", *channel.partition_index);
  if (channel.stride) append_field(out, "stride", channel.stride->count());
  if (channel.max_latency) append_field(out, "max_latency", channel.max_latency->count());
  if (channel.replay_id) append_field(out, "replay_id", *channel.replay_id);
  out += '>';
  return out;
}

std::string topic_of(const Channel& channel) {
  if (!channel.partition_id) {
    throw Error(Errc::precondition,
                fmt::format("channel {} has no partition_id, so no topic", quoted(channel.name())));
  }
  if (!channel.replay_id) return fmt::format("arrakis-{}", *channel.partition_id);
  return fmt::format("arrakis-replay-{}-{}", *channel.replay_id, *channel.partition_id);
}

struct ChannelSet::Table {
  explicit Table(std::vector<Channel> all);

  std::vector<Channel> channels;
  /// The keys are views of the names in `channels`, which never changes.
  std::unordered_map<std::string_view, std::size_t> positions;
};

ChannelSet::Table::Table(std::vector<Channel> all) : channels(std::move(all)) {
  positions.reserve(channels.size());
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const std::string& name = channels[i].name();
    if (positions.emplace(name, i).second) continue;
    throw Error(Errc::invalid_argument,
                fmt::format("channel {} is there more than once", quoted(name)));
  }
}

ChannelSet::ChannelSet() = default;

ChannelSet::ChannelSet(std::vector<Channel> channels)
    : table_(std::make_shared<const Table>(std::move(channels))) {}

const std::vector<Channel>& ChannelSet::channels() const {
  static const std::vector<Channel> kNone;
  return table_ ? table_->channels : kNone;
}

std::optional<std::size_t> ChannelSet::find(std::string_view name) const {
  if (!table_) return std::nullopt;
  const auto found = table_->positions.find(name);
  if (found == table_->positions.end()) return std::nullopt;
  return found->second;
}

const Channel& ChannelSet::at(std::string_view name) const {
  if (const auto position = find(name)) return (*this)[*position];
  throw Error(Errc::not_found, fmt::format("no channel {}", quoted(name)));
}

ChannelSet ChannelSet::select(std::span<const std::string> selectors) const {
  std::vector<bool> taken(size(), false);
  std::vector<Channel> selected;
  const auto take = [&](std::size_t position) {
    if (taken[position]) return;
    taken[position] = true;
    selected.push_back((*this)[position]);
  };
  for (const std::string& selector : selectors) {
    if (const auto position = find(selector)) {
      take(*position);
      continue;
    }
    bool matched = false;
    if (is_glob(selector)) {
      for (std::size_t i = 0; i < size(); ++i) {
        if (::fnmatch(selector.c_str(), (*this)[i].name().c_str(), FNM_NOESCAPE) != 0) continue;
        matched = true;
        take(i);
      }
    }
    if (!matched) {
      throw Error(Errc::not_found, fmt::format("no channel matches {}", quoted(selector)));
    }
  }
  return ChannelSet(std::move(selected));
}

}  // namespace arrakis::inline v1
