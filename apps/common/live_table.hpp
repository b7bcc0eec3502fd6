#pragma once

/// The table of channels that programs redraw as blocks arrive: name, type, rate, newest value,
/// recent past, gaps. Makes lines of text; Screen puts them on a terminal.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/time.hpp"
#include "common/screen.hpp"
#include "common/sparkline.hpp"

namespace arrakis::console {

/// Not safe from several threads at once.
class LiveTable {
 public:
  /// A row for each of `channels`, in that order; blocks last `stride`. Channels after the first
  /// few hundred are only counted: no terminal shows them.
  LiveTable(const ChannelSet& channels, Duration stride);

  /// Takes over the newest values. The block must have the table's channels.
  void add(const SeriesBlock& block);

  /// A heading and the rows, each at most `width` cells wide and at most `height` lines in all.
  /// Where the terminal is narrow, first the type goes, then the rate, the gaps and the past, at
  /// last the names are cut. Where it is low, a last line says how many channels are left out.
  [[nodiscard]] std::vector<Line> render(std::size_t width, std::size_t height) const;

 private:
  struct Row {
    std::string channel, name, type, rate, value;  // name: channel as it may be shown
    SampleHistory history;
    std::uint64_t blocks_with_gaps = 0;
    bool in_gap = false;
  };
  struct Layout {
    bool type = false, rate = false, gaps = false;
    std::size_t name_width = 0, past_width = 0;
  };
  [[nodiscard]] Layout layout(std::size_t width) const;
  [[nodiscard]] std::string heading(const Layout& layout) const;
  [[nodiscard]] std::string line(const Row& row, const Layout& layout) const;

  std::vector<Row> rows_;
  std::size_t unlisted_;
  std::size_t name_width_, type_width_, rate_width_, value_width_, gaps_width_;
};

}
