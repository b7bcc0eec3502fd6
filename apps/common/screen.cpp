#include "common/screen.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "common/text.hpp"

namespace arrakis::console {
namespace {

constexpr std::string_view kEraseLineRest = "\x1b[K";
constexpr std::string_view kEraseBelow = "\x1b[J";
constexpr std::string_view kPlain = "\x1b[0m";

std::string_view code_of(Style style) {
  switch (style) {
    case Style::plain:
      return "";
    case Style::heading:
      return "\x1b[1m";
    case Style::faint:
      return "\x1b[2m";
    case Style::alert:
      return "\x1b[33m";
  }
  return "";
}

/// The positive number in an environment variable, or zero.
std::size_t number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return 0;
  const std::string_view view(text);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), number);
  return error == std::errc() && end == view.data() + view.size() ? number : 0;
}

}  // namespace

TerminalSize terminal_size(int fd) {
  TerminalSize size;
  winsize window{};
  if (::ioctl(fd, TIOCGWINSZ, &window) == 0) {
    if (window.ws_col > 0) size.columns = window.ws_col;
    if (window.ws_row > 0) size.rows = window.ws_row;
  }
  if (const std::size_t columns = number_in("COLUMNS")) size.columns = columns;
  if (const std::size_t rows = number_in("LINES")) size.rows = rows;
  return size;
}

bool can_redraw(int fd) {
  if (::isatty(fd) == 0) return false;
  const char* term = std::getenv("TERM");
  return term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

Screen::Screen(Output& output) : output_(output) {
  const char* no_color = std::getenv("NO_COLOR");
  colours_ = no_color == nullptr || *no_color == '\0';
}

void Screen::draw(std::vector<Line> lines) {
  const std::lock_guard lock(mutex_);
  std::string text = back_to_top();
  lines_ = std::move(lines);
  output_.write(text.append(drawing()));
}

void Screen::print_above(std::string_view line) {
  const std::lock_guard lock(mutex_);
  std::string text = back_to_top();
  text.append(line).append(kEraseLineRest).append("\n");
  output_.write(text.append(drawing()));
}

std::string Screen::back_to_top() const {
  if (lines_.empty()) return {};
  const std::size_t columns = std::max<std::size_t>(terminal_size(output_.fd()).columns, 1);
  std::size_t rows = 0;
  for (const Line& line : lines_) {
    const std::size_t width = std::max<std::size_t>(display_width(line.text), 1);
    rows += (width + columns - 1) / columns;
  }
  return fmt::format("\r\x1b[{}A", rows);
}

std::string Screen::drawing() const {
  std::string text;
  for (const Line& line : lines_) {
    const std::string_view code = colours_ ? code_of(line.style) : "";
    text.append(code).append(line.text);
    if (!code.empty()) text.append(kPlain);
    text.append(kEraseLineRest).append("\n");
  }
  return text.append(kEraseBelow);
}

}
