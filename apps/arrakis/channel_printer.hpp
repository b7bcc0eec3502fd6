#pragma once

/// Prints listings of channels.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "arrakis/channel.hpp"
#include "common/output.hpp"
#include "formats.hpp"

namespace arrakis::cli {

/// Takes channels one by one and prints them, in memory that does not grow with their number.
///
/// Tables of up to a thousand channels are fitted to the terminal; longer ones are printed as they
/// come, in columns as wide as the first thousand need.
class ChannelPrinter {
 public:
  /// `width`: of the terminal. A `progress` of true shows on standard error, while channels are
  /// held back, how many there are, and at the end of a long table their number.
  ChannelPrinter(console::Output& output, Format format, std::size_t width, bool progress);

  void add(const Channel& channel);
  /// No more will come.
  void finish();

 private:
  using Row = std::vector<std::string>;

  [[nodiscard]] Row row_of(const Channel& channel) const;
  void begin_long_table();
  void append_line(const Row& row);
  void flush_when_full();
  void show_progress() const;
  static void clear_progress();

  console::Output& output_;
  Format format_;
  std::size_t width_;
  bool progress_;
  std::size_t columns_;
  std::vector<Row> rows_;            // held back until it is clear which table they go into
  std::vector<std::size_t> widths_;  // of the columns of a long table; empty before
  std::string buffer_;
  std::uint64_t count_ = 0;
};

}
