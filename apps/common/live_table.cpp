#include "common/live_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "common/sample_text.hpp"
#include "common/text.hpp"

namespace arrakis::console {
namespace {

constexpr std::size_t kMostRows = 500;
constexpr std::size_t kMostSteps = 60;  // of the past: no longer lines are of use
constexpr std::size_t kLeastSteps = 8;
constexpr std::size_t kLeastCutName = 16;
constexpr std::size_t kMostValueWidth = 20;  // any int64
constexpr Duration kLeastStep = std::chrono::milliseconds(250);

constexpr std::string_view kIndent = " ";
constexpr std::string_view kBetween = "  ";
constexpr std::string_view kNameHeading = "channel";
constexpr std::string_view kTypeHeading = "type";
constexpr std::string_view kRateHeading = "rate";
constexpr std::string_view kValueHeading = "value";
constexpr std::string_view kGapsHeading = "gaps";
constexpr std::string_view kUnknown = "-";
constexpr std::size_t kUsualValueWidth = 11;  // "-1.2346e-21": no jumping about in the usual case

}  // namespace

LiveTable::LiveTable(const ChannelSet& channels, Duration stride)
    : unlisted_(channels.size() - std::min(channels.size(), kMostRows)),
      name_width_(kNameHeading.size()),
      type_width_(kTypeHeading.size()),
      rate_width_(kRateHeading.size()),
      value_width_(kUsualValueWidth),
      gaps_width_(kGapsHeading.size()) {
  rows_.reserve(channels.size() - unlisted_);
  for (const Channel& channel : channels) {
    if (rows_.size() == kMostRows) break;
    Row row{.channel = channel.name(),
            .name = printable(channel.name()),
            .type = std::string(to_string(channel.data_type())),
            .rate = channel.sample_rate().to_string(),
            .value = std::string(kUnknown),
            .history = SampleHistory(std::max(stride, kLeastStep), kMostSteps)};
    name_width_ = std::max(name_width_, display_width(row.name));
    type_width_ = std::max(type_width_, row.type.size());
    rate_width_ = std::max(rate_width_, row.rate.size());
    rows_.push_back(std::move(row));
  }
}

void LiveTable::add(const SeriesBlock& block) {
  for (Row& row : rows_) {
    const Series series = block[row.channel];
    row.history.add(series);
    row.in_gap = !series.empty() && series.is_gap(series.size() - 1);
    if (!series.empty()) row.value = sample_text(series, series.size() - 1);
    if (series.has_gaps()) ++row.blocks_with_gaps;
    value_width_ = std::clamp(row.value.size(), value_width_, kMostValueWidth);
    gaps_width_ = std::max(gaps_width_, fmt::formatted_size("{}", row.blocks_with_gaps));
  }
}

LiveTable::Layout LiveTable::layout(std::size_t width) const {
  const std::size_t between = kBetween.size();
  const auto rest = [&](std::size_t name, const Layout& columns) -> std::ptrdiff_t {
    std::size_t used = kIndent.size() + name + between + value_width_;
    if (columns.type) used += between + type_width_;
    if (columns.rate) used += between + rate_width_;
    if (columns.gaps) used += between + gaps_width_;
    return static_cast<std::ptrdiff_t>(width) - static_cast<std::ptrdiff_t>(used + between);
  };
  constexpr std::array choices{
      Layout{.type = true, .rate = true, .gaps = true},
      Layout{.rate = true, .gaps = true},
      Layout{.gaps = true},
      Layout{},
  };
  for (const std::size_t name : {name_width_, std::min(name_width_, kLeastCutName)}) {
    for (Layout choice : choices) {
      const std::ptrdiff_t room = rest(name, choice);
      if (room < static_cast<std::ptrdiff_t>(kLeastSteps)) continue;
      choice.past_width = std::min(static_cast<std::size_t>(room), kMostSteps);
      choice.name_width = name;
      // A name was cut, but not all of the room is needed for the past.
      const std::size_t spare = static_cast<std::size_t>(room) - kLeastSteps;
      if (name < name_width_) {
        choice.name_width += std::min(spare, name_width_ - name);
        choice.past_width = static_cast<std::size_t>(rest(choice.name_width, choice));
      }
      return choice;
    }
  }
  const std::size_t others = kIndent.size() + between + value_width_;
  return {.name_width = std::min(name_width_, width - std::min(width, others))};
}

std::string LiveTable::heading(const Layout& layout) const {
  std::string text(kIndent);
  text += left_aligned(kNameHeading, layout.name_width);
  if (layout.type) text.append(kBetween).append(left_aligned(kTypeHeading, type_width_));
  if (layout.rate) text.append(kBetween).append(right_aligned(kRateHeading, rate_width_));
  text.append(kBetween).append(right_aligned(kValueHeading, value_width_));
  if (layout.past_width > 0) {
    const Duration step = rows_.empty() ? kLeastStep : rows_.front().history.step();
    const double seconds = std::chrono::duration<double>(step).count();
    std::string past =
        fmt::format("last {:.3g} s", seconds * static_cast<double>(layout.past_width));
    if (past.size() > layout.past_width) past.erase(0, past.find(' ') + 1);
    text.append(kBetween).append(left_aligned(past, layout.past_width));
  }
  if (layout.gaps) text.append(kBetween).append(right_aligned(kGapsHeading, gaps_width_));
  return text;
}

std::string LiveTable::line(const Row& row, const Layout& layout) const {
  std::string text(kIndent);
  text += left_aligned(row.name, layout.name_width);
  if (layout.type) text.append(kBetween).append(left_aligned(row.type, type_width_));
  if (layout.rate) text.append(kBetween).append(right_aligned(row.rate, rate_width_));
  text.append(kBetween).append(right_aligned(row.value, value_width_));
  if (layout.past_width > 0) text.append(kBetween).append(row.history.draw(layout.past_width));
  if (layout.gaps) {
    const std::string gaps = fmt::format("{}", row.blocks_with_gaps);
    text.append(kBetween).append(right_aligned(gaps, gaps_width_));
  }
  return text;
}

std::vector<Line> LiveTable::render(std::size_t width, std::size_t height) const {
  std::vector<Line> lines;
  if (height == 0) return lines;
  const Layout columns = layout(width);
  lines.push_back({shorten(heading(columns), width), Style::heading});

  std::size_t shown = std::min(rows_.size(), height - 1);
  const bool cut = shown < rows_.size() || unlisted_ > 0;
  if (cut && shown == height - 1 && shown > 0) --shown;  // the last line says so
  for (std::size_t i = 0; i < shown; ++i) {
    lines.push_back(
        {shorten(line(rows_[i], columns), width), rows_[i].in_gap ? Style::alert : Style::plain});
  }
  if (cut && lines.size() < height) {
    const std::string text = fmt::format(" … {} more channels", rows_.size() - shown + unlisted_);
    lines.push_back({shorten(text, width), Style::faint});
  }
  return lines;
}

}
