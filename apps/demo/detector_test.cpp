#include "demo/detector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace arrakis::demo {
namespace {

const GpsTime kOn = GpsTime::from_seconds(1'400'000'000);
constexpr int kBlocksASecond = 16;

/// The share that has this channel.
Instrument instrument_with(Detector& detector, std::string_view channel) {
  std::vector<Instrument> instruments = detector.take_instruments();
  const auto it = std::find_if(instruments.begin(), instruments.end(),
                               [&](const Instrument& i) { return i.channels().contains(channel); });
  EXPECT_NE(it, instruments.end());
  return std::move(*it);
}

TEST(Detector, HasThreePublishers) {
  Detector detector(kOn, 1);
  const std::vector<Instrument> instruments = detector.take_instruments();
  ASSERT_EQ(instruments.size(), 3U);
  EXPECT_EQ(instruments[0].channels().size(), 1U);
  EXPECT_EQ(instruments[1].channels().size(), 20U);
  EXPECT_EQ(instruments[2].channels().size(), 5U);
  EXPECT_EQ(detector.channels().size(), 26U);
}

TEST(Detector, ChannelsSayWhereTheyTravel) {
  const Detector detector(kOn, 1);
  std::set<std::pair<std::string, std::uint32_t>> places;
  for (const Channel& channel : detector.channels()) {
    ASSERT_TRUE(channel.partition_id && channel.partition_index && channel.publisher);
    EXPECT_EQ(channel.stride, kStride);
    EXPECT_GT(channel.max_latency, kStride);
    places.emplace(*channel.partition_id, *channel.partition_index);
  }
  EXPECT_EQ(places.size(), detector.channels().size());
}

TEST(Detector, APartitionCarriesOneDataType) {
  const Detector detector(kOn, 1);
  std::set<std::pair<std::string, DataType>> types;
  std::set<std::string> partitions;
  for (const Channel& channel : detector.channels()) {
    types.emplace(*channel.partition_id, channel.data_type());
    partitions.insert(*channel.partition_id);
  }
  EXPECT_EQ(types.size(), partitions.size());
}

TEST(Detector, ShownChannelsExist) {
  const Detector detector(kOn, 1);
  EXPECT_EQ(detector.channels().select(shown_channels()).size(), shown_channels().size());
}

TEST(Instrument, BlocksFollowEachOther) {
  Detector detector(kOn, 1);
  for (Instrument& instrument : detector.take_instruments()) {
    for (int i = 0; i < 3; ++i) {
      const SeriesBlock block = instrument.next_block();
      EXPECT_EQ(block.time(), kOn + i * kStride);
      EXPECT_EQ(block.duration(), kStride);
      EXPECT_EQ(block.size(), instrument.channels().size());
      EXPECT_FALSE(block.has_gaps());
    }
  }
}

TEST(Instrument, SamplesDependOnlyOnTheSeed) {
  const auto sample = [](std::uint64_t seed) {
    Detector detector(kOn, seed);
    Instrument instrument = instrument_with(detector, "X1:CAL-STRAIN");
    instrument.next_block();
    return instrument.next_block()["X1:CAL-STRAIN"].value_as_double(17);
  };
  EXPECT_EQ(sample(1), sample(1));
  EXPECT_NE(sample(1), sample(2));
}

TEST(Instrument, TheFaultyChannelIsLeftOutOrAGapWhileItIsSilent) {
  Detector detector(kOn, 1);
  Instrument instrument = instrument_with(detector, kFaultyChannel);
  const Channel faulty = instrument.channels().at(kFaultyChannel);
  int left_out = 0;
  int partly = 0;
  for (int i = 0; i < 9 * kBlocksASecond; ++i) {
    const SeriesBlock block = instrument.next_block();
    const std::size_t silent = detector.silent_samples(faulty, block.time(), block.end());
    if (!block.channels().contains(kFaultyChannel)) {
      EXPECT_EQ(silent, 16U);
      EXPECT_EQ(block.size(), 19U);
      ++left_out;
      continue;
    }
    EXPECT_EQ(block[kFaultyChannel].gap_count(), silent);
    if (silent > 0) ++partly;
    EXPECT_FALSE(block["X1:SUS-ETMX_PIT"].has_gaps());
  }
  EXPECT_GE(left_out, kBlocksASecond - 2);  // silent for a second at least
  EXPECT_LE(partly, 2);
}

TEST(Detector, OnlyTheFaultyChannelIsEverSilent) {
  const Detector detector(kOn, 1);
  std::size_t silent = 0;
  for (const Channel& channel : detector.channels()) {
    const std::size_t samples =
        detector.silent_samples(channel, kOn, kOn + std::chrono::seconds(9));
    if (channel.name() != kFaultyChannel) {
      EXPECT_EQ(samples, 0U) << channel.name();
    }
    silent += samples;
  }
  EXPECT_GE(silent, 255U);
  EXPECT_LE(silent, 513U);
}

}  // namespace
}
