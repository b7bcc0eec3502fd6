#include "core/quote.hpp"

#include <fmt/format.h>

#include <iterator>

namespace arrakis::inline v1 {
namespace {

constexpr bool is_utf8_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// The longest beginning of at most `max_bytes` that does not cut a UTF-8 character.
std::string_view clip(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  std::size_t size = max_bytes;
  while (size > 0 && is_utf8_continuation(text[size])) --size;
  return text.substr(0, size);
}

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\\':
    case '\'':
      out += '\\';
      out += c;
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x20 || byte == 0x7F) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
  } else {
    out += c;
  }
}

}  // namespace

std::string quoted(std::string_view text, std::size_t max_bytes) {
  const std::string_view shown = clip(text, max_bytes);
  std::string out;
  out.reserve(shown.size() + 2);
  out += '\'';
  for (const char c : shown) append_escaped(out, c);
  if (shown.size() < text.size()) out += "…";
  out += '\'';
  return out;
}

}  // namespace arrakis::inline v1
