#include "common/sparkline.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "arrakis/channel.hpp"

namespace arrakis::console {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Duration kStep = std::chrono::milliseconds(250);

template <typename T>
SeriesBlock block_of(GpsTime time, const std::vector<T>& samples, std::size_t gaps = 0) {
  const auto hz = static_cast<double>(samples.size()) * 4;  // the samples fill one step
  const ChannelSet channels({Channel("X1:A-B", data_type_of<T>(), SampleRate(hz))});
  const auto flags = std::make_unique<bool[]>(samples.size());
  std::fill_n(flags.get(), gaps, true);
  return BlockBuilder(time, channels)
      .set("X1:A-B", samples, std::span<const bool>(flags.get(), gaps > 0 ? samples.size() : 0))
      .build();
}

TEST(Sparkline, ScalesToTheLeastAndTheGreatest) {
  EXPECT_EQ(sparkline(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline(std::vector<double>{-1e-21, 1e-21}), "▁█");
}

TEST(Sparkline, EqualValuesAreHalfHigh) {
  EXPECT_EQ(sparkline(std::vector<double>{5, 5, 5}), "▄▄▄");
  EXPECT_EQ(sparkline(std::vector<double>{}), "");
}

TEST(Sparkline, WhatIsNoNumberIsADotAndDoesNotScale) {
  EXPECT_EQ(sparkline(std::vector<double>{0, kNan, 7}), "▁·█");
  EXPECT_EQ(sparkline(std::vector<double>{0, kInfinity, 7}), "▁·█");
  EXPECT_EQ(sparkline(std::vector<double>{kNan}), "·");
}

TEST(Sparkline, TheWholeRangeOfDoublesFits) {
  constexpr double most = std::numeric_limits<double>::max();
  EXPECT_EQ(sparkline(std::vector<double>{-most, 0, most}), "▁▅█");
}

TEST(SampleHistory, NewestStepIsAtTheRight) {
  SampleHistory history(kStep, 10);
  EXPECT_EQ(history.draw(3), "   ");
  for (int i = 0; i < 3; ++i) {
    const SeriesBlock block = block_of<float>(GpsTime() + i * kStep, {static_cast<float>(i)});
    history.add(block.at(0));
  }
  EXPECT_EQ(history.draw(5), "  ▁▅█");
  EXPECT_EQ(history.draw(2), "▁█");
  EXPECT_EQ(history.draw(0), "");
}

TEST(SampleHistory, StepsWithoutASampleAreGaps) {
  SampleHistory history(kStep, 10);
  history.add(block_of<float>(GpsTime(), {0}).at(0));
  history.add(block_of<float>(GpsTime() + 1 * kStep, {9}, 1).at(0));
  history.add(block_of<float>(GpsTime() + 4 * kStep, {1}).at(0));  // steps 2 and 3 never came
  EXPECT_EQ(history.draw(5), "▁···█");
}

TEST(SampleHistory, AJumpBeyondItsLengthLeavesOnlyGaps) {
  SampleHistory history(kStep, 4);
  history.add(block_of<float>(GpsTime(), {0}).at(0));
  history.add(block_of<float>(GpsTime::from_seconds(1'000'000'000), {1}).at(0));
  EXPECT_EQ(history.draw(4), "···▄");
  EXPECT_EQ(history.draw(9), "     ···▄");
}

TEST(SampleHistory, OldSamplesAreIgnored) {
  SampleHistory history(kStep, 4);
  history.add(block_of<float>(GpsTime() + 2 * kStep, {0}).at(0));
  history.add(block_of<float>(GpsTime(), {100}).at(0));
  EXPECT_EQ(history.draw(4), "   ▄");
}

TEST(SampleHistory, KeepsNoMoreThanItsLength) {
  SampleHistory history(kStep, 3);
  for (int i = 0; i < 100; ++i) {
    const SeriesBlock block = block_of<float>(GpsTime() + i * kStep, {static_cast<float>(i)});
    history.add(block.at(0));
  }
  EXPECT_EQ(history.draw(6), "   ▁▅█");
}

TEST(SampleHistory, AFastChannelIsDrawnByItsSwing) {
  SampleHistory history(kStep, 3);
  history.add(block_of<double>(GpsTime(), {-1, 1, -1, 1}).at(0));
  history.add(block_of<double>(GpsTime() + 1 * kStep, {-9, 9, -9, 9}).at(0));  // a burst
  history.add(block_of<double>(GpsTime() + 2 * kStep, {-1, 1, -1, 1}).at(0));
  EXPECT_EQ(history.draw(3), "▁█▁");
}

TEST(SampleHistory, TimesBeforeTheEpochAndIntegersAreFine) {
  SampleHistory history(kStep, 3);
  history.add(block_of<std::int32_t>(GpsTime() - 2 * kStep, {-600}).at(0));
  history.add(block_of<std::int32_t>(GpsTime() - 1 * kStep, {-10}).at(0));
  history.add(block_of<std::int32_t>(GpsTime(), {-600}).at(0));
  EXPECT_EQ(history.draw(3), "▁█▁");
}

}  // namespace
}
