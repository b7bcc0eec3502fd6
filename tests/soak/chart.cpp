#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "soak/journal.hpp"

namespace arrakis::soak {

namespace {

constexpr double kWidth = 1000;
constexpr double kPanelHeight = 220;
constexpr double kLeft = 60;
constexpr double kTop = 150;  // room for the names of the acts
constexpr double kGap = 40;

/// One curve's panel: where a value lies on the page.
struct Panel {
  double top = 0;
  double low = 0;
  double high = 1;
  double end = 1;  // seconds

  [[nodiscard]] double x(double at) const { return kLeft + at / end * (kWidth - kLeft - 20); }
  [[nodiscard]] double y(double value) const {
    return top + kPanelHeight * (1 - (value - low) / (high - low));
  }
};

using Value = std::function<double(const Journal::Measurement&)>;

std::string curve(const Panel& panel, const std::vector<Journal::Measurement>& measurements,
                  const Value& value, const char* colour) {
  std::string path;
  bool is_down = false;  // the pen
  for (const Journal::Measurement& m : measurements) {
    const double v = value(m);
    if (std::isfinite(v)) {
      const double y = panel.y(std::clamp(v, panel.low, panel.high));
      // A value alone is a dot.
      if (!is_down) path += fmt::format("M{:.1f} {:.1f} ", panel.x(m.at), y);
      path += fmt::format("L{:.1f} {:.1f} ", panel.x(m.at), y);
    }
    is_down = std::isfinite(v);
  }
  return fmt::format(
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\" "
      "stroke-linecap=\"round\"/>\n",
      path, colour);
}

std::string text(double x, double y, const std::string& words, const std::string& more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, more, words);
}

std::string frame(const Panel& panel, const std::vector<std::pair<double, std::string>>& ticks) {
  std::string svg = fmt::format(
      "<rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"none\" "
      "stroke=\"#999\"/>\n",
      kLeft, panel.top, panel.x(panel.end) - kLeft, kPanelHeight);
  for (const auto& [value, label] : ticks) {
    svg +=
        fmt::format("<line x1=\"{}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n",
                    kLeft, panel.x(panel.end), panel.y(value), panel.y(value));
    svg += text(kLeft - 6, panel.y(value) + 4, label, "text-anchor=\"end\"");
  }
  return svg;
}

std::string time_axis(const Panel& panel) {
  std::string svg;
  const double step = std::pow(10, std::floor(std::log10(panel.end / 2)));
  const auto marks = static_cast<int>(panel.end / step);
  for (int mark = 0; mark <= marks; ++mark) {
    const double at = mark * step;
    svg += text(panel.x(at), panel.top + kPanelHeight + 16, fmt::format("{:g} s", at),
                "text-anchor=\"middle\"");
  }
  return svg;
}

}

std::string draw_svg(const std::vector<Journal::Measurement>& measurements,
                     const std::vector<Journal::Line>& lines) {
  double end = 1;
  double memory = 1;
  for (const Journal::Measurement& m : measurements) {
    end = std::max(end, m.at);
    memory = std::max(memory, m.memory);
  }
  const Panel upper{.top = kTop, .low = 0, .high = 1.1 * memory, .end = end};
  // From 0.1 ms to 100 s.
  const Panel lower{.top = kTop + kPanelHeight + kGap, .low = -1, .high = 5, .end = end};
  const double height = lower.top + kPanelHeight + kGap;

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"11\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      kWidth, height);
  for (const Journal::Line& line : lines) {
    if (line.kind.empty()) continue;
    const double x = upper.x(std::min(line.at, end));
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2:.1f}\" stroke=\"#f3c6a5\"/>\n", x,
        kTop, lower.top + kPanelHeight);
    svg += text(x, kTop - 4, line.kind,
                fmt::format("transform=\"rotate(-60 {:.1f} {})\" font-size=\"9\"", x, kTop - 4));
  }
  const double quarter = memory / 4;
  std::vector<std::pair<double, std::string>> megabytes;
  for (int i = 0; i <= 4; ++i)
    megabytes.emplace_back(i * quarter, fmt::format("{:.0f}", i * quarter));
  svg += frame(upper, megabytes);
  svg += text(kLeft + 6, upper.top + 14, "resident memory, MB");
  svg += curve(
      upper, measurements, [](const auto& m) { return m.memory; }, "#1f77b4");
  svg += frame(lower, {{0, "1 ms"}, {1, "10 ms"}, {2, "100 ms"}, {3, "1 s"}, {4, "10 s"}});
  svg += text(kLeft + 6, lower.top + 14,
              "age of a block when delivered, in each second: median (green), greatest (red)");
  svg += curve(
      lower, measurements, [](const auto& m) { return std::log10(m.greatest_age); }, "#d62728");
  svg += curve(
      lower, measurements, [](const auto& m) { return std::log10(m.median_age); }, "#2ca02c");
  svg += time_axis(lower);
  return svg + "</svg>\n";
}

}
