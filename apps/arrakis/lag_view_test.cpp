#include "lag_view.hpp"

#include <gtest/gtest.h>

#include <string>

#include "common/text.hpp"

namespace arrakis::cli {
namespace {

using std::chrono::milliseconds;

const GpsTime kNow = GpsTime::from_seconds(1'400'000'000);

LagFigures known(const std::string& name) {
  LagFigures figures;
  figures.partition = name;
  figures.blocks = 15;
  figures.missing_blocks = 1;
  figures.samples = 1000;
  figures.gap_samples = 125;
  figures.blocks_per_second = 16;
  figures.age = milliseconds(123);
  figures.lag = figures.p50 = milliseconds(61);
  figures.p90 = figures.p99 = figures.worst = milliseconds(99);
  return figures;
}

TEST(LagLine, NamesEveryFigure) {
  EXPECT_EQ(lag_line(known("P"), kNow),
            "1400000000.000 P  age 0.123  lag 0.061  p50 0.061  p90 0.099  p99 0.099  worst 0.099  "
            "blocks/s 16.0  missing 1  gaps 12.5 %");
}

TEST(LagJson, HasNullsForWhatIsUnknown) {
  LagFigures silent;
  silent.partition = "P\"";
  EXPECT_EQ(lag_json(silent, kNow),
            R"({"time_ns": 1400000000000000000, "partition": "P\"", "age_ns": null, )"
            R"("lag_ns": null, "p50_ns": null, "p90_ns": null, "p99_ns": null, )"
            R"("worst_ns": null, "blocks_per_second": 0.000, "blocks": 0, )"
            R"("missing_blocks": 0, "samples": 0, "gap_samples": 0})");
  EXPECT_NE(lag_json(known("P"), kNow).find(R"("lag_ns": 61000000)"), std::string::npos);
}

TEST(LagTable, FitsTheTerminal) {
  const std::vector<LagFigures> figures{known("short"), known(std::string(100, 'x')), {}};
  for (std::size_t width = 1; width < 200; width += 13) {
    for (std::size_t height = 1; height < 6; ++height) {
      const auto lines = lag_table(figures, width, height);
      EXPECT_LE(lines.size(), std::max<std::size_t>(height, 2));
      for (const console::Line& line : lines) {
        EXPECT_LE(console::display_width(line.text), width) << line.text;
      }
    }
  }
}

TEST(LagTable, SaysHowManyPartitionsAreLeftOut) {
  const auto lines = lag_table({known("a"), known("b"), known("c")}, 100, 3);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].text.rfind("partition", 0), 0U);
  EXPECT_EQ(lines[2].text, "and 2 more");
}

}  // namespace
}
