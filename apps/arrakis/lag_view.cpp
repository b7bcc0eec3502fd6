#include "lag_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/sample_text.hpp"
#include "common/text.hpp"

namespace arrakis::cli {
namespace {

constexpr int kDigits = 3;
constexpr std::size_t kColumns = 9;
constexpr std::array<const char*, kColumns> kHeadings{"age",   "lag",      "p50",     "p90", "p99",
                                                      "worst", "blocks/s", "missing", "gaps"};
constexpr std::size_t kLeastName = 8;
constexpr std::string_view kPartition = "partition";

std::string seconds(const std::optional<Duration>& duration) {
  return duration ? console::seconds_text(*duration, kDigits) : "-";
}

std::array<std::string, kColumns> cells(const LagFigures& f) {
  return {seconds(f.age),
          seconds(f.lag),
          seconds(f.p50),
          seconds(f.p90),
          seconds(f.p99),
          seconds(f.worst),
          fmt::format("{:.1f}", f.blocks_per_second),
          std::to_string(f.missing_blocks),
          fmt::format("{:.1f} %", 100 * f.gap_share())};
}

}  // namespace

std::vector<console::Line> lag_table(const std::vector<LagFigures>& figures, std::size_t width,
                                     std::size_t height) {
  std::size_t name_width = kPartition.size();
  std::array<std::size_t, kColumns> widths{};
  for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::string_view(kHeadings[i]).size();
  for (const LagFigures& each : figures) {
    name_width = std::max(name_width, console::display_width(console::printable(each.partition)));
    const auto row = cells(each);
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::size_t used = 0;
  for (const std::size_t each : widths) used += each + 2;
  const std::size_t room = width > used ? width - used : 0;
  name_width = std::min(name_width, std::max(room, kLeastName));

  std::vector<console::Line> lines;
  std::string heading = console::left_aligned(kPartition, name_width);
  for (std::size_t i = 0; i < kColumns; ++i) {
    heading += "  " + console::right_aligned(kHeadings[i], widths[i]);
  }
  lines.push_back({console::shorten(heading, width), console::Style::heading});
  for (const LagFigures& each : figures) {
    std::string line = console::left_aligned(console::printable(each.partition), name_width);
    const auto row = cells(each);
    for (std::size_t i = 0; i < kColumns; ++i) {
      line += "  " + console::right_aligned(row[i], widths[i]);
    }
    const bool silent = !each.age.has_value();
    lines.push_back(
        {console::shorten(line, width), silent ? console::Style::faint : console::Style::plain});
  }
  if (lines.size() <= height) return lines;
  const std::size_t kept = std::max<std::size_t>(height, 2) - 1;
  const std::size_t left_out = lines.size() - kept;
  lines.resize(kept);
  lines.push_back(
      {console::shorten(fmt::format("and {} more", left_out), width), console::Style::faint});
  return lines;
}

std::string lag_line(const LagFigures& figures, GpsTime now) {
  std::string line =
      fmt::format("{} {}", format_seconds(now, kDigits), console::printable(figures.partition));
  const auto row = cells(figures);
  for (std::size_t i = 0; i < kColumns; ++i) line += fmt::format("  {} {}", kHeadings[i], row[i]);
  return line;
}

std::string lag_json(const LagFigures& figures, GpsTime now) {
  const auto ns = [](const std::optional<Duration>& duration) {
    return duration ? std::to_string(duration->count()) : std::string("null");
  };
  const std::string name = nlohmann::json(figures.partition)
                               .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return fmt::format(
      R"({{"time_ns": {}, "partition": {}, "age_ns": {}, "lag_ns": {}, "p50_ns": {}, )"
      R"("p90_ns": {}, "p99_ns": {}, "worst_ns": {}, "blocks_per_second": {:.3f}, )"
      R"("blocks": {}, "missing_blocks": {}, "samples": {}, "gap_samples": {}}})",
      now.ns(), name, ns(figures.age), ns(figures.lag), ns(figures.p50), ns(figures.p90),
      ns(figures.p99), ns(figures.worst), figures.blocks_per_second, figures.blocks,
      figures.missing_blocks, figures.samples, figures.gap_samples);
}

}
