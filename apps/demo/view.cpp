#include "demo/view.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "common/sample_text.hpp"
#include "common/text.hpp"

namespace arrakis::demo {
namespace {

/// Channels in a status line: one of each publisher, and the one that drops out.
constexpr std::array<std::string_view, 3> kInStatusLine{"X1:CAL-STRAIN", kFaultyChannel,
                                                        "X1:GRD-LOCK_STATE"};
constexpr std::size_t kLinesBelow = 3;  // a blank one, the caption, and that of the cursor

}  // namespace

TableView::TableView(console::Output& output, console::ProgramLog& log, const ChannelSet& channels,
                     Duration stride)
    : terminal_(output.fd()), log_(log), screen_(output), table_(channels, stride) {
  if (::isatty(STDERR_FILENO) != 0) log_.set_screen(&screen_);
  redraw();
}

TableView::~TableView() { log_.set_screen(nullptr); }

void TableView::show(const SeriesBlock& block, const Tally& /*tally*/) {
  table_.add(block);
  newest_end_ = block.end();
  rate_.count(system_clock().monotonic());
  redraw();
}

void TableView::finish() {
  finished_ = true;
  redraw();
}

std::string TableView::caption() const {
  if (!newest_end_) return " waiting for the first block";
  std::string text =
      fmt::format(" GPS {}   newest block {} old   {:.1f} blocks/s",
                  format_seconds(*newest_end_, console::exact_digits(*newest_end_, {})),
                  age_text(system_clock().now() - *newest_end_), rate_.per_second());
  if (!finished_) text += "   Ctrl-C stops";
  return text;
}

void TableView::redraw() {
  const console::TerminalSize size = console::terminal_size(terminal_);
  const std::size_t height = size.rows - std::min(size.rows, kLinesBelow);
  std::vector<console::Line> lines = table_.render(size.columns, std::max<std::size_t>(height, 1));
  lines.push_back({});
  lines.push_back({console::shorten(caption(), size.columns), console::Style::faint});
  screen_.draw(std::move(lines));
}

std::string status_line(const SeriesBlock& block, const Tally& tally, Duration age) {
  std::string line = fmt::format("{:>4} s {:>6} blocks  age {:>7}  gaps {:>3}",
                                 tally.span() / std::chrono::seconds(1), tally.blocks(),
                                 age_text(age), tally.blocks_with_gaps());
  for (const std::string_view name : kInStatusLine) {
    const Series series = block[name];
    if (series.empty()) continue;
    line += fmt::format("  {} {}", name, console::sample_text(series, series.size() - 1));
  }
  return line;
}

void LineView::show(const SeriesBlock& block, const Tally& tally) {
  const std::int64_t seconds = tally.span() / std::chrono::seconds(1);
  if (seconds == seconds_) return;
  seconds_ = seconds;
  output_.write(status_line(block, tally, system_clock().now() - block.end()) + "\n");
}

}
