#pragma once

/// The two faces of the demo: a table redrawn in place, and a line a second.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/time.hpp"
#include "common/block_rate.hpp"
#include "common/live_table.hpp"
#include "common/output.hpp"
#include "common/program_log.hpp"
#include "common/screen.hpp"
#include "demo/tally.hpp"

namespace arrakis::demo {

/// Not safe from several threads at once.
class View {
 public:
  virtual ~View() = default;
  /// Shows a block that `tally` has counted.
  virtual void show(const SeriesBlock& block, const Tally& tally) = 0;
  /// Called several times a second while no block comes.
  virtual void idle() {}
  /// Called when no block will come any more.
  virtual void finish() {}
};

/// For a terminal.
class TableView final : public View {
 public:
  TableView(console::Output& output, console::ProgramLog& log, const ChannelSet& channels,
            Duration stride);
  ~TableView() override;
  TableView(const TableView&) = delete;
  TableView& operator=(const TableView&) = delete;
  void show(const SeriesBlock& block, const Tally& tally) override;
  void idle() override { redraw(); }
  void finish() override;

 private:
  [[nodiscard]] std::string caption() const;
  void redraw();

  int terminal_;
  console::ProgramLog& log_;
  console::Screen screen_;
  console::LiveTable table_;
  console::BlockRate rate_;
  std::optional<GpsTime> newest_end_;
  bool finished_ = false;
};

/// For a pipe or a file.
class LineView final : public View {
 public:
  explicit LineView(console::Output& output) : output_(output) {}
  void show(const SeriesBlock& block, const Tally& tally) override;

 private:
  console::Output& output_;
  std::int64_t seconds_ = 0;  // shown so far
};

/// What LineView prints for a block: "  3 s  48 blocks  age 2.1 ms  gaps 4  X1:… -1.2e-21 …".
std::string status_line(const SeriesBlock& block, const Tally& tally, Duration age);

}
