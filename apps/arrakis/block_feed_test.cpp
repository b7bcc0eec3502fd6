#include "block_feed.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "arrakis/json.hpp"

namespace arrakis::cli {
namespace {

const GpsTime kStart = GpsTime::from_seconds(1'000'000'000);
constexpr Duration kSecond = std::chrono::seconds(1);

SeriesBlock block(GpsTime time, std::vector<std::int32_t> samples,
                  const std::vector<bool>& gaps = {false, false, false, false}) {
  const auto flags = std::make_unique<bool[]>(gaps.size());
  for (std::size_t i = 0; i < gaps.size(); ++i) flags[i] = gaps[i];
  return BlockBuilder(time, ChannelSet({Channel("X1:A", DataType::int32, SampleRate(2))}))
      .set("X1:A", std::span<const std::int32_t>(samples), std::span(flags.get(), gaps.size()))
      .build();
}

std::string lines(const std::vector<SeriesBlock>& blocks) {
  std::string text;
  for (const SeriesBlock& each : blocks) text += to_json(each) + "\n";
  return text;
}

TEST(MovedTo, KeepsSamplesAndGaps) {
  const SeriesBlock moved =
      moved_to(block(kStart, {1, 2, 3, 4}, {false, true, false, false}), kStart + kSecond);
  EXPECT_EQ(moved.time(), kStart + kSecond);
  EXPECT_EQ(moved.duration(), 2 * kSecond);
  EXPECT_EQ(moved.at(0).values<std::int32_t>()[3], 4);
  EXPECT_TRUE(moved.at(0).is_gap(1));
  EXPECT_EQ(moved.at(0).gap_count(), 1U);
}

TEST(FileFeed, CutsBlocksToTheStride) {
  std::istringstream input(lines({block(kStart, {1, 2, 3, 4})}));
  FileFeed feed(BlockReader(input, "input"), kSecond, std::nullopt);
  const auto first = feed.next();
  const auto second = feed.next();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->time(), kStart);
  EXPECT_EQ(first->duration(), kSecond);
  EXPECT_EQ(second->time(), kStart + kSecond);
  EXPECT_EQ(second->at(0).values<std::int32_t>()[0], 3);
  EXPECT_FALSE(feed.next());
}

TEST(FileFeed, MovesAllBlocksByWhatTheFirstIsMovedBy) {
  std::istringstream input(
      lines({block(kStart, {1, 2, 3, 4}), block(kStart + 6 * kSecond, {5, 6, 7, 8})}));
  const GpsTime start = GpsTime::from_seconds(1'400'000'000);
  FileFeed feed(BlockReader(input, "input"), 2 * kSecond, start);
  const auto first = feed.next();
  const auto second = feed.next();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->time(), start);
  EXPECT_EQ(second->time(), start + 6 * kSecond);
}

TEST(FileFeed, OfNothingIsEmpty) {
  std::istringstream input;
  FileFeed feed(BlockReader(input, "input"), kSecond, std::nullopt);
  EXPECT_FALSE(feed.next());
}

TEST(GeneratorFeed, GoesOnStrideByStride) {
  GeneratorFeed feed(Generator(ChannelSet({Channel("X1:A", DataType::float64, SampleRate(4))}), {}),
                     kSecond, kStart);
  EXPECT_EQ(feed.next()->time(), kStart);
  EXPECT_EQ(feed.next()->time(), kStart + kSecond);
}

}  // namespace
}
