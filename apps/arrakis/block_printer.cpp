#include "block_printer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "common/sample_text.hpp"
#include "common/text.hpp"

namespace arrakis::cli {
namespace {

/// Between two drawings of the table: fast enough to look alive, slow enough to cost nothing.
constexpr Duration kRedrawInterval = std::chrono::milliseconds(60);
/// While nothing comes: how late "waiting for … s" may be.
constexpr Duration kIdleInterval = std::chrono::milliseconds(500);
constexpr int kLatencyDigits = 6;
/// The caption, and the line on which the cursor stays.
constexpr std::size_t kLinesBelow = 2;

}  // namespace

void FormatPrinter::print(const SeriesBlock& block) {
  output_.write(formatted(block, format_) + "\n");
}

std::string block_line(const SeriesBlock& block, const std::vector<std::string>& names,
                       Duration latency) {
  const int digits = console::exact_digits(block.time(), block.duration());
  std::string line = format_seconds(block.time(), digits);
  line.append("  latency ").append(console::seconds_text(latency, kLatencyDigits)).append(" s");
  for (const std::string& name : names) {
    line.append("  ").append(console::printable(name)).append(" ");
    line.append(console::short_data(block[name]));
  }
  return line;
}

LinePrinter::LinePrinter(console::Output& output, const ChannelSet& channels, const Clock& clock)
    : output_(output), clock_(clock) {
  for (const Channel& channel : sorted_by_name(channels)) names_.push_back(channel.name());
}

void LinePrinter::print(const SeriesBlock& block) {
  output_.write(block_line(block, names_, clock_.now() - block.time()) + "\n");
}

TablePrinter::TablePrinter(console::Output& output, console::ProgramLog& log,
                           const ChannelSet& channels, Duration stride, const Clock& clock)
    : clock_(clock),
      terminal_(output.fd()),
      log_(log),
      screen_(output),
      table_(sorted_by_name(channels), stride),
      began_(clock.monotonic()) {
  if (::isatty(STDERR_FILENO) != 0) log_.set_screen(&screen_);
  redraw();
}

TablePrinter::~TablePrinter() { log_.set_screen(nullptr); }

void TablePrinter::print(const SeriesBlock& block) {
  table_.add(block);
  time_ = block.time();
  duration_ = block.duration();
  latency_ = clock_.now() - block.time();
  rate_.count(clock_.monotonic());
  changed_ = true;
  if (!last_drawn_ || clock_.monotonic() - *last_drawn_ >= kRedrawInterval) redraw();
}

void TablePrinter::idle() { redraw(); }

std::optional<Duration> TablePrinter::idle_interval() const {
  return changed_ ? kRedrawInterval : kIdleInterval;
}

void TablePrinter::finish() { redraw(); }

std::string TablePrinter::caption() const {
  if (!time_) {
    const Duration waited = clock_.monotonic() - began_;
    return fmt::format("waiting for the first block ({} s)", console::seconds_text(waited, 0));
  }
  return fmt::format("time: {} s, duration: {} s, latency: {} s, {:.1f} blocks/s",
                     format_seconds(*time_, console::exact_digits(*time_, duration_)),
                     console::seconds_text(duration_, console::exact_digits({}, duration_)),
                     console::seconds_text(latency_, kLatencyDigits), rate_.per_second());
}

void TablePrinter::redraw() {
  const console::TerminalSize size = console::terminal_size(terminal_);
  const std::size_t height = size.rows - std::min(size.rows, kLinesBelow);
  std::vector<console::Line> lines = table_.render(size.columns, std::max<std::size_t>(height, 1));
  lines.push_back({console::shorten(caption(), size.columns), console::Style::faint});
  screen_.draw(std::move(lines));
  last_drawn_ = clock_.monotonic();
  changed_ = false;
}

void print_latency(std::uint64_t number, Duration latency) {
  const std::string line = fmt::format("block {} latency: {} s\n", number,
                                       console::seconds_text(latency, kLatencyDigits));
  try {
    console::Output(STDERR_FILENO).write(line);
  } catch (const console::OutputClosed&) {  // the blocks may still be wanted
  }
}

ChannelSet sorted_by_name(const ChannelSet& channels) {
  std::vector<Channel> sorted = channels.channels();
  std::sort(sorted.begin(), sorted.end(),
            [](const Channel& a, const Channel& b) { return a.name() < b.name(); });
  return ChannelSet(std::move(sorted));
}

}
