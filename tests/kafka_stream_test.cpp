/// KafkaPublisher, KafkaReader and BlockStream against a real broker.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <set>
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
using testing::kStride;
using testing::LivePublisher;
using testing::make_block;
using testing::make_partition;
using testing::on_grid;
using testing::RealBroker;

class KafkaStream : public ::testing::Test {
 protected:
  /// A partition id that no other test uses, with its topic made.
  std::string fresh_partition() {
    std::string id = random_alphanum(8);
    broker_.create_topic("arrakis-" + id);
    return id;
  }
  static void publish(KafkaPublisher& publisher, GpsTime time, int first, int count) {
    for (int i = first; i < first + count; ++i) {
      publisher.publish_async(make_block(time + i * kStride, publisher.channels(), i), {});
    }
    ASSERT_TRUE(publisher.flush(30s));
  }
  static int number_of(const SeriesBlock& block) {
    return static_cast<int>(block.at(0).values<float>()[0]);
  }

  RealBroker& broker_ = RealBroker::get();
  const GpsTime base_ = on_grid(system_clock().now());
};

TEST_F(KafkaStream, LiveStreamOfTwoPublishersComesOutOnOneGridWithEveryValue) {
  const std::string p = fresh_partition();
  const std::string q = fresh_partition();
  const ChannelSet p_channels(make_partition(p, 3));
  const ChannelSet q_channels(make_partition(q, 2));
  KafkaPublisher p_publisher(broker_.bootstrap(), p_channels);
  KafkaPublisher q_publisher(broker_.bootstrap(), q_channels);
  StreamOptions options;
  options.timeout = 60s;  // however busy the machine is
  BlockStream stream(
      std::make_unique<KafkaReader>(broker_.bootstrap(),
                                    testing::join(make_partition(p, 3), make_partition(q, 2))),
      options);
  constexpr int kBlocks = 100;
  std::thread publishing([&] {
    for (int i = 0; i < kBlocks; ++i) {
      p_publisher.publish(make_block(base_ + i * kStride, p_channels, i));
      q_publisher.publish(make_block(base_ + i * kStride, q_channels, i));
    }
  });
  for (int i = 0; i < kBlocks; ++i) {
    const BlockStream::Next next = stream.next(20s);
    ASSERT_TRUE(next) << i;
    EXPECT_EQ(next.block.time(), base_ + i * kStride);
    EXPECT_FALSE(next.block.has_gaps());
    EXPECT_EQ(next.block["X1:" + q + "-1"].values<float>()[3], static_cast<float>(i + 1003));
  }
  publishing.join();
  EXPECT_EQ(stream.stats().blocks, static_cast<std::uint64_t>(kBlocks));
  EXPECT_EQ(stream.stats().late, 0U);
}

TEST_F(KafkaStream, BoundedStreamOfThePastGivesExactlyTheSpanAskedFor) {
  const std::string p = fresh_partition();
  const ChannelSet channels(make_partition(p, 1));
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  publish(publisher, base_ - 60s, 0, 480);
  StreamOptions options;
  options.start = base_ - 50s;
  options.end = base_ - 40s + kStride / 2;
  BlockStream stream(std::make_unique<KafkaReader>(broker_.bootstrap(), channels), options);
  GpsTime expected = *options.start;
  for (const SeriesBlock& block : stream) {
    EXPECT_EQ(block.time(), expected);
    EXPECT_EQ(number_of(block), (block.time() - (base_ - 60s)) / kStride);
    expected = block.end();
  }
  EXPECT_EQ(expected, *options.end);
}

TEST_F(KafkaStream, BoundedStreamOverAHoleEndsWithTheHoleAsGaps) {
  const std::string p = fresh_partition();
  const ChannelSet channels(make_partition(p, 1));
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  publish(publisher, base_ - 60s, 0, 10);
  StreamOptions options;
  options.start = base_ - 60s;
  options.end = base_ - 50s;
  BlockStream stream(std::make_unique<KafkaReader>(broker_.bootstrap(), channels), options);
  int blocks = 0;
  int gaps = 0;
  while (const BlockStream::Next next = stream.next(20s)) {
    ++blocks;
    if (next.block.is_all_gap()) ++gaps;
  }
  EXPECT_EQ(blocks, 160);
  EXPECT_EQ(gaps, 150);
}

TEST_F(KafkaStream, ATopicThatDoesNotExistIsAGapUntilItAppears) {
  const std::string p = fresh_partition();
  const std::string q = random_alphanum(8);
  // Enough latency that only a missing topic makes gaps, however busy the machine is.
  const auto patient = [](std::vector<Channel> channels) {
    for (Channel& channel : channels) channel.max_latency = 4s;
    return channels;
  };
  const ChannelSet p_channels(patient(make_partition(p, 1)));
  const ChannelSet q_channels(patient(make_partition(q, 1)));
  std::vector<std::string> seen;
  StreamOptions options;
  options.on_event = [&](const Event& event) { seen.push_back(to_string(event)); };
  BlockStream stream(std::make_unique<KafkaReader>(broker_.bootstrap(),
                                                   testing::join({p_channels[0]}, {q_channels[0]})),
                     options);
  const LivePublisher p_publishing(broker_.bootstrap(), p_channels);
  std::optional<LivePublisher> q_publishing;
  bool has_data = false;
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (!has_data && std::chrono::steady_clock::now() < deadline) {
    const BlockStream::Next next = stream.next(1s);
    if (!next) continue;
    EXPECT_FALSE(next.block["X1:" + p + "-0"].has_gaps());
    const bool is_gap = next.block["X1:" + q + "-0"].has_gaps();
    if (is_gap && !q_publishing) {
      broker_.create_topic("arrakis-" + q);
      q_publishing.emplace(broker_.bootstrap(), q_channels);
    }
    has_data = !is_gap;
  }
  ASSERT_TRUE(q_publishing) << "no gap while the topic was missing";
  EXPECT_TRUE(has_data);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_THAT(seen[0], ::testing::HasSubstr("arrakis-" + q));
  EXPECT_THAT(seen[1], ::testing::HasSubstr("arrakis-" + q));
}

TEST_F(KafkaStream, FastForwardLandsOnTheTargetAndDeliversNothingBelowIt) {
  const std::string p = fresh_partition();
  const ChannelSet channels(make_partition(p, 1));
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  KafkaReader reader(broker_.bootstrap(), channels);
  // Published in real time, so that the broker's stamps follow the blocks' times.
  const GpsTime begin = on_grid(system_clock().now());
  for (int i = 0; i < 48; ++i) {
    while (system_clock().now() < begin + (i + 1) * kStride) std::this_thread::sleep_for(2ms);
    publisher.publish(make_block(begin + i * kStride, channels, i));
  }
  OpenOptions options;
  options.start = begin;
  reader.open(options);
  const GpsTime target = begin + 32 * kStride;
  EXPECT_EQ(reader.fast_forward(target), 1U);
  Collector got;
  ASSERT_TRUE(got.poll_until(reader, [&] { return got.parts.size() >= 16; }));
  EXPECT_EQ(got.times(0).front(), target);
  EXPECT_EQ(got.times(0).back(), begin + 47 * kStride);
}

TEST_F(KafkaStream, RecordsDeletedUnderTheReaderAreCountedAndReadingGoesOn) {
  const std::string p = fresh_partition();
  const ChannelSet channels(make_partition(p, 1));
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  publish(publisher, base_, 0, 100);
  KafkaReader reader(broker_.bootstrap(), channels);
  reader.open({.start = GpsTime()});
  reader.pause(0);  // nothing fetched yet may reach past what is deleted
  Collector got;
  broker_.delete_records("arrakis-" + p, 60);
  reader.resume(0);
  ASSERT_TRUE(got.poll_until(
      reader, [&] { return !got.parts.empty() && got.times(0).back() == base_ + 99 * kStride; }));
  const std::uint64_t purged = reader.stats().purged_messages;
  EXPECT_EQ(got.parts.size() + purged, 100U);
  if (purged > 0) {
    EXPECT_EQ(got.events_of<events::DataLost>().at(0).count, purged);
  }
}

TEST_F(KafkaStream, TopicDeletedAndMadeAgainIsReadFromItsBeginning) {
  const std::string p = fresh_partition();
  const std::string topic = "arrakis-" + p;
  const ChannelSet channels(make_partition(p, 1));
  KafkaReader reader(broker_.bootstrap(), channels);
  reader.open({});
  Collector got;
  {
    KafkaPublisher publisher(broker_.bootstrap(), channels);
    publish(publisher, base_, 0, 10);
    ASSERT_TRUE(got.poll_until(reader, [&] { return got.parts.size() >= 10; }));
  }
  broker_.delete_topic(topic);
  std::this_thread::sleep_for(1s);
  broker_.create_topic(topic);
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  publish(publisher, base_, 10, 30);
  // What the new topic holds is delivered whole, whatever its offsets.
  EXPECT_TRUE(got.poll_until(
      reader,
      [&] {
        const std::vector<GpsTime> times = got.times(0);
        return std::set<GpsTime>(times.begin(), times.end()).size() == 40;
      },
      30s));
}

/// A topic that is deleted and at once made again, with more messages than the old one had.
class RecreatedTopic : public KafkaStream, public ::testing::WithParamInterface<Duration> {};

TEST_P(RecreatedTopic, IsDeliveredWholeOnceAndInOrder) {
  const std::string p = fresh_partition();
  const std::string topic = "arrakis-" + p;
  const ChannelSet channels(make_partition(p, 1));
  KafkaReader reader(broker_.bootstrap(), channels);
  reader.open({});
  Collector got;
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  publish(publisher, base_, 0, 10);
  ASSERT_TRUE(got.poll_until(reader, [&] { return got.parts.size() >= 10; }));
  const auto began = std::chrono::steady_clock::now();
  broker_.delete_topic(topic);
  broker_.create_topic(topic);
  // While nobody has noticed, the reader is polled as always.
  got.poll_until(
      reader, [&] { return std::chrono::steady_clock::now() - began >= GetParam(); }, 10s);
  KafkaPublisher second(broker_.bootstrap(), channels);
  publish(second, base_, 10, 30);
  ASSERT_TRUE(got.poll_until(
      reader, [&] { return !got.parts.empty() && got.parts.size() >= 40; }, 30s));
  got.poll_until(
      reader, [] { return false; }, 3s);  // what came twice would come now
  std::vector<GpsTime> expected;
  expected.reserve(40);
  for (int i = 0; i < 40; ++i) expected.push_back(base_ + i * kStride);
  // In order, unless it was made again faster than anybody can ask.
  if (GetParam() > kStride) {
    EXPECT_EQ(got.times(0), expected);
  } else {
    EXPECT_THAT(got.times(0), ::testing::UnorderedElementsAreArray(expected));
  }
  EXPECT_EQ(reader.stats().recreated_topics, 1U);
}
INSTANTIATE_TEST_SUITE_P(AfterASilence, RecreatedTopic,
                         ::testing::Values(0ms, 50ms, 300ms, 1000ms, 2500ms));

TEST_F(KafkaStream, MarkersOfATransactionAtTheEndAreNothingToWaitFor) {
  const std::string p = fresh_partition();
  const ChannelSet channels(make_partition(p, 1));
  testing::RawProducer producer(broker_.bootstrap(), {{"transactional.id", p}});
  ASSERT_EQ(rd_kafka_init_transactions(producer.client(), 60'000), nullptr);
  ASSERT_EQ(rd_kafka_begin_transaction(producer.client()), nullptr);
  RowEncoder encoder;
  for (int i = 0; i < 10; ++i) {
    for (const EncodedMessage& message :
         encoder.encode(make_block(base_ + i * kStride, channels, i))) {
      producer.send(message.topic, message.bytes);
    }
  }
  ASSERT_EQ(rd_kafka_commit_transaction(producer.client(), 60'000), nullptr);
  KafkaReader reader(broker_.bootstrap(), channels);
  reader.open({.start = GpsTime()});
  Collector got;
  EXPECT_TRUE(got.poll_until(
      reader, [&] { return reader.caught_up(0) && reader.exhausted(); }, 30s));
  EXPECT_EQ(got.parts.size(), 10U);
  EXPECT_EQ(reader.stats().revived_partitions, 0U);
}

TEST_F(KafkaStream, TopicMadeAnewAfterItsBrokerWasRestartedIsReadAgain) {
  const std::string p = fresh_partition();
  const ChannelSet channels(make_partition(p, 1));
  KafkaReader reader(broker_.bootstrap(), channels);
  reader.open({});
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  Collector got;
  publish(publisher, base_ - 60s, 0, 10);
  ASSERT_TRUE(got.poll_until(reader, [&] { return got.parts.size() >= 10; }));
  // The leader's term becomes the second; the new topic begins with the first again.
  broker_.terminate();
  broker_.restart();
  publish(publisher, base_ - 60s, 10, 10);
  ASSERT_TRUE(got.poll_until(
      reader, [&] { return got.parts.size() >= 20; }, 30s));
  broker_.delete_topic("arrakis-" + p);
  broker_.create_topic("arrakis-" + p);
  std::set<GpsTime> times;
  for (int i = 20; times.size() < 25 && i < 200; ++i) {
    try {
      publisher.publish(make_block(base_ - 60s + i * kStride, channels, i));
    } catch (const Error& error) {
      // Its client may have looked when there was no such topic.
      ASSERT_EQ(error.code(), Errc::delivery_failed) << error.what();
      continue;
    }
    const std::size_t before = got.parts.size();
    got.poll_until(
        reader, [&] { return got.parts.size() > before; }, 500ms);
    for (const GpsTime time : got.times(0)) times.insert(time);
  }
  EXPECT_GE(times.size(), 25U);
  // Not because the reader noticed that it had fallen silent.
  for (const auto& outage : got.events_of<events::OutageBegan>()) {
    EXPECT_THAT(outage.reason, ::testing::Not(::testing::HasSubstr("silent")));
  }
}

TEST_F(KafkaStream, EveryPartitionOfATopicIsRead) {
  const std::string p = random_alphanum(8);
  broker_.create_topic("arrakis-" + p, 3);
  const ChannelSet channels(make_partition(p, 1));
  KafkaReader reader(broker_.bootstrap(), channels);
  reader.open({});
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  publish(publisher, base_, 0, 5);
  Collector got;
  EXPECT_TRUE(got.poll_until(reader, [&] { return got.parts.size() >= 5; }));
}

}
}
