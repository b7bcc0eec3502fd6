#include "common/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace arrakis::console {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kEllipsis = "…";
constexpr std::uint32_t kInvalid = 0xFFFFFFFF;

struct Range {
  std::uint32_t first, last;
};

constexpr std::array kZeroWidth{
    Range{0x0300, 0x036F}, Range{0x0483, 0x0489}, Range{0x0591, 0x05BD}, Range{0x064B, 0x065F},
    Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF}, Range{0x200B, 0x200F}, Range{0x20D0, 0x20FF},
    Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F},
};
constexpr std::array kWide{
    Range{0x1100, 0x115F},   Range{0x2E80, 0xA4CF},   Range{0xAC00, 0xD7A3},
    Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},
    Range{0xFFE0, 0xFFE6},   Range{0x1F300, 0x1F64F}, Range{0x1F900, 0x1F9FF},
    Range{0x20000, 0x3FFFD},
};
// Control characters, separators of lines, and marks that change the direction of what follows.
constexpr std::array kUnprintable{
    Range{0x0000, 0x001F}, Range{0x007F, 0x009F}, Range{0x200E, 0x200F}, Range{0x2028, 0x202E},
    Range{0x2066, 0x2069}, Range{0xD800, 0xDFFF}, Range{0xFEFF, 0xFEFF},
};

template <std::size_t N>
bool holds(const std::array<Range, N>& ranges, std::uint32_t c) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](Range r) { return r.first <= c && c <= r.last; });
}

struct Character {
  std::uint32_t code;
  std::size_t bytes;
};

/// The first character of `text`, which is not empty. What is no UTF-8 is kInvalid, of one byte.
Character first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  std::size_t bytes = 0;
  std::uint32_t code = 0;
  std::uint32_t least = 0;  // a smaller code in that many bytes is an overlong form
  if (lead >= 0xC2 && lead < 0xE0) {
    bytes = 2, code = lead & 0x1FU, least = 0x80;
  } else if (lead >= 0xE0 && lead < 0xF0) {
    bytes = 3, code = lead & 0x0FU, least = 0x800;
  } else if (lead >= 0xF0 && lead < 0xF5) {
    bytes = 4, code = lead & 0x07U, least = 0x10000;
  }
  if (bytes == 0 || bytes > text.size()) return {kInvalid, 1};
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {kInvalid, 1};
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  if (code < least || code > 0x10FFFF) return {kInvalid, 1};
  return {code, bytes};
}

std::size_t width_of(std::uint32_t code) {
  if (code == kInvalid) return 1;
  if (holds(kZeroWidth, code)) return 0;
  return holds(kWide, code) ? 2 : 1;
}

}  // namespace

std::size_t display_width(std::string_view utf8) {
  std::size_t width = 0;
  while (!utf8.empty()) {
    const Character c = first_character(utf8);
    width += width_of(c.code);
    utf8.remove_prefix(c.bytes);
  }
  return width;
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character c = first_character(text);
    const bool bad = c.code == kInvalid || holds(kUnprintable, c.code);
    result += bad ? kReplacement : text.substr(0, c.bytes);
    text.remove_prefix(c.bytes);
  }
  return result;
}

std::string shorten(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::size_t bytes = 0;
  std::size_t used = 1;  // the ellipsis
  while (bytes < text.size()) {
    const Character c = first_character(text.substr(bytes));
    used += width_of(c.code);
    if (used > width) break;
    bytes += c.bytes;
  }
  return std::string(text.substr(0, bytes)).append(kEllipsis);
}

std::string left_aligned(std::string_view text, std::size_t width) {
  std::string result = shorten(text, width);
  result.append(width - std::min(width, display_width(result)), ' ');
  return result;
}

std::string right_aligned(std::string_view text, std::size_t width) {
  const std::string cut = shorten(text, width);
  return std::string(width - std::min(width, display_width(cut)), ' ').append(cut);
}

}
