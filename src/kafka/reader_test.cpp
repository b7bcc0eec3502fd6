#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "arrakis/kafka.hpp"
#include "core/manual_clock.hpp"
#include "kafka/embedded_broker.hpp"
#include "testing/channels.hpp"
#include "testing/collector.hpp"
#include "testing/raw_producer.hpp"
#include "wire/row_encoder.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using testing::kStride;
using testing::make_block;
using testing::make_partition;
using testing::on_grid;

/// A reader on the embedded broker, and a publisher that writes what it reads.
class KafkaReaderTest : public ::testing::Test {
 protected:
  void publish(KafkaPublisher& publisher, GpsTime time, int first, int count) {
    for (int i = first; i < first + count; ++i) {
      publisher.publish(make_block(time + i * kStride, publisher.channels(), i));
    }
  }
  /// The first sample of channel 0 of each part, which is the block's number.
  static std::vector<int> numbers(const Collector& collector, std::size_t stream = 0) {
    std::vector<int> found;
    for (const Collector::Got& got : collector.parts) {
      if (got.stream != stream) continue;
      float value = 0;
      std::memcpy(&value, got.part->samples(0).values, sizeof value);
      found.push_back(static_cast<int>(value));
    }
    return found;
  }
  static std::vector<int> range(int first, int count) {
    std::vector<int> found;
    for (int i = first; i < first + count; ++i) found.push_back(i);
    return found;
  }

  EmbeddedBroker broker_;
  const GpsTime base_ = on_grid(system_clock().now()) - 60s;
};

TEST_F(KafkaReaderTest, LiveReaderDeliversWhatIsPublishedAfterItOpened) {
  broker_.create_topic("arrakis-P");
  const ChannelSet channels(make_partition("P", 3));
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  publish(publisher, base_, 0, 5);

  KafkaReader reader(broker_.bootstrap(), channels);
  reader.open({});
  EXPECT_TRUE(reader.caught_up(0));
  publish(publisher, base_, 5, 20);
  Collector got;
  ASSERT_TRUE(got.poll_until(reader, [&] { return got.parts.size() >= 20; }));
  EXPECT_EQ(numbers(got), range(5, 20));
  EXPECT_EQ(reader.streams().at(0).id, broker_.bootstrap() + "/P");
  EXPECT_EQ(reader.stats().parts, 20U);
  EXPECT_EQ(reader.stats().messages, 20U);
}

TEST_F(KafkaReaderTest, StartInThePastDeliversFromTheBlockThatCoversIt) {
  broker_.create_topic("arrakis-P");
  const ChannelSet channels(make_partition("P", 1));
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  publish(publisher, base_, 0, 10);

  KafkaReader reader(broker_.bootstrap(), channels);
  OpenOptions options;
  options.start = base_ + 4 * kStride + 1ns;
  reader.open(options);
  Collector got;
  ASSERT_TRUE(got.poll_until(reader, [&] { return reader.caught_up(0); }));
  EXPECT_EQ(numbers(got), range(4, 6));
  EXPECT_EQ(reader.stats().before_start, 4U);
}

TEST_F(KafkaReaderTest, StartZeroDeliversEverythingThereIs) {
  broker_.create_topic("arrakis-P");
  const ChannelSet channels(make_partition("P", 1));
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  publish(publisher, base_, 0, 10);
  KafkaReader reader(broker_.bootstrap(), channels);
  OpenOptions options;
  options.start = GpsTime();
  reader.open(options);
  Collector got;
  ASSERT_TRUE(got.poll_until(reader, [&] { return got.parts.size() >= 10; }));
  EXPECT_EQ(numbers(got), range(0, 10));
}

TEST_F(KafkaReaderTest, StartInTheFutureDeliversFromThen) {
  broker_.create_topic("arrakis-P");
  const ChannelSet channels(make_partition("P", 1));
  PublisherOptions publisher_options;
  publisher_options.future_limit.reset();
  KafkaPublisher publisher(broker_.bootstrap(), channels, publisher_options);
  KafkaReader reader(broker_.bootstrap(), channels);
  OpenOptions options;
  options.start = base_ + 100s;
  reader.open(options);
  publish(publisher, base_ + 100s - 2 * kStride, 0, 5);
  Collector got;
  ASSERT_TRUE(got.poll_until(reader, [&] { return got.parts.size() >= 3; }));
  EXPECT_EQ(numbers(got), range(2, 3));
}

TEST_F(KafkaReaderTest, MissingTopicIsReportedOnceAndPickedUpFromItsBeginning) {
  broker_.create_topic("arrakis-P");
  const ChannelSet present(make_partition("P", 1));
  const ChannelSet late(make_partition("Q", 1));
  KafkaReader reader(broker_.bootstrap(),
                     testing::join(make_partition("P", 1), make_partition("Q", 1)),
                     {.missing_topic_interval = 50ms});
  reader.open({});
  EXPECT_EQ(reader.stats().missing_topics, 1U);
  KafkaPublisher publisher(broker_.bootstrap(), present);
  publish(publisher, base_, 0, 3);
  Collector got;
  ASSERT_TRUE(got.poll_until(reader, [&] { return got.parts.size() >= 3; }));

  broker_.create_topic("arrakis-Q");
  KafkaPublisher late_publisher(broker_.bootstrap(), late);
  publish(late_publisher, base_, 0, 4);
  ASSERT_TRUE(got.poll_until(reader, [&] { return numbers(got, 1).size() >= 4; }));
  EXPECT_EQ(numbers(got, 0), range(0, 3));
  EXPECT_EQ(numbers(got, 1), range(0, 4));
  ASSERT_EQ(got.events_of<events::TopicMissing>().size(), 1U);
  EXPECT_EQ(got.events_of<events::TopicMissing>()[0].topic, "arrakis-Q");
  ASSERT_EQ(got.events_of<events::TopicAppeared>().size(), 1U);
  EXPECT_EQ(reader.stats().missing_topics, 0U);
}

TEST_F(KafkaReaderTest, EveryGoodMessageBetweenBadOnesArrivesAndEachBadOneIsCounted) {
  broker_.create_topic("arrakis-P");
  const ChannelSet channels(make_partition("P", 2));
  KafkaReader reader(broker_.bootstrap(), channels);
  reader.open({});

  testing::RawProducer producer(broker_.bootstrap());
  const auto good = [&](int i) {
    return encode_messages(make_block(base_ + i * kStride, channels, i)).at(0).bytes;
  };
  const std::string whole = good(99);
  const std::vector<std::string> bad = {
      "",
      std::string(64, '\0'),
      "This is no Arrow message at all, it is a line of text for people to read.",
      whole.substr(0, whole.size() / 2),
      whole.substr(0, whole.size() - 24),
  };
  int number = 0;
  producer.send("arrakis-P", good(number++));
  producer.send_null("arrakis-P");
  for (const std::string& bytes : bad) {
    producer.send("arrakis-P", good(number++));
    producer.send("arrakis-P", bytes);
  }
  producer.send("arrakis-P", good(number++));

  Collector got;
  ASSERT_TRUE(got.poll_until(reader, [&] { return numbers(got).size() >= 7; }));
  EXPECT_EQ(numbers(got), range(0, 7));
  const ReaderStats stats = reader.stats();
  EXPECT_EQ(stats.bad_messages + stats.no_rows, 6U);
  const auto began = got.events_of<events::OutageBegan>();
  ASSERT_GE(began.size(), 1U);
  EXPECT_THAT(began[0].reason, ::testing::HasSubstr("arrakis-P [0] at offset 1"));
  std::uint64_t lost = 0;
  for (const auto& ended : got.events_of<events::OutageEnded>()) lost += ended.lost;
  EXPECT_EQ(lost, stats.bad_messages);
}

TEST_F(KafkaReaderTest, PausedStreamKeepsItsPartsAndTheirOrderAndTheOthersGoOn) {
  broker_.create_topic("arrakis-P");
  broker_.create_topic("arrakis-Q");
  KafkaPublisher p(broker_.bootstrap(), ChannelSet(make_partition("P", 1)));
  KafkaPublisher q(broker_.bootstrap(), ChannelSet(make_partition("Q", 1)));
  KafkaReader reader(broker_.bootstrap(),
                     testing::join(make_partition("P", 1), make_partition("Q", 1)));
  reader.open({});
  Collector got;
  publish(p, base_, 0, 5);
  ASSERT_TRUE(got.poll_until(reader, [&] { return numbers(got, 0).size() == 5; }));
  reader.pause(0);
  publish(p, base_, 5, 50);
  publish(q, base_, 0, 50);
  ASSERT_TRUE(got.poll_until(reader, [&] { return numbers(got, 1).size() == 50; }));
  EXPECT_EQ(numbers(got, 0), range(0, 5));
  reader.resume(0);
  ASSERT_TRUE(got.poll_until(reader, [&] { return numbers(got, 0).size() == 55; }));
  EXPECT_EQ(numbers(got, 0), range(0, 55));
  EXPECT_EQ(numbers(got, 1), range(0, 50));
}

TEST_F(KafkaReaderTest, SinkThatWantsNoMoreGetsTheRestInTheNextPoll) {
  broker_.create_topic("arrakis-P");
  const ChannelSet channels(make_partition("P", 1));
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  KafkaReader reader(broker_.bootstrap(), channels);
  reader.open({});
  publish(publisher, base_, 0, 10);
  struct OneAtATime final : Source::Sink {
    bool on_part(std::size_t, BlockPartPtr part) override {
      times.push_back(part->time());
      return false;
    }
    void on_event(const Event&) override {}
    std::vector<GpsTime> times;
  } sink;
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (sink.times.size() < 10 && std::chrono::steady_clock::now() < deadline) {
    const std::size_t before = sink.times.size();
    reader.poll(sink);
    ASSERT_LE(sink.times.size(), before + 1);
    if (sink.times.size() == before) reader.wait(50ms);
  }
  ASSERT_EQ(sink.times.size(), 10U);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(sink.times[static_cast<std::size_t>(i)], base_ + i * kStride);
}

TEST_F(KafkaReaderTest, FastForwardSkipsWhatIsBehindAndCountsIt) {
  broker_.create_topic("arrakis-P");
  const ChannelSet channels(make_partition("P", 1));
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  KafkaReader reader(broker_.bootstrap(), channels);
  OpenOptions options;
  options.start = GpsTime();
  publish(publisher, base_, 0, 10);
  reader.open(options);
  EXPECT_EQ(reader.fast_forward(), 1U);
  publish(publisher, base_, 10, 5);
  Collector got;
  ASSERT_TRUE(got.poll_until(reader, [&] { return got.parts.size() >= 5; }));
  EXPECT_EQ(numbers(got), range(10, 5));
  EXPECT_EQ(reader.stats().skipped_messages, 10U);
  EXPECT_EQ(reader.stats().fast_forwards, 1U);
}

TEST_F(KafkaReaderTest, FastForwardAtTheHeadMovesNothing) {
  broker_.create_topic("arrakis-P");
  const ChannelSet channels(make_partition("P", 1));
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  KafkaReader reader(broker_.bootstrap(), channels);
  reader.open({});
  publish(publisher, base_, 0, 3);
  Collector got;
  ASSERT_TRUE(got.poll_until(reader, [&] { return got.parts.size() >= 3; }));
  EXPECT_EQ(reader.fast_forward(), 0U);
  EXPECT_EQ(reader.stats().fast_forwards, 0U);
}

TEST_F(KafkaReaderTest, StreamOverBudgetPastGraceSkipsItsBacklogAndRecovers) {
  broker_.create_topic("arrakis-P");
  const ChannelSet channels(make_partition("P", 1));
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  ReaderOptions options;
  options.fast_forward = true;
  options.policy.grace_floor = 0;
  options.policy.grace_budgets = 1e-9;
  KafkaReader reader(broker_.bootstrap(), channels, options);
  OpenOptions open;
  open.start = GpsTime();
  publish(publisher, base_ - 100s, 0, 1000);  // more than one poll takes
  reader.open(open);
  Collector got;
  ASSERT_TRUE(
      got.poll_until(reader, [&] { return !got.events_of<events::SkippedAhead>().empty(); }));
  EXPECT_LT(got.parts.size(), 1000U);
  const std::size_t before = got.parts.size();
  publish(publisher, on_grid(system_clock().now()), 0, 3);
  ASSERT_TRUE(got.poll_until(reader, [&] { return !got.events_of<events::Recovered>().empty(); }));
  ASSERT_TRUE(got.poll_until(reader, [&] { return got.parts.size() >= before + 3; }));
  const auto skipped = got.events_of<events::SkippedAhead>();
  EXPECT_EQ(skipped.size(), 1U);
  EXPECT_EQ(skipped[0].partitions_moved, 1U);
  const ReaderStats stats = reader.stats();
  EXPECT_EQ(stats.fast_forwards, 1U);
  EXPECT_GT(stats.skipped_messages, 0U);
}

TEST_F(KafkaReaderTest, WhenTheSourceIsLateNothingIsSkipped) {
  broker_.create_topic("arrakis-P");
  const ChannelSet channels(make_partition("P", 1));
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  ReaderOptions options;
  options.fast_forward = true;
  options.policy.grace_floor = 0;
  options.policy.grace_budgets = 1e-9;
  KafkaReader reader(broker_.bootstrap(), channels, options);
  reader.open({});
  Collector got;
  // One at a time, each read before the next: the reader is always at the head.
  for (int i = 0; i < 20; ++i) {
    publish(publisher, base_ - 100s, i, 1);
    const std::size_t wanted = static_cast<std::size_t>(i) + 1;
    ASSERT_TRUE(got.poll_until(reader, [&] { return got.parts.size() >= wanted; })) << i;
  }
  EXPECT_EQ(numbers(got), range(0, 20));
  EXPECT_EQ(reader.stats().skipped_messages, 0U);
  EXPECT_TRUE(got.events_of<events::SkippedAhead>().empty());
}

TEST_F(KafkaReaderTest, ExhaustedTellsWhenEverythingWasRead) {
  broker_.create_topic("arrakis-P");
  broker_.create_topic("arrakis-Empty");
  const ChannelSet channels = testing::join(make_partition("P", 1), make_partition("Empty", 1),
                                            make_partition("Missing", 1));
  KafkaPublisher publisher(broker_.bootstrap(), ChannelSet(make_partition("P", 1)));
  publish(publisher, base_, 0, 5);
  KafkaReader reader(broker_.bootstrap(), channels);
  OpenOptions options;
  options.start = GpsTime();
  reader.open(options);
  EXPECT_FALSE(reader.exhausted());
  Collector got;
  ASSERT_TRUE(got.poll_until(reader, [&] { return reader.exhausted(); }));
  EXPECT_EQ(got.parts.size(), 5U);
}

TEST_F(KafkaReaderTest, PartsOutliveTheReader) {
  broker_.create_topic("arrakis-P");
  const ChannelSet channels(make_partition("P", 1));
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  Collector got;
  {
    KafkaReader reader(broker_.bootstrap(), channels);
    reader.open({});
    publish(publisher, base_, 0, 10);
    ASSERT_TRUE(got.poll_until(reader, [&] { return got.parts.size() >= 10; }));
    EXPECT_GT(reader.stats().borrowed_bytes, 0U);
    reader.close();
    EXPECT_TRUE(reader.done());
    reader.close();
  }
  EXPECT_EQ(numbers(got), range(0, 10));
}

TEST_F(KafkaReaderTest, BeyondTheBorrowingLimitPartsAreCopiedAndCounted) {
  broker_.create_topic("arrakis-P");
  const ChannelSet channels(make_partition("P", 1));
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  ReaderOptions options;
  options.borrowed_bytes = 2000;
  KafkaReader reader(broker_.bootstrap(), channels, options);
  reader.open({});
  publish(publisher, base_, 0, 10);
  Collector got;
  ASSERT_TRUE(got.poll_until(reader, [&] { return got.parts.size() >= 10; }));
  const ReaderStats stats = reader.stats();
  EXPECT_LE(stats.borrowed_bytes, 2000U);
  EXPECT_GT(stats.copied_parts, 0U);
  EXPECT_LT(stats.copied_parts, 10U);
  EXPECT_EQ(numbers(got), range(0, 10));
  got.parts.clear();
  EXPECT_EQ(reader.stats().borrowed_bytes, 0U);
}

TEST_F(KafkaReaderTest, CloseFromAnotherThreadEndsAWait) {
  broker_.create_topic("arrakis-P");
  KafkaReader reader(broker_.bootstrap(), ChannelSet(make_partition("P", 1)));
  reader.open({});
  Collector got;
  reader.poll(got);
  std::thread closer([&] { reader.close(); });
  const auto begin = std::chrono::steady_clock::now();
  while (!reader.done() && std::chrono::steady_clock::now() - begin < 10s) reader.wait(10s);
  closer.join();
  EXPECT_TRUE(reader.done());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 9s);
  reader.poll(got);
  EXPECT_TRUE(got.parts.empty());
}

TEST(KafkaReader, OpenWithADeadBrokerThrowsWithinItsTimeoutAndNamesTheBroker) {
  ReaderOptions options;
  options.timeout = 300ms;
  KafkaReader reader("127.0.0.1:1", ChannelSet(make_partition("P", 1)), options);
  try {
    reader.open({});
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::broker_unavailable);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("127.0.0.1:1"));
  }
}

TEST(KafkaReader, ConstructionNamesTheChannelThatCantBeRead) {
  Channel channel("X1:A-B", DataType::float32, SampleRate(16));
  const auto message_of = [&] {
    try {
      KafkaReader reader("127.0.0.1:1", ChannelSet({channel}));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message_of(), ::testing::HasSubstr("X1:A-B"));
  channel.partition_id = "P";
  channel.partition_index = 3;
  EXPECT_THAT(message_of(), ::testing::HasSubstr("stride"));
  channel.stride = kStride;
  EXPECT_EQ(message_of(), "no error");
}

TEST(KafkaReader, UnknownPropertyIsRefusedByName) {
  ReaderOptions options;
  options.properties["no.such.property"] = "1";
  try {
    KafkaReader reader("127.0.0.1:1", ChannelSet(make_partition("P", 1)), options);
    FAIL() << "constructed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("no.such.property"));
  }
}

}
}
