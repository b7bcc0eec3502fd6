#include "plain_table.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/text.hpp"

namespace arrakis::cli {
namespace {

using Widths = std::vector<std::size_t>;

/// Around the text of a cell.
constexpr std::size_t kPadding = 2;

std::size_t sum(const Widths& widths) {
  return std::accumulate(widths.begin(), widths.end(), std::size_t{0});
}

/// `count / parts` to the nearest integer, the even one of two.
std::size_t rounded(std::size_t count, std::size_t parts) {
  const std::size_t whole = count / parts;
  const std::size_t twice = 2 * (count % parts);
  const bool up = twice > parts || (twice == parts && whole % 2 == 1);
  return whole + (up ? 1 : 0);
}

/// Takes `excess` away from the widths whose weight is not zero, in proportion to it, at most
/// `limit` from each.
void reduce(Widths& widths, std::size_t excess, const Widths& weights, const Widths& limits) {
  Widths counted = weights;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (limits[i] == 0) counted[i] = 0;
  }
  std::size_t total = sum(counted);
  for (std::size_t i = 0; i < widths.size() && total > 0; ++i) {
    if (counted[i] == 0) continue;
    const std::size_t share = std::min(limits[i], rounded(counted[i] * excess, total));
    widths[i] -= share;
    excess -= std::min(share, excess);
    total -= counted[i];
  }
}

/// Brings the sum of the widths down to `most`: the widest become as narrow as the next widest, and
/// so on; then all together.
void collapse(Widths& widths, std::size_t most) {
  while (sum(widths) > most) {
    const std::size_t widest = *std::max_element(widths.begin(), widths.end());
    std::size_t next = 0;
    for (const std::size_t width : widths) {
      if (width != widest) next = std::max(next, width);
    }
    Widths weights;
    for (const std::size_t width : widths) weights.push_back(width == widest ? 1 : 0);
    const std::size_t excess = sum(widths) - most;
    const std::size_t limit = std::min(excess, widest - next);
    if (limit == 0) break;
    reduce(widths, excess, weights, Widths(widths.size(), limit));
  }
  if (sum(widths) > most) reduce(widths, sum(widths) - most, Widths(widths.size(), 1), widths);
}

/// The text's words with the blanks after them.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t word = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t blank = std::min(text.find(' ', word), text.size());
    const std::size_t end = std::min(text.find_first_not_of(' ', blank), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

std::string_view without_trailing_blanks(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

/// The text on lines of at most `width`, broken at blanks.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  for (const std::string_view word : words_of(text)) {
    const std::size_t used = console::display_width(line);
    const std::size_t needed = console::display_width(without_trailing_blanks(word));
    if (used > 0 && used + needed > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    line += word;
  }
  lines.push_back(std::move(line));
  for (std::string& each : lines) each = without_trailing_blanks(each);
  return lines;
}

void append_aligned(std::string& out, std::string_view text, std::size_t width, Align align) {
  out += align == Align::left ? console::left_aligned(text, width)
                              : console::right_aligned(text, width);
}

}  // namespace

std::vector<std::size_t> PlainTable::natural_widths() const {
  Widths widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = console::display_width(columns_[i].heading);
    for (const std::vector<std::string>& row : rows_) {
      width = std::max(width, console::display_width(row[i]));
    }
    widths.push_back(width + kPadding);
  }
  return widths;
}

void PlainTable::append_row(std::string& out, const std::vector<std::string>& cells,
                            const std::vector<std::size_t>& widths) const {
  std::vector<std::vector<std::string>> lines;
  std::size_t height = 1;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    lines.push_back(wrapped(cells[i], widths[i] - std::min(widths[i], kPadding)));
    height = std::max(height, lines.back().size());
  }
  for (std::size_t n = 0; n < height; ++n) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string_view text = n < lines[i].size() ? std::string_view(lines[i][n]) : "";
      // A column that has no room but for its padding is blank.
      const std::size_t inner = widths[i] - std::min(widths[i], kPadding);
      out += std::string(std::min(widths[i], kPadding / 2), ' ');
      append_aligned(out, text, inner, columns_[i].align);
      if (widths[i] >= kPadding) out += ' ';
    }
    out += '\n';
  }
}

std::string PlainTable::render(std::size_t width) const {
  Widths widths = natural_widths();
  collapse(widths, width);
  std::string out;
  std::vector<std::string> headings;
  for (const Column& column : columns_) headings.emplace_back(column.heading);
  append_row(out, headings, widths);
  for (const std::vector<std::string>& row : rows_) append_row(out, row, widths);
  if (caption_.empty()) return out;
  for (const std::string& line : wrapped(caption_, sum(widths))) {
    append_aligned(out, line, sum(widths), Align::left);
    out += '\n';
  }
  return out;
}

}
