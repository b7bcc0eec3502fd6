#pragma once

/// Text for terminals: how wide UTF-8 is shown, and cutting or padding it to a width.
/// Pure functions. Widths are in terminal cells.

#include <cstddef>
#include <string>
#include <string_view>

namespace arrakis::console {

/// Cells that `utf8` takes: combining marks none, East Asian wide characters and emoji two, every
/// other character one. Bytes that are no UTF-8 count as one each.
std::size_t display_width(std::string_view utf8);

/// `text` with everything that could move the cursor or confuse the eye (control characters, bytes
/// that are no UTF-8, changes of direction) replaced by U+FFFD. Names come from files and topics
/// that nobody has vouched for.
std::string printable(std::string_view text);

/// `text`, cut to `width` cells where it is wider; the cut is marked by a last "…".
std::string shorten(std::string_view text, std::size_t width);

/// shorten(), then filled up with blanks to exactly `width` cells.
std::string left_aligned(std::string_view text, std::size_t width);
std::string right_aligned(std::string_view text, std::size_t width);

}
