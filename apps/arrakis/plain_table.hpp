#pragma once

/// Tables without lines, fitted to a width, as the Python program prints them.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace arrakis::cli {

enum class Align { left, right };

struct Column {
  std::string_view heading;
  Align align = Align::left;
};

/// A table of cells of text. Every line has the table's width, so it may end in blanks.
class PlainTable {
 public:
  explicit PlainTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// A cell for each column.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// A line of text below.
  void set_caption(std::string caption) { caption_ = std::move(caption); }

  /// The lines, each with its line end, at most `width` cells wide. Where the table is wider, the
  /// widest columns give way first: their text is broken at blanks, and words that don't fit are
  /// cut, which "…" marks.
  [[nodiscard]] std::string render(std::size_t width) const;

 private:
  [[nodiscard]] std::vector<std::size_t> natural_widths() const;
  void append_row(std::string& out, const std::vector<std::string>& cells,
                  const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::string caption_;
};

}
