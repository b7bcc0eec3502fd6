#pragma once

/// A part of the terminal that is drawn again and again in place.

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/output.hpp"

namespace arrakis::console {

enum class Style {
  plain,
  heading,  ///< bold
  faint,
  alert,  ///< yellow
};

struct Line {
  std::string text;  ///< without control characters or a line end
  Style style = Style::plain;
};

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

/// The size of the terminal behind `fd`, 80 × 24 without one; the environment variables COLUMNS and
/// LINES win.
TerminalSize terminal_size(int fd);
/// Whether `fd` is a terminal that can move its cursor.
bool can_redraw(int fd);

/// Draws lines on a terminal over those drawn before. Text that others want on the same terminal
/// goes through print_above. Safe from any thread.
class Screen {
 public:
  /// Writes to `output`, which must outlive it. Colours unless the variable NO_COLOR is set.
  explicit Screen(Output& output);

  /// Replaces what was drawn last. The lines must be fewer than the terminal's and not wider.
  void draw(std::vector<Line> lines);
  /// Prints a line that scrolls away, above what is drawn.
  void print_above(std::string_view line);

 private:
  /// What moves the cursor to where the drawing began, also after the terminal became narrower and
  /// wrapped it.
  [[nodiscard]] std::string back_to_top() const;
  [[nodiscard]] std::string drawing() const;

  std::mutex mutex_;
  Output& output_;
  bool colours_;
  std::vector<Line> lines_;
};

}
