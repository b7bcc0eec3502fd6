#include "demo/tally.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "arrakis/channel.hpp"

namespace arrakis::demo {
namespace {

using std::chrono::milliseconds;

const GpsTime kOn = GpsTime::from_seconds(1'400'000'000);

/// A block of two channels, as it arrives: one as the detector made it, but for `lost` samples.
class TallyTest : public testing::Test {
 protected:
  SeriesBlock received(GpsTime time, std::size_t lost = 0) {
    const ChannelSet channels = detector_.channels().select(
        std::vector<std::string>{std::string(kFaultyChannel), "X1:LSC-DARM_ERR"});
    std::array<bool, 16> silent{};
    const std::size_t count =
        detector_.silent_samples(channels.at(kFaultyChannel), time, time + kStride);
    std::fill_n(silent.begin(), count, true);
    std::array<bool, 16> missing{};
    std::fill_n(missing.begin(), lost, true);
    return BlockBuilder(time, channels)
        .set(kFaultyChannel, std::vector<float>(16), silent)
        .set("X1:LSC-DARM_ERR", std::vector<float>(16), missing)
        .build();
  }

  Detector detector_{kOn, 1};
  Tally tally_{detector_};
};

TEST_F(TallyTest, GapsThatTheDetectorPlannedAreNoLoss) {
  for (int i = 0; i < 9 * 16; ++i) tally_.add(received(kOn + i * kStride), milliseconds(3));
  EXPECT_EQ(tally_.blocks(), 144U);
  EXPECT_EQ(tally_.span(), std::chrono::seconds(9));
  EXPECT_GT(tally_.silent_samples(), 200U);
  EXPECT_EQ(tally_.samples() + tally_.silent_samples(), 144U * 32);
  EXPECT_EQ(tally_.lost_samples(), 0U);
  EXPECT_GT(tally_.blocks_with_gaps(), 15U);
  EXPECT_EQ(tally_.summary().back(), "lost     nothing");
}

TEST_F(TallyTest, WhatIsMissingBeyondThatIsLost) {
  tally_.add(received(kOn), milliseconds(3));
  tally_.add(received(kOn + kStride, 5), milliseconds(3));
  EXPECT_EQ(tally_.lost_samples(), 5U);
  EXPECT_EQ(tally_.silent_samples(), 0U);
  EXPECT_EQ(tally_.blocks_with_gaps(), 1U);
  EXPECT_EQ(tally_.summary().back(), "lost     5 samples");
}

TEST_F(TallyTest, SummaryIsShort) {
  EXPECT_EQ(tally_.summary(), std::vector<std::string>{"no block came"});
  tally_.add(received(kOn), milliseconds(3));
  for (const std::string& line : tally_.summary()) EXPECT_LE(line.size(), 79U) << line;
  EXPECT_EQ(tally_.summary()[0], "0.1 s   1 blocks of 2 channels, 32 samples");
}

TEST(AgeText, HasAUnitThatFits) {
  EXPECT_EQ(age_text(std::chrono::microseconds(3240)), "3.2 ms");
  EXPECT_EQ(age_text(milliseconds(1250)), "1.25 s");
  EXPECT_EQ(age_text(Duration::zero()), "0.0 ms");
}

}  // namespace
}
