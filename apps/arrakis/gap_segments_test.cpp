#include "gap_segments.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "arrakis/block.hpp"

namespace arrakis::cli {
namespace {

using std::chrono::milliseconds;

constexpr GpsTime kStart = GpsTime::from_seconds(1'400'000'000);
constexpr Duration kSecond = std::chrono::seconds(1);

const ChannelSet& channels() {
  static const ChannelSet kChannels({Channel("X1:A", DataType::int32, SampleRate(4)),
                                     Channel("X1:B", DataType::int32, SampleRate(2))});
  return kChannels;
}

SeriesBlock block(int second, const std::vector<bool>& a, const std::vector<bool>& b) {
  return BlockBuilder(kStart + second * kSecond, channels())
      .set("X1:A", std::vector<std::int32_t>(4), a)
      .set("X1:B", std::vector<std::int32_t>(2), b)
      .build();
}
SeriesBlock whole(int second) { return block(second, std::vector<bool>(4), std::vector<bool>(2)); }
Segment segment(int from_ms, int to_ms) {
  return {kStart + milliseconds(from_ms), kStart + milliseconds(to_ms)};
}

TEST(GapSegments, NothingIsMissingInWholeBlocks) {
  GapSegments gaps(channels(), kStart);
  gaps.add(whole(0));
  gaps.add(whole(1));
  gaps.finish(kStart + 2 * kSecond);
  EXPECT_TRUE(gaps.empty());
  EXPECT_TRUE(gaps.any().empty());
  EXPECT_TRUE(gaps.every().empty());
}

TEST(GapSegments, MissingSamplesReachToTheNextOneAndMergeAcrossBlocks) {
  GapSegments gaps(channels());
  gaps.add(block(0, {true, false, true, true}, {false, true}));
  gaps.add(block(1, {true, false, false, false}, {false, false}));
  gaps.add(block(2, {false, false, false, true}, {false, false}));
  EXPECT_EQ(gaps.of(0), (SegmentList{segment(0, 250), segment(500, 1250), segment(2750, 3000)}));
  EXPECT_EQ(gaps.of(1), (SegmentList{segment(500, 1000)}));
  EXPECT_EQ(gaps.any(), (SegmentList{segment(0, 250), segment(500, 1250), segment(2750, 3000)}));
  EXPECT_EQ(gaps.every(), (SegmentList{segment(500, 1000)}));
  EXPECT_EQ(total(gaps.of(0)), milliseconds(1250));
}

TEST(GapSegments, TimeThatNoBlockCoversIsMissingInEveryChannelAlsoAtBothEnds) {
  GapSegments gaps(channels(), kStart);
  gaps.add(whole(1));
  gaps.add(block(4, {true, true, true, true}, {false, false}));
  gaps.finish(kStart + 6 * kSecond);
  EXPECT_EQ(gaps.of(0), (SegmentList{segment(0, 1000), segment(2000, 6000)}));
  EXPECT_EQ(gaps.of(1), (SegmentList{segment(0, 1000), segment(2000, 4000), segment(5000, 6000)}));
  EXPECT_EQ(gaps.every(), gaps.of(1));
  EXPECT_EQ(gaps.any(), gaps.of(0));
}

TEST(GapSegments, NothingAtAllIsOneSegmentOfTheWholeRequest) {
  GapSegments gaps(channels(), kStart);
  gaps.finish(kStart + kSecond);
  EXPECT_EQ(gaps.every(), (SegmentList{segment(0, 1000)}));
  GapSegments open(channels());
  open.finish(kStart);
  EXPECT_TRUE(open.empty());
}

TEST(GapSegments, ChannelThatABlockDoesNotHaveIsMissingInIt) {
  GapSegments gaps(channels());
  gaps.add(whole(0));
  gaps.add(whole(1).filter({"X1:B"}));
  EXPECT_EQ(gaps.of(0), (SegmentList{segment(1000, 2000)}));
  EXPECT_TRUE(gaps.of(1).empty());
}

TEST(GapSegments, SegmentsOfAnOddRateTouchExactly) {
  const ChannelSet odd({Channel("X1:A", DataType::int8, SampleRate(3))});
  GapSegments gaps(odd);
  for (int i = 0; i < 10; ++i) gaps.add(full_gap(kStart + i * kSecond, kSecond, odd));
  EXPECT_EQ(gaps.of(0), (SegmentList{segment(0, 10'000)}));
}

TEST(GapSegments, GapInABlockThatWasCutEndsWithTheBlock) {
  GapSegments gaps(channels(), kStart);
  gaps.add(block(0, {false, false, true, true}, {false, false})
               .clip(kStart, kStart + milliseconds(600)));
  EXPECT_EQ(gaps.of(0), (SegmentList{segment(500, 600)}));
}

}  // namespace
}
