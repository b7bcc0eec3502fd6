/// A reader under faults that a real broker can't be made to show.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "arrakis/kafka.hpp"
#include "kafka/embedded_broker.hpp"
#include "kafka/reader_impl.hpp"
#include "testing/channels.hpp"
#include "testing/collector.hpp"
#include "testing/eventually.hpp"
#include "testing/log_lines.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using testing::kStride;
using testing::make_block;
using testing::make_partition;
using testing::on_grid;

class KafkaReaderFault : public ::testing::Test {
 protected:
  KafkaReaderFault() { broker_.create_topic("arrakis-P"); }

  void publish(int first, int count) {
    for (int i = first; i < first + count; ++i) {
      publisher_.publish(make_block(base_ + i * kStride, channels_, i));
    }
  }
  std::vector<GpsTime> times(int count) const {
    std::vector<GpsTime> expected;
    expected.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) expected.push_back(base_ + i * kStride);
    return expected;
  }
  bool poll_until(std::size_t parts, Duration limit = 30s) {
    return got_.poll_until(
        reader_, [&] { return got_.parts.size() >= parts; }, limit);
  }

  EmbeddedBroker broker_;
  const GpsTime base_ = on_grid(system_clock().now()) - 60s;
  const ChannelSet channels_{make_partition("P", 1)};
  KafkaPublisher publisher_{broker_.bootstrap(), channels_};
  KafkaReader reader_{broker_.bootstrap(),
                      channels_,
                      {.missing_topic_interval = 50ms, .restart_after_fatal = true}};
  Collector got_;
};

TEST_F(KafkaReaderFault, PartitionThatLibrdkafkaNoLongerFetchesIsNoticedAndRevived) {
  reader_.open({});
  publish(0, 5);
  ASSERT_TRUE(poll_until(5));
  const PartitionList list = one_partition("arrakis-P", 0);
  rd_kafka_pause_partitions(KafkaReaderPeer::client(reader_), list.get());
  publish(5, 10);
  ASSERT_TRUE(poll_until(15));
  EXPECT_EQ(got_.times(0), times(15));
  EXPECT_EQ(reader_.stats().revived_partitions, 1U);
  const auto began = got_.events_of<events::OutageBegan>();
  ASSERT_EQ(began.size(), 1U);
  EXPECT_THAT(began[0].reason,
              ::testing::HasSubstr("arrakis-P [0] is silent at offset 5 although its log goes to"));
  EXPECT_EQ(got_.events_of<events::OutageEnded>().size(), 1U);
}

TEST_F(KafkaReaderFault, ReaderThatIsNotPolledIsNotTakenForAStall) {
  reader_.open({});
  publish(0, 5);
  std::this_thread::sleep_for(3 * kSilenceCheck);
  ASSERT_TRUE(poll_until(5));
  EXPECT_EQ(reader_.stats().revived_partitions, 0U);
}

TEST_F(KafkaReaderFault, AfterAFatalErrorReadingGoesOnWithANewClientWhereItWas) {
  reader_.open({});
  publish(0, 5);
  ASSERT_TRUE(poll_until(5));
  rd_kafka_test_fatal_error(KafkaReaderPeer::client(reader_), RD_KAFKA_RESP_ERR__FATAL,
                            "made by a test");
  publish(5, 5);
  ASSERT_TRUE(poll_until(10));
  EXPECT_EQ(got_.times(0), times(10));
  EXPECT_EQ(reader_.stats().restarts, 1U);
  EXPECT_EQ(got_.events_of<events::OutageBegan>().size(), 1U);
  EXPECT_EQ(got_.events_of<events::OutageEnded>().size(), 1U);
}

TEST_F(KafkaReaderFault, WithoutTheOptionAFatalErrorIsThrownAfterWhatCameBeforeIt) {
  KafkaReader reader(broker_.bootstrap(), channels_);
  reader.open({});
  publish(0, 5);
  ASSERT_TRUE(got_.poll_until(reader, [&] { return got_.parts.size() == 5; }));
  rd_kafka_test_fatal_error(KafkaReaderPeer::client(reader), RD_KAFKA_RESP_ERR__FATAL,
                            "made by a test");
  try {
    got_.poll_until(reader, [] { return false; });
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::broker_fatal);
    EXPECT_THAT(error.what(), ::testing::HasSubstr(broker_.bootstrap()));
  }
  EXPECT_TRUE(reader.done());
}

TEST_F(KafkaReaderFault, BrokerThatSaysForAWhileThatTheTopicIsGoneIsReadOnWithoutRepeats) {
  reader_.open({});
  publish(0, 5);
  ASSERT_TRUE(poll_until(5));
  rd_kafka_mock_topic_set_error(broker_.cluster(), "arrakis-P",
                                RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  ASSERT_TRUE(got_.poll_until(
      reader_, [&] { return reader_.stats().missing_topics == 1; }, 30s));
  rd_kafka_mock_topic_set_error(broker_.cluster(), "arrakis-P", RD_KAFKA_RESP_ERR_NO_ERROR);
  ASSERT_TRUE(got_.poll_until(
      reader_, [&] { return reader_.stats().missing_topics == 0; }, 30s));
  publish(5, 5);
  ASSERT_TRUE(poll_until(10));
  EXPECT_EQ(got_.times(0), times(10));
  EXPECT_EQ(reader_.stats().recreated_topics, 0U);
}

TEST_F(KafkaReaderFault, TopicThatTheBrokerCanNotTellAboutIsStillThere) {
  reader_.open({});
  publish(0, 5);
  ASSERT_TRUE(poll_until(5));
  rd_kafka_mock_topic_set_error(broker_.cluster(), "arrakis-P",
                                RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  // Longer than the interval at which topics are compared.
  got_.poll_until(
      reader_, [] { return false; }, 2 * kTopicIdInterval);
  EXPECT_EQ(reader_.stats().missing_topics, 0U);
  rd_kafka_mock_topic_set_error(broker_.cluster(), "arrakis-P", RD_KAFKA_RESP_ERR_NO_ERROR);
  publish(5, 5);
  ASSERT_TRUE(poll_until(10));
  EXPECT_EQ(got_.times(0), times(10));
}

TEST_F(KafkaReaderFault, TopicThatCouldNotBeToldAboutAtFirstIsReadFromItsStart) {
  rd_kafka_mock_topic_set_error(broker_.cluster(), "arrakis-P",
                                RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  reader_.open({.start = GpsTime()});
  EXPECT_EQ(reader_.stats().missing_topics, 1U);
  rd_kafka_mock_topic_set_error(broker_.cluster(), "arrakis-P", RD_KAFKA_RESP_ERR_NO_ERROR);
  publish(0, 5);
  ASSERT_TRUE(poll_until(5));
  EXPECT_EQ(got_.times(0), times(5));
}

TEST_F(KafkaReaderFault, StreamThatIsPausedStaysSoThroughAMoveAndANewClient) {
  publish(0, 5);
  reader_.open({.start = GpsTime()});
  reader_.pause(0);
  ASSERT_EQ(reader_.fast_forward(), 1U);
  rd_kafka_test_fatal_error(KafkaReaderPeer::client(reader_), RD_KAFKA_RESP_ERR__FATAL,
                            "made by a test");
  ASSERT_TRUE(got_.poll_until(
      reader_, [&] { return reader_.stats().restarts == 1; }, 30s));
  publish(5, 300);  // more than one poll takes
  got_.poll_until(
      reader_, [] { return false; }, 1s);
  EXPECT_TRUE(got_.parts.empty());
  EXPECT_EQ(reader_.stats().messages, 0U);
  reader_.resume(0);
  EXPECT_TRUE(poll_until(300));
}

TEST(KafkaReaderFaults, APartitionThatTheBrokerCallsLeaderlessForAMomentIsReadOn) {
  const testing::LogLines log(LogLevel::debug);
  EmbeddedBroker broker(2);
  broker.create_topic("arrakis-P");
  rd_kafka_mock_partition_set_leader(broker.cluster(), "arrakis-P", 0, 1);
  const ChannelSet channels(make_partition("P", 1));
  KafkaPublisher publisher(broker.bootstrap(), channels);
  KafkaReader reader(broker.bootstrap(), channels);
  Collector got;
  const GpsTime base = on_grid(system_clock().now()) - 60s;
  int published = 0;
  const auto all_come = [&](int count) {
    for (int i = 0; i < count; ++i, ++published) {
      publisher.publish(make_block(base + published * kStride, channels, published));
    }
    return got.poll_until(
        reader, [&] { return got.parts.size() == static_cast<std::size_t>(published); }, 30s);
  };
  reader.open({});
  ASSERT_TRUE(all_come(5));
  for (int i = 0; i < 3; ++i) {
    rd_kafka_mock_partition_push_leader_response(broker.cluster(), "arrakis-P", 0, -1, i + 1);
    rd_kafka_mock_partition_set_leader(broker.cluster(), "arrakis-P", 0, 2 - i % 2);
    // Until the next fetch has been answered; a publisher would ask first.
    got.poll_until(
        reader, [] { return false; }, 500ms);
    ASSERT_TRUE(all_come(5)) << "move " << i;
  }
  // What librdkafka makes of memory that nobody has written; with bad luck it crashes.
  EXPECT_THAT(log.of(LogLevel::debug, {"METADATAUPDATE", "not found"}), ::testing::IsEmpty());
}

TEST(KafkaReaderFetches, OfManyStreamsGatherWhatComesWithinTenMilliseconds) {
  EmbeddedBroker broker;
  const auto property = [&](std::uint32_t streams, const char* name) {
    std::vector<Channel> channels;
    for (std::uint32_t i = 0; i < streams; ++i) {
      channels.push_back(make_partition("P" + std::to_string(i), 1)[0]);
      if (streams > 1) broker.create_topic("arrakis-P" + std::to_string(i));
    }
    KafkaReader reader(broker.bootstrap(), ChannelSet(std::move(channels)));
    reader.open({});
    char value[32] = "";
    std::size_t size = sizeof value;
    rd_kafka_conf_get(rd_kafka_conf(KafkaReaderPeer::client(reader)), name, value, &size);
    return std::string(value);
  };
  EXPECT_EQ(property(1, "fetch.min.bytes"), "1");
  EXPECT_EQ(property(kMostForSingleFetches + 1, "fetch.min.bytes"), "1000000");
  EXPECT_EQ(property(1, "fetch.wait.max.ms"), "100");
}

TEST_F(KafkaReaderFault, WhatASkipToAnUnknownEndPassesOverIsCounted) {
  publish(0, 300);  // more than one poll takes
  reader_.open({.start = GpsTime()});
  ASSERT_TRUE(poll_until(1));
  rd_kafka_mock_broker_set_down(broker_.cluster(), -1);
  ASSERT_EQ(reader_.fast_forward({}, 100ms), 1U);
  rd_kafka_mock_broker_set_up(broker_.cluster(), -1);
  const std::size_t before = got_.parts.size();
  int published = 300;
  ASSERT_TRUE(testing::eventually([&] {
    publish(published++, 1);
    got_.poll_until(
        reader_, [&] { return got_.parts.size() > before; }, 200ms);
    return got_.parts.size() > before;
  }));
  const ReaderStats stats = reader_.stats();
  EXPECT_EQ(got_.parts.back().part->time(), base_ + (published - 1) * kStride);
  EXPECT_EQ(got_.parts.size() + stats.skipped_messages, static_cast<std::size_t>(published));
}

TEST_F(KafkaReaderFault, PollDoesNotWakeItselfWhileASkipIsLookedUp) {
  ReaderOptions options;
  options.fast_forward = true;
  options.policy.grace_floor = 0;
  options.policy.grace_budgets = 1e-9;
  KafkaReader reader(broker_.bootstrap(), channels_, options);
  publish(0, 1000);
  reader.open({.start = GpsTime()});
  std::atomic<int> wakes{0};
  reader.set_wakeup([&] { ++wakes; });
  // The look-up takes three round trips.
  rd_kafka_mock_broker_set_rtt(broker_.cluster(), -1, 300);
  ASSERT_TRUE(got_.poll_until(
      reader, [&] { return !got_.events_of<events::SkippedAhead>().empty(); }, 30s));
  EXPECT_LT(wakes, 100);
}

}
}
