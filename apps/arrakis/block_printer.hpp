#pragma once

/// How `arrakis stream` prints blocks.

#include <cstdint>
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
#include "formats.hpp"

namespace arrakis::cli {

/// Prints blocks in the order they come. Not safe from several threads at once.
class BlockPrinter {
 public:
  virtual ~BlockPrinter() = default;
  virtual void print(const SeriesBlock& block) = 0;
  /// Called while no block comes, at least every idle_interval().
  virtual void idle() {}
  /// How often idle() wants to be called; none: not at all.
  [[nodiscard]] virtual std::optional<Duration> idle_interval() const { return std::nullopt; }
  /// Whether it draws the latency where lines on standard error would tear the drawing.
  [[nodiscard]] virtual bool shows_latency_in_place() const { return false; }
  /// Called when no block will come any more.
  virtual void finish() {}
};

/// Each block in a form that is not a table.
class FormatPrinter final : public BlockPrinter {
 public:
  FormatPrinter(console::Output& output, Format format) : output_(output), format_(format) {}
  void print(const SeriesBlock& block) override;

 private:
  console::Output& output_;
  Format format_;
};

/// "1126259462.0625  latency 0.071234 s  H1:A-B [1, ..., 3]  H1:C-D gap": a line of `block`, with
/// the channels in the order of `names`.
std::string block_line(const SeriesBlock& block, const std::vector<std::string>& names,
                       Duration latency);

/// One line a block.
class LinePrinter final : public BlockPrinter {
 public:
  LinePrinter(console::Output& output, const ChannelSet& channels, const Clock& clock);
  void print(const SeriesBlock& block) override;

 private:
  console::Output& output_;
  const Clock& clock_;
  std::vector<std::string> names_;
};

/// A table that is redrawn in place. Log lines go above it while it exists.
class TablePrinter final : public BlockPrinter {
 public:
  TablePrinter(console::Output& output, console::ProgramLog& log, const ChannelSet& channels,
               Duration stride, const Clock& clock);
  ~TablePrinter() override;
  TablePrinter(const TablePrinter&) = delete;
  TablePrinter& operator=(const TablePrinter&) = delete;

  void print(const SeriesBlock& block) override;
  void idle() override;
  [[nodiscard]] std::optional<Duration> idle_interval() const override;
  [[nodiscard]] bool shows_latency_in_place() const override { return true; }
  void finish() override;

 private:
  [[nodiscard]] std::string caption() const;
  void redraw();

  const Clock& clock_;
  int terminal_;
  console::ProgramLog& log_;
  console::Screen screen_;
  console::LiveTable table_;
  console::BlockRate rate_;
  Duration began_;
  std::optional<Duration> last_drawn_;  // by the monotonic clock, as began_
  bool changed_ = true;                 // since then
  std::optional<GpsTime> time_;         // of the newest block, and its duration and latency
  Duration duration_{};
  Duration latency_{};
};

/// Prints "block 7 latency: 0.071234 s" on standard error.
void print_latency(std::uint64_t number, Duration latency);

/// The channels by name, which is the order of tables.
ChannelSet sorted_by_name(const ChannelSet& channels);

}
