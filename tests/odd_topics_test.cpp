/// Topics that are late, empty or nearly empty, and messages that are too large.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "arrakis/arrakis.hpp"
#include "testing/channels.hpp"
#include "testing/collector.hpp"
#include "testing/live_publisher.hpp"
#include "testing/raw_producer.hpp"
#include "testing/real_broker.hpp"
#include "wire/row_encoder.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using ::testing::HasSubstr;
using testing::kStride;
using testing::LivePublisher;
using testing::make_block;
using testing::make_partition;
using testing::on_grid;
using testing::RealBroker;
using Steady = std::chrono::steady_clock;

class OddTopics : public ::testing::Test {
 protected:
  std::string fresh_partition() {
    std::string id = random_alphanum(8);
    broker_.create_topic("arrakis-" + id);
    return id;
  }

  RealBroker& broker_ = RealBroker::get();
  const GpsTime base_ = on_grid(system_clock().now()) - 60s;
};

TEST_F(OddTopics, OneOfThreeThatIsLateIsAGapThenDataAndTheOthersAreUndisturbed) {
  // From the making of the topic until its data is there.
  constexpr Duration kLimit = 11s;
  const auto patient = [](const std::string& partition) {
    std::vector<Channel> channels = make_partition(partition, 1);
    for (Channel& channel : channels) channel.max_latency = 4s;  // only what is missing is a gap
    return channels;
  };
  const std::vector<Channel> p = patient(fresh_partition());
  const std::vector<Channel> q = patient(fresh_partition());
  const std::vector<Channel> late = patient(random_alphanum(8));
  StreamOptions options;
  std::vector<std::string> missing;
  std::vector<std::string> appeared;
  options.on_event = [&](const Event& event) {
    if (const auto* e = std::get_if<events::TopicMissing>(&event)) missing.push_back(e->topic);
    if (const auto* e = std::get_if<events::TopicAppeared>(&event)) appeared.push_back(e->topic);
  };
  BlockStream stream(std::make_unique<KafkaReader>(broker_.bootstrap(), testing::join(p, q, late)),
                     options);

  const LivePublisher publishing(broker_.bootstrap(), testing::join(p, q));
  std::optional<LivePublisher> late_publishing;
  Steady::time_point made = Steady::time_point::max();
  std::optional<Duration> took;
  int disturbed = 0;
  const auto deadline = Steady::now() + 120s;
  while (!took && Steady::now() < deadline) {
    const BlockStream::Next next = stream.next(1s);
    if (!next) continue;
    if (next.block[p[0].name()].has_gaps() || next.block[q[0].name()].has_gaps()) ++disturbed;
    const bool is_gap = next.block[late[0].name()].has_gaps();
    if (is_gap && !late_publishing) {
      broker_.create_topic("arrakis-" + *late[0].partition_id);
      made = Steady::now();
      late_publishing.emplace(broker_.bootstrap(), ChannelSet(late));
    }
    if (!is_gap) took = Steady::now() - made;
  }
  ASSERT_TRUE(late_publishing) << "no gap while the topic was missing";
  ASSERT_TRUE(took) << "no data of the late topic";
  EXPECT_LE(std::chrono::duration<double>(*took).count(),
            std::chrono::duration<double>(kLimit).count());
  EXPECT_EQ(disturbed, 0);
  EXPECT_THAT(missing, ::testing::ElementsAre("arrakis-" + *late[0].partition_id));
  EXPECT_EQ(appeared, missing);
}

TEST_F(OddTopics, AnEmptyOneBesideAFullOneIsGapsToTheEndOfTheRequest) {
  constexpr int kBlocks = 32;
  const ChannelSet full(make_partition(fresh_partition(), 1));
  const ChannelSet empty(make_partition(fresh_partition(), 1));
  KafkaPublisher publisher(broker_.bootstrap(), full);
  for (int i = 0; i < kBlocks; ++i) publisher.publish(make_block(base_ + i * kStride, full, i));
  StreamOptions options;
  options.start = base_;
  options.end = base_ + kBlocks * kStride;
  BlockStream stream(
      std::make_unique<KafkaReader>(broker_.bootstrap(), testing::join({full[0]}, {empty[0]})),
      options);
  int number = 0;
  for (const SeriesBlock& block : stream) {
    EXPECT_EQ(block.time(), base_ + number * kStride);
    EXPECT_FALSE(block[full[0].name()].has_gaps());
    EXPECT_TRUE(block[empty[0].name()].has_gaps());
    ++number;
  }
  EXPECT_EQ(number, kBlocks);
}

TEST_F(OddTopics, OneWithASingleMessageGivesItAndGapsAroundIt) {
  constexpr int kBlocks = 32;
  constexpr int kOnly = 7;
  const ChannelSet channels(make_partition(fresh_partition(), 1));
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  publisher.publish(make_block(base_ + kOnly * kStride, channels, kOnly));
  StreamOptions options;
  options.start = base_;
  options.end = base_ + kBlocks * kStride;
  BlockStream stream(std::make_unique<KafkaReader>(broker_.bootstrap(), channels), options);
  int number = 0;
  for (const SeriesBlock& block : stream) {
    EXPECT_EQ(block.is_all_gap(), number != kOnly) << number;
    ++number;
  }
  EXPECT_EQ(number, kBlocks);
}

TEST_F(OddTopics, OneWithASingleMessageOrNoneIsExhaustedOnceThatIsRead) {
  const ChannelSet one(make_partition(fresh_partition(), 1));
  const ChannelSet none(make_partition(fresh_partition(), 1));
  KafkaPublisher publisher(broker_.bootstrap(), one);
  publisher.publish(make_block(base_, one, 0));
  KafkaReader reader(broker_.bootstrap(), testing::join({one[0]}, {none[0]}));
  reader.open({.start = GpsTime()});
  EXPECT_FALSE(reader.caught_up(0));
  EXPECT_TRUE(reader.caught_up(1));
  Collector got;
  EXPECT_TRUE(got.poll_until(
      reader, [&] { return reader.exhausted(); }, 60s));
  EXPECT_EQ(got.parts.size(), 1U);
  EXPECT_TRUE(reader.caught_up(0));
}

/// Eleven channels of a mebibyte a block in one partition.
std::vector<Channel> eleven_megabytes(const std::string& partition) {
  constexpr std::uint32_t kChannels = 11;
  constexpr int kRate = 1 << 21;  // 2^17 float64 in a sixteenth of a second
  std::vector<Channel> channels;
  for (std::uint32_t i = 0; i < kChannels; ++i) {
    channels.push_back(testing::make_channel(fmt::format("X1:{}-{}", partition, i), partition, i,
                                             DataType::float64, kRate));
  }
  return channels;
}

TEST_F(OddTopics, ABlockOfElevenMegabytesIsRefusedByNameAndItsNeighboursArrive) {
  const std::string wide = fresh_partition();
  const std::string narrow = fresh_partition();
  const ChannelSet channels = testing::join(eleven_megabytes(wide), make_partition(narrow, 1));
  const ChannelSet few({channels.at("X1:" + wide + "-0"), channels.at("X1:" + narrow + "-0")});
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  publisher.publish(make_block(base_, few, 0));
  try {
    publisher.publish(make_block(base_ + kStride, channels, 1));
    ADD_FAILURE() << "published";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr(wide));
    EXPECT_THAT(error.what(), HasSubstr("11 channel(s) from X1:" + wide));
    EXPECT_THAT(error.what(), HasSubstr("10000000"));
  }
  publisher.publish(make_block(base_ + 2 * kStride, few, 2));
  KafkaReader reader(broker_.bootstrap(), channels);
  reader.open({.start = GpsTime()});
  Collector got;
  ASSERT_TRUE(got.poll_until(
      reader, [&] { return got.parts.size() >= 4 && reader.exhausted(); }, 60s));
  // Nothing of the refused block was sent, also not of its small partition.
  const std::vector<GpsTime> expected{base_, base_ + 2 * kStride};
  EXPECT_EQ(got.times(0), expected);
  EXPECT_EQ(got.times(1), expected);
}

TEST_F(OddTopics, AMessageOfElevenMegabytesThatSomebodyElseSentIsReadLikeItsNeighbours) {
  const std::string wide = fresh_partition();
  const ChannelSet channels(eleven_megabytes(wide));
  testing::RawProducer producer(broker_.bootstrap(), {{"message.max.bytes", "20000000"}});
  const ChannelSet few({channels[0]});
  const auto send = [&](int number, const ChannelSet& some) {
    for (const EncodedMessage& message :
         RowEncoder().encode(make_block(base_ + number * kStride, some, number))) {
      producer.send(message.topic, {message.bytes.data(), message.bytes.size()});
    }
  };
  send(0, few);
  send(1, channels);
  send(2, few);
  KafkaReader reader(broker_.bootstrap(), channels);
  reader.open({.start = GpsTime()});
  Collector got;
  ASSERT_TRUE(got.poll_until(
      reader, [&] { return got.parts.size() >= 3; }, 60s));
  EXPECT_EQ(got.times(0), (std::vector<GpsTime>{base_, base_ + kStride, base_ + 2 * kStride}));
}

}
}
