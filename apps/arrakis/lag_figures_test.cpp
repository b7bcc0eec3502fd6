#include "lag_figures.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "testing/channels.hpp"

namespace arrakis::cli {
namespace {

using arrakis::testing::kStride;
using std::chrono::milliseconds;

constexpr GpsTime kStart = GpsTime::from_seconds(1'400'000'000);

const ChannelSet& channels() {
  static const ChannelSet kChannels =
      arrakis::testing::join(arrakis::testing::make_partition("P", 2));
  return kChannels;
}

// Block `number` arrives `lag` after its end.
void arrive(LagTable& table, int number, Duration lag) {
  const SeriesBlock block =
      arrakis::testing::make_block(kStart + number * kStride, channels(), number);
  table.add(0, block, block.end() + lag, number * kStride + lag);
}

double ms(std::optional<Duration> duration) {
  return std::chrono::duration<double, std::milli>(duration.value()).count();
}

TEST(LagTable, PartitionOfWhichNothingCameHasNoFigures) {
  const LagTable table({"A", "B"});
  const std::vector<LagFigures> all = table.figures(kStart);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].partition, "B");
  EXPECT_EQ(all[1].blocks, 0U);
  EXPECT_FALSE(all[1].age || all[1].lag || all[1].p50 || all[1].worst);
  EXPECT_EQ(all[1].gap_share(), 0);
}

TEST(LagTable, PercentilesRateAndAgeAreThoseOfTheBlocksThatCame) {
  LagTable table({"A", "B"});
  for (int i = 0; i < 100; ++i) arrive(table, i, milliseconds(i == 99 ? 50 : i + 1));
  const GpsTime last_end = kStart + 100 * kStride;
  const LagFigures figures = table.figures(0, last_end + milliseconds(300));
  EXPECT_EQ(figures.blocks, 100U);
  EXPECT_NEAR(ms(figures.p50), 50, 1.5);
  EXPECT_NEAR(ms(figures.p90), 90, 2);
  EXPECT_NEAR(ms(figures.p99), 98.5, 2.5);
  EXPECT_EQ(figures.worst, milliseconds(99));
  EXPECT_EQ(figures.lag, milliseconds(50));
  EXPECT_EQ(figures.age, milliseconds(300));
  EXPECT_NEAR(figures.blocks_per_second, 16, 0.5);
  EXPECT_EQ(table.figures(1, last_end).blocks, 0U);
}

TEST(LagTable, AgeGrowsInSilenceAndABlockOutOfOrderDoesNotMakeItOlder) {
  LagTable table({"A"});
  arrive(table, 5, milliseconds(10));
  arrive(table, 3, milliseconds(500));
  const GpsTime end = kStart + 6 * kStride;
  EXPECT_EQ(table.figures(0, end + milliseconds(40)).age, milliseconds(40));
  EXPECT_EQ(table.figures(0, end + std::chrono::seconds(40)).age, std::chrono::seconds(40));
  EXPECT_EQ(table.figures(0, end).lag, milliseconds(10));
  EXPECT_EQ(table.figures(0, end).worst, milliseconds(500));
}

TEST(LagTable, GapsAreCountedAndABlockOfNothingElseNeverArrived) {
  LagTable table({"A"});
  const ChannelSet one(std::vector<Channel>{channels()[0]});
  const SeriesBlock half =
      BlockBuilder(kStart, one)
          .set("X1:P-0", std::vector<float>(4), std::vector<bool>{true, true, false, false})
          .build();
  table.add(0, half, half.end() + milliseconds(10), milliseconds(10));
  const SeriesBlock gap = full_gap(half.end(), kStride, one);
  table.add(0, gap, gap.end() + std::chrono::seconds(9), std::chrono::seconds(9));
  const LagFigures figures = table.figures(0, half.end() + milliseconds(20));
  EXPECT_EQ(figures.blocks, 1U);
  EXPECT_EQ(figures.missing_blocks, 1U);
  EXPECT_EQ(figures.samples, 8U);
  EXPECT_EQ(figures.gap_samples, 6U);
  EXPECT_EQ(figures.gap_share(), 0.75);
  EXPECT_EQ(figures.worst, milliseconds(10));
  EXPECT_EQ(figures.age, milliseconds(20));
}

}  // namespace
}
