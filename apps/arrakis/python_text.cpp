#include "python_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/text.hpp"

namespace arrakis::cli {
namespace {

constexpr std::string_view kMasked = "--";
constexpr std::string_view kSeparator = ", ";
constexpr std::string_view kEllipsis = "...";
/// NumPy's print options.
constexpr std::size_t kLineWidth = 75;
constexpr std::size_t kThreshold = 1000;
constexpr std::size_t kEdgeItems = 3;
constexpr int kPrecision = 8;
/// From here down arrays are written with exponents.
constexpr double kLeastPositional = 1e-4;
/// Arrays whose greatest value is more times the least are, too.
constexpr double kGreatestRatio = 1000;
/// The width of the pprint module.
constexpr std::size_t kPageWidth = 80;

/// From here up NumPy writes an array, or a single value, with exponents.
template <typename T>
constexpr double kArrayCutoff = std::is_same_v<T, float> ? 1e6 : 1e8;
template <typename T>
constexpr double kScalarCutoff = std::is_same_v<T, float> ? 1e6 : 1e16;

/// Enough for any double written out.
constexpr std::size_t kLongestNumber = 400;

template <typename T>
std::string shortest(T value, std::chars_format format) {
  char text[kLongestNumber];
  const auto result = std::to_chars(std::begin(text), std::end(text), value, format);
  return {text, result.ptr};
}

template <typename T>
std::string special_text(T value) {
  if (std::isnan(value)) return "nan";
  return value < 0 ? "-inf" : "inf";
}

/// A real as Python writes it: with exponents from `cutoff` up and below 0.0001, else with a point.
template <typename T>
std::string real_str(T value, double cutoff) {
  if (!std::isfinite(value)) return special_text(value);
  const double magnitude = std::abs(static_cast<double>(value));
  if (magnitude != 0 && (magnitude >= cutoff || magnitude < kLeastPositional)) {
    return shortest(value, std::chars_format::scientific);
  }
  std::string text = shortest(value, std::chars_format::fixed);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

template <typename T>
std::string value_str(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return real_str(value, kScalarCutoff<T>);
  } else {
    return fmt::format("{:d}", value);
  }
}

/// The samples of which something is shown: all, or the first and the last ones.
struct Shown {
  std::vector<std::size_t> indices;
  std::size_t before_ellipsis = 0;  ///< of those; all of them when there is none
};

Shown shown_of(std::size_t size, std::size_t threshold, std::size_t edge_items) {
  Shown shown;
  const bool summary = size > threshold && size > 2 * edge_items;
  shown.before_ellipsis = summary ? edge_items : size;
  for (std::size_t i = 0; i < shown.before_ellipsis; ++i) shown.indices.push_back(i);
  if (!summary) return shown;
  for (std::size_t i = size - edge_items; i < size; ++i) shown.indices.push_back(i);
  return shown;
}

/// `word(index)` of what is shown, with the ellipsis in its place.
std::vector<std::string> words_of(const Shown& shown,
                                  const std::function<std::string(std::size_t)>& word) {
  std::vector<std::string> words;
  for (std::size_t n = 0; n < shown.indices.size(); ++n) {
    if (n == shown.before_ellipsis) words.emplace_back(kEllipsis);
    words.push_back(word(shown.indices[n]));
  }
  return words;
}

/// Words between brackets, on lines as NumPy breaks them: a word that would go beyond the width
/// begins a new line, indented to the first word. `prefix` characters stand before the bracket.
std::string bracketed(const std::vector<std::string>& words, std::size_t prefix, Lines lines) {
  // One for the bracket or comma after a word, one for what follows the closing bracket.
  constexpr std::size_t kWidth = kLineWidth - 2;
  const std::string indent(prefix + 1, ' ');
  std::string text;
  std::string line = indent;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool fits = line.size() + words[i].size() <= kWidth || line.size() <= indent.size();
    if (lines == Lines::wrapped && !fits) {
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
      line = indent;
    }
    line += words[i];
    if (i + 1 < words.size()) line += kSeparator;
  }
  text += line;
  return "[" + text.substr(indent.size()) + "]";
}

/// Integers of equal width.
template <typename T>
std::vector<std::string> aligned_words(std::span<const T> values,
                                       const Shown& shown) requires std::is_integral_v<T> {
  std::size_t width = 0;
  for (const std::size_t i : shown.indices) width = std::max(width, value_str(values[i]).size());
  return words_of(
      shown, [&](std::size_t i) { return fmt::format("{:>{}}", value_str(values[i]), width); });
}

/// A real's text, cut at its point and its exponent.
struct Real {
  std::string whole, fraction, exponent;  ///< exponent: "e+08", or empty
  bool special = false;                   ///< all of it in `whole`
};

/// The decimals of a real: as many as tell it from its neighbours, at most eight.
template <typename T>
std::string decimals(T value, std::chars_format format) {
  std::string text = shortest(value, format);
  const std::size_t point = text.find('.');
  const std::size_t exponent = std::min(text.find('e'), text.size());
  if (point == std::string::npos || exponent - point - 1 <= std::size_t{kPrecision}) return text;
  const char* const type = format == std::chars_format::fixed ? "{:.{}f}" : "{:.{}e}";
  text = fmt::format(fmt::runtime(type), static_cast<double>(value), kPrecision);
  const std::size_t end = std::min(text.find('e'), text.size());
  const std::size_t last = text.find_last_not_of('0', end - 1);
  return text.erase(last + 1, end - last - 1);
}

template <typename T>
Real real_of(T value, std::chars_format format) {
  if (!std::isfinite(value)) return {special_text(value), {}, {}, true};
  std::string text = decimals(value, format);
  Real real;
  if (const std::size_t e = text.find('e'); e != std::string::npos) {
    real.exponent = text.substr(e);
    text.erase(e);
  }
  const std::size_t point = text.find('.');
  real.whole = text.substr(0, point);
  if (point != std::string::npos) real.fraction = text.substr(point + 1);
  return real;
}

template <typename T>
bool needs_exponents(std::span<const T> values, const Shown& shown) {
  double least = std::numeric_limits<double>::infinity();
  double greatest = 0;
  for (const std::size_t i : shown.indices) {
    const double magnitude = std::abs(static_cast<double>(values[i]));
    if (!std::isfinite(magnitude) || magnitude == 0) continue;
    least = std::min(least, magnitude);
    greatest = std::max(greatest, magnitude);
  }
  if (greatest == 0) return false;
  return greatest >= kArrayCutoff<T> || least < kLeastPositional ||
         greatest / least > kGreatestRatio;
}

/// How many digits an exponent "e+08" of reals is written with.
std::string widened(const std::string& exponent, std::size_t digits) {
  return exponent.substr(0, 2) + fmt::format("{:0>{}}", exponent.substr(2), digits);
}

/// Reals with their points below each other.
template <typename T>
std::vector<std::string> aligned_words(std::span<const T> values,
                                       const Shown& shown) requires std::is_floating_point_v<T> {
  const bool exponents = needs_exponents(values, shown);
  const auto format = exponents ? std::chars_format::scientific : std::chars_format::fixed;
  std::size_t left = 0;
  std::size_t right = 0;
  std::size_t digits = 0;
  std::size_t special = 0;
  for (const std::size_t i : shown.indices) {
    const Real real = real_of(values[i], format);
    if (real.special) {
      special = std::max(special, real.whole.size());
      continue;
    }
    left = std::max(left, real.whole.size());
    right = std::max(right, real.fraction.size());
    if (exponents) digits = std::max(digits, real.exponent.size() - 2);
  }
  const std::size_t tail = right + (exponents ? digits + 2 : 0);
  if (left > 0) special = std::max(special, left + 1 + tail);
  left = std::max(left, special > 1 + tail ? special - 1 - tail : 0);
  return words_of(shown, [&](std::size_t i) {
    const Real real = real_of(values[i], format);
    if (real.special) return fmt::format("{:>{}}", real.whole, special);
    if (!exponents) return fmt::format("{:>{}}.{:<{}}", real.whole, left, real.fraction, right);
    return fmt::format("{:>{}}.{:0<{}}{}", real.whole, left, real.fraction, right,
                       widened(real.exponent, digits));
  });
}

/// NumPy says no type for what its arrays hold when nothing else is said.
bool type_is_implied(DataType type) { return type == DataType::float64 || type == DataType::int64; }

/// What a masked array says of the value under its mask: of its widest type, else with its type.
std::string fill_value_repr(DataType type) {
  switch (type) {
    case DataType::float32:
      return "np.float64(1e+20)";
    case DataType::float64:
      return "1e+20";
    case DataType::int64:
    case DataType::uint64:
      return "999999";
    case DataType::int8:
    case DataType::int16:
    case DataType::int32:
      return "np.int64(999999)";
    case DataType::uint8:
    case DataType::uint16:
    case DataType::uint32:
      break;
  }
  return "np.uint64(999999)";
}

/// A sample of a masked array, which keeps reals as Python's.
std::string masked_sample(const Series& series, std::size_t i) {
  if (series.is_gap(i)) return std::string(kMasked);
  return visit_type(series.channel().data_type(), [&]<typename T>(T) -> std::string {
    const T value = series.values<T>()[i];
    if constexpr (std::is_floating_point_v<T>) {
      return real_str(static_cast<double>(value), kScalarCutoff<double>);
    } else {
      return value_str(value);
    }
  });
}

std::string masked_repr(const Series& series, Lines lines) {
  constexpr std::string_view kHead = "masked_array(data=";
  const Shown shown = shown_of(series.size(), kThreshold, kEdgeItems);
  const auto sample = [&](std::size_t i) { return masked_sample(series, i); };
  // NumPy pads booleans to five characters, whichever are there.
  const auto mask = [&](std::size_t i) -> std::string {
    return series.is_gap(i) ? " True" : "False";
  };
  const std::size_t prefix = kHead.size();
  const DataType type = series.channel().data_type();
  std::vector<std::pair<std::string_view, std::string>> parts{
      {"mask", bracketed(words_of(shown, mask), prefix, lines)},
      {"fill_value", fill_value_repr(type)}};
  if (!type_is_implied(type) || series.gap_count() == series.size()) {
    parts.emplace_back("dtype", to_string(type));
  }
  std::string text(kHead);
  text += bracketed(words_of(shown, sample), prefix, lines);
  for (const auto& [key, value] : parts) {
    const std::size_t indent = prefix - 1 - key.size();
    text += lines == Lines::wrapped ? ",\n" + std::string(indent, ' ') : std::string(kSeparator);
    text.append(key).append("=").append(value);
  }
  return text + ")";
}

std::string plain_repr(const Series& series, Lines lines) {
  constexpr std::string_view kHead = "array(";
  const DataType type = series.channel().data_type();
  const Shown shown = shown_of(series.size(), kThreshold, kEdgeItems);
  const std::vector<std::string> words =
      visit_type(type, [&]<typename T>(T) { return aligned_words<T>(series.values<T>(), shown); });
  std::string text = std::string(kHead) + bracketed(words, kHead.size(), lines);
  std::string more;
  if (series.size() > kThreshold) more = fmt::format("shape=({},)", series.size());
  if (!type_is_implied(type) || series.empty()) {
    if (!more.empty()) more += kSeparator;
    more += fmt::format("dtype={}", to_string(type));
  }
  if (more.empty()) return text + ")";
  text += ",";
  more += ")";
  const std::size_t last_line = text.size() - (text.rfind('\n') + 1);
  const bool fits = last_line + more.size() + 1 <= kLineWidth;
  text += lines == Lines::one || fits ? " " : "\n" + std::string(kHead.size(), ' ');
  return text + more;
}

/// 62500000 as "62_500_000".
std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = digits[0] == '-' ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, "_");
  return digits;
}

/// What pprint lays out: text, or a dictionary of them.
struct Node {
  std::string text;               ///< of what is no dictionary
  std::vector<std::string> keys;  ///< each as repr() writes it
  std::vector<Node> values;
  bool is_dictionary = false;
};

Node text_node(std::string text) { return {std::move(text), {}, {}, false}; }

using Item = std::pair<std::string, Node>;

Node dictionary(std::vector<Item> items) {
  std::sort(items.begin(), items.end(),
            [](const Item& a, const Item& b) { return a.first < b.first; });
  Node node;
  node.is_dictionary = true;
  for (Item& item : items) {
    node.keys.push_back(std::move(item.first));
    node.values.push_back(std::move(item.second));
  }
  return node;
}

std::string on_one_line(const Node& node) {
  if (!node.is_dictionary) return node.text;
  std::string line = "{";
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    if (i > 0) line += kSeparator;
    line += node.keys[i] + ": " + on_one_line(node.values[i]);
  }
  return line + "}";
}

/// `allowance`: characters that will follow the last line.
void lay_out(std::string& out, const Node& node, std::size_t indent, std::size_t allowance) {
  const std::string line = on_one_line(node);
  if (!node.is_dictionary || line.size() + indent + allowance <= kPageWidth) {
    out += line;
    return;
  }
  out += '{';
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const bool last = i + 1 == node.keys.size();
    if (i > 0) out += ",\n" + std::string(indent + 1, ' ');
    out += node.keys[i] + ": ";
    lay_out(out, node.values[i], indent + 1 + node.keys[i].size() + 2, last ? allowance + 1 : 1);
  }
  out += '}';
}

/// The optional fields of a channel, in their order, as `text(name)` and `number(ns)` write them.
template <typename AddText, typename AddNumber>
void visit_fields(const Channel& channel, AddText&& text, AddNumber&& number) {
  if (channel.time) number("time", channel.time->ns());
  if (channel.publisher) text("publisher", *channel.publisher);
  if (channel.partition_id) text("partition_id", *channel.partition_id);
  if (channel.partition_index) number("partition_index", *channel.partition_index);
  if (channel.stride) number("stride", channel.stride->count());
  if (channel.max_latency) number("max_latency", channel.max_latency->count());
  if (channel.replay_id) text("replay_id", *channel.replay_id);
}

Node channel_node(const Channel& channel) {
  std::vector<Item> items;
  const auto add = [&](std::string_view key, std::string text) {
    items.emplace_back(string_repr(key), text_node(std::move(text)));
  };
  add("name", string_repr(channel.name()));
  add("data_type", string_repr(to_string(channel.data_type())));
  add("sample_rate", channel.sample_rate().to_string());
  visit_fields(
      channel, [&](std::string_view key, const std::string& text) { add(key, string_repr(text)); },
      [&](std::string_view key, std::int64_t number) { add(key, std::to_string(number)); });
  return dictionary(std::move(items));
}

/// {NAME: of(NAME), …} of a block's channels.
template <typename Of>
std::string dictionary_repr(const SeriesBlock& block, Of&& of) {
  std::string text = "{";
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (i > 0) text += kSeparator;
    text += string_repr(block.channels()[i].name()) + ": " + of(i);
  }
  return text + "}";
}

}  // namespace

std::string sample_str(const Series& series, std::size_t i) {
  if (series.is_gap(i)) return std::string(kMasked);
  return visit_type(series.channel().data_type(),
                    [&]<typename T>(T) { return value_str(series.values<T>()[i]); });
}

std::string array_str(const Series& series, std::size_t threshold, std::size_t edge_items) {
  const Shown shown = shown_of(series.size(), threshold, edge_items);
  const auto sample = [&](std::size_t i) { return sample_str(series, i); };
  return bracketed(words_of(shown, sample), 0, Lines::one);
}

std::string array_repr(const Series& series, Lines lines) {
  return series.has_gaps() ? masked_repr(series, lines) : plain_repr(series, lines);
}

std::string string_repr(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string repr(1, quote);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      repr.append("\\").append(1, c);
    } else if (c == '\n') {
      repr += "\\n";
    } else if (c == '\r') {
      repr += "\\r";
    } else if (c == '\t') {
      repr += "\\t";
    } else if (byte < ' ' || byte == 0x7F) {
      repr += fmt::format("\\x{:02x}", byte);
    } else {
      repr += c;
    }
  }
  repr += quote;
  return console::printable(repr);
}

std::string channel_repr(const Channel& channel) {
  std::string text =
      fmt::format("<{}, {} Hz, {}", console::printable(channel.name()),
                  channel.sample_rate().to_string(), string_repr(to_string(channel.data_type())));
  visit_fields(
      channel,
      [&](std::string_view key, const std::string& value) {
        text.append(", ").append(key).append("=").append(string_repr(value));
      },
      [&](std::string_view key, std::int64_t number) {
        text.append(", ").append(key).append("=").append(grouped(number));
      });
  return text + ">";
}

std::string block_repr(const SeriesBlock& block) {
  const auto array = [&](std::size_t i) { return array_repr(block.at(i), Lines::one); };
  const auto channel = [&](std::size_t i) { return channel_repr(block.channels()[i]); };
  return fmt::format("SeriesBlock(time_ns={}, data={}, channels={}, _duration_ns={})",
                     block.time().ns(), dictionary_repr(block, array),
                     dictionary_repr(block, channel), block.duration().count());
}

std::string channel_pprint(const Channel& channel) {
  std::string text;
  lay_out(text, channel_node(channel), 0, 0);
  return text;
}

std::string block_pprint(const SeriesBlock& block) {
  std::vector<Item> data;
  std::vector<Item> channels;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const Channel& channel = block.channels()[i];
    const std::string key = string_repr(channel.name());
    data.emplace_back(key, text_node(array_repr(block.at(i), Lines::wrapped)));
    channels.emplace_back(key, channel_node(channel));
  }
  const Node node = dictionary(
      {{string_repr("time_ns"), text_node(std::to_string(block.time().ns()))},
       {string_repr("data"), dictionary(std::move(data))},
       {string_repr("channels"), dictionary(std::move(channels))},
       {string_repr("_duration_ns"), text_node(std::to_string(block.duration().count()))}});
  std::string text;
  lay_out(text, node, 0, 0);
  return text;
}

}
