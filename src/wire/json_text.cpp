#include "wire/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

namespace arrakis::inline v1 {
namespace {

using nlohmann::json;

constexpr std::size_t kExcerptBytes = 60;

struct CodePoint {
  char32_t value;
  std::size_t bytes;
};

constexpr char32_t kReplacement = 0xFFFD;
constexpr char32_t kLastCodePoint = 0x10FFFF;

constexpr bool is_surrogate(char32_t c) { return c >= 0xD800 && c <= 0xDFFF; }

// The first code point of `text`, not empty; kReplacement for a byte that does not begin one.
CodePoint decode_utf8(std::string_view text) {
  struct Form {
    unsigned mask;
    unsigned lead;
    std::size_t bytes;
    char32_t least;
  };
  static constexpr Form kForms[] = {
      {0x80, 0x00, 1, 0}, {0xE0, 0xC0, 2, 0x80}, {0xF0, 0xE0, 3, 0x800}, {0xF8, 0xF0, 4, 0x10000}};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (const Form& form : kForms) {
    if ((byte(0) & form.mask) != form.lead) continue;
    if (text.size() < form.bytes) break;
    char32_t value = byte(0) & ~form.mask & 0xFFU;
    for (std::size_t i = 1; i < form.bytes; ++i) {
      if ((byte(i) & 0xC0U) != 0x80U) return {kReplacement, 1};
      value = value << 6U | (byte(i) & 0x3FU);
    }
    if (value < form.least || value > kLastCodePoint || is_surrogate(value)) break;
    return {value, form.bytes};
  }
  return {kReplacement, 1};
}

void append_unit(std::string& out, char32_t unit) {
  fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<std::uint32_t>(unit));
}

void append_escaped(std::string& out, char32_t c) {
  constexpr char32_t kFirstBeyondBmp = 0x10000;
  if (c < kFirstBeyondBmp) {
    append_unit(out, c);
    return;
  }
  append_unit(out, 0xD800 + ((c - kFirstBeyondBmp) >> 10U));
  append_unit(out, 0xDC00 + ((c - kFirstBeyondBmp) & 0x3FFU));
}

// Whether a character stands for itself in a JSON string.
constexpr bool is_plain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

void append_special(std::string& out, char32_t c) {
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\f':
      out += "\\f";
      break;
    case '\b':
      out += "\\b";
      break;
    default:
      append_escaped(out, c);
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (true) {
    const auto special = std::find_if_not(text.begin(), text.end(), is_plain);
    out.append(text.begin(), special);
    text.remove_prefix(static_cast<std::size_t>(special - text.begin()));
    if (text.empty()) break;
    const CodePoint c = decode_utf8(text);
    append_special(out, c.value);
    text.remove_prefix(c.bytes);
  }
  out += '"';
}

void JsonObjectWriter::key(std::string_view name) {
  if (!is_first_) out_ += ", ";
  is_first_ = false;
  append_json_string(out_, name);
  out_ += ": ";
}

std::string json_excerpt(const json& value) {
  // Not their text: writing it takes as much stack as they are deep.
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kExcerptBytes) text.replace(kExcerptBytes, std::string::npos, "…");
  return text;
}

std::optional<std::int64_t> json_integer(const json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return number <= kMax ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const auto real = value.get<double>();
  if (std::trunc(real) != real || std::abs(real) > kGreatestExactDouble) return std::nullopt;
  return static_cast<std::int64_t>(real);
}

}  // namespace arrakis::inline v1
