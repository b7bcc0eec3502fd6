#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "arrakis/kafka.hpp"
#include "arrakis/log.hpp"
#include "kafka/embedded_broker.hpp"
#include "testing/channels.hpp"
#include "testing/collector.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using ::testing::HasSubstr;
using testing::kStride;
using testing::make_block;
using testing::make_partition;

class KafkaPublisherTest : public ::testing::Test {
 protected:
  static std::pair<std::optional<Errc>, std::string> failure(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return {error.code(), error.what()};
    }
    return {std::nullopt, ""};
  }
  EmbeddedBroker broker_;
  const GpsTime base_ = testing::on_grid(system_clock().now()) - 60s;
};

TEST_F(KafkaPublisherTest, OneBlockIsOneMessageAPartition) {
  broker_.create_topic("arrakis-P");
  broker_.create_topic("arrakis-Q");
  const ChannelSet channels = testing::join(make_partition("P", 2), make_partition("Q", 3));
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  KafkaReader reader(broker_.bootstrap(), channels);
  reader.open({});
  publisher.publish(make_block(base_, channels, 7));
  Collector got;
  ASSERT_TRUE(got.poll_until(reader, [&] { return got.parts.size() >= 2; }));
  EXPECT_EQ(reader.stats().messages, 2U);
  EXPECT_EQ(got.times(0), std::vector<GpsTime>{base_});
  EXPECT_EQ(got.times(1), std::vector<GpsTime>{base_});
}

TEST_F(KafkaPublisherTest, AsynchronousBlocksCompleteInTheirOrder) {
  broker_.create_topic("arrakis-P");
  const ChannelSet channels(make_partition("P", 1));
  PublisherOptions options;
  options.max_in_flight = 8;
  KafkaPublisher publisher(broker_.bootstrap(), channels, options);
  std::vector<GpsTime> completed;
  for (int i = 0; i < 100; ++i) {
    publisher.publish_async(make_block(base_ + i * kStride, channels, i),
                            [&](const SeriesBlock& block, const std::optional<Error>& error) {
                              EXPECT_FALSE(error);
                              completed.push_back(block.time());
                            });
    EXPECT_LE(static_cast<std::size_t>(i) + 1 - completed.size(), 8U);
  }
  ASSERT_TRUE(publisher.flush(10s));
  ASSERT_EQ(completed.size(), 100U);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(completed[static_cast<std::size_t>(i)], base_ + i * kStride);
}

TEST_F(KafkaPublisherTest, WhatMayNotBePublishedIsRefusedByNameBeforeAnythingIsSent) {
  broker_.create_topic("arrakis-P");
  const ChannelSet channels(make_partition("P", 2));
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  publisher.publish(make_block(base_, channels, 0));

  const ChannelSet foreign(make_partition("Z", 1));
  auto [code, text] = failure([&] { publisher.publish(make_block(base_ + kStride, foreign, 0)); });
  EXPECT_EQ(code, Errc::not_found);
  EXPECT_THAT(text, HasSubstr("X1:Z-0"));

  Channel changed = channels[0];
  changed.partition_index = 77;
  std::tie(code, text) =
      failure([&] { publisher.publish(make_block(base_ + kStride, ChannelSet({changed}), 0)); });
  EXPECT_EQ(code, Errc::invalid_argument);
  EXPECT_THAT(text, HasSubstr("channel metadata mismatch"));

  std::tie(code, text) = failure([&] { publisher.publish(make_block(base_, channels, 0)); });
  EXPECT_EQ(code, Errc::invalid_argument);
  EXPECT_THAT(text, HasSubstr("not monotonically increasing"));

  std::tie(code, text) =
      failure([&] { publisher.publish(make_block(base_ + kStride + 1ns, channels, 0)); });
  EXPECT_EQ(code, Errc::invalid_argument);
  EXPECT_THAT(text, HasSubstr("no multiple of the stride"));

  BlockBuilder builder(base_ + kStride, channels);
  for (const Channel& channel : channels) builder.set<float>(channel.name(), std::vector<float>(8));
  std::tie(code, text) = failure([&] { publisher.publish(builder.build()); });
  EXPECT_EQ(code, Errc::invalid_argument);
  EXPECT_THAT(text, HasSubstr("125000000 ns"));

  EXPECT_EQ(failure([&] { publisher.publish(make_block(base_ + kStride, channels, 0)); }).first,
            std::nullopt);
}

TEST_F(KafkaPublisherTest, TooLargeABlockNamesItsChannelsAndSizesAndTheNextOneGoesThrough) {
  broker_.create_topic("arrakis-P");
  const ChannelSet channels(make_partition("P", 3));
  PublisherOptions options;
  options.properties["message.max.bytes"] = "1100";
  KafkaPublisher publisher(broker_.bootstrap(), channels, options);
  const ChannelSet one({channels[0]});
  const auto big = make_partition("P", 60);
  KafkaPublisher wide(broker_.bootstrap(), ChannelSet(big), options);
  const auto [code, text] = failure([&] { wide.publish(make_block(base_, ChannelSet(big), 0)); });
  EXPECT_EQ(code, Errc::invalid_argument);
  EXPECT_THAT(text, HasSubstr("60 channel(s) from X1:P-0"));
  EXPECT_THAT(text, HasSubstr("1100"));
  EXPECT_EQ(failure([&] { wide.publish(make_block(base_, one, 0)); }).first, std::nullopt);
}

TEST_F(KafkaPublisherTest, BrokerGoneIsATimeoutThatNamesItAndTheLateOutcomeIsToldOnce) {
  const ChannelSet channels(make_partition("P", 1));
  PublisherOptions options;
  options.timeout = 200ms;
  options.properties["message.timeout.ms"] = "400";
  KafkaPublisher publisher("127.0.0.1:1", channels, options);
  auto [code, text] = failure([&] { publisher.publish(make_block(base_, channels, 0)); });
  EXPECT_EQ(code, Errc::timeout);
  EXPECT_THAT(text, HasSubstr("127.0.0.1:1"));
  EXPECT_TRUE(publisher.flush(10s));
  std::tie(code, text) =
      failure([&] { publisher.publish(make_block(base_ + kStride, channels, 0)); });
  EXPECT_EQ(code, Errc::delivery_failed);
  EXPECT_THAT(text, HasSubstr(format_time(base_)));
}

TEST_F(KafkaPublisherTest, ConstructionNamesTheChannelThatCantBePublished) {
  std::vector<Channel> channels = make_partition("P", 2);
  channels[1].stride = 2 * kStride;
  const auto [code, text] = failure([&] { KafkaPublisher("127.0.0.1:1", ChannelSet(channels)); });
  EXPECT_EQ(code, Errc::precondition);
  EXPECT_THAT(text, HasSubstr("X1:P-1"));
}

TEST_F(KafkaPublisherTest, ConstructionNamesWhatCanNeverBePublished) {
  const auto refusal = [&](const std::vector<Channel>& channels) {
    return failure([&] { KafkaPublisher("127.0.0.1:1", ChannelSet(channels)); });
  };
  std::vector<Channel> channels = make_partition("P", 2);
  channels[1].partition_index = 0;
  auto [code, text] = refusal(channels);
  EXPECT_EQ(code, Errc::precondition);
  EXPECT_THAT(text, HasSubstr("X1:P-0', 'X1:P-1"));

  std::tie(code, text) = refusal({testing::make_channel("X1:A-1", "P", 0),
                                  testing::make_channel("X1:A-2", "P", 1, DataType::int16)});
  EXPECT_EQ(code, Errc::precondition);
  EXPECT_THAT(text, HasSubstr("X1:A-2' is int16"));

  std::tie(code, text) = refusal({testing::make_channel("X1:ODD-1", "P", 0, DataType::float32, 7)});
  EXPECT_EQ(code, Errc::precondition);
  EXPECT_THAT(text, HasSubstr("X1:ODD-1 of 7 Hz has no whole number of samples"));

  PublisherOptions options;
  options.timeout = -1s;
  std::tie(code, text) =
      failure([&] { KafkaPublisher("127.0.0.1:1", ChannelSet(make_partition("P", 1)), options); });
  EXPECT_EQ(code, Errc::invalid_argument);
  EXPECT_THAT(text, HasSubstr("negative"));
}

TEST_F(KafkaPublisherTest, ABlockOfTheFutureIsRefusedUnlessAskedFor) {
  broker_.create_topic("arrakis-P");
  const ChannelSet channels(make_partition("P", 1));
  const SeriesBlock block = make_block(base_ + 1h, channels, 0);
  {
    KafkaPublisher publisher(broker_.bootstrap(), channels);
    const auto [code, text] = failure([&] { publisher.publish(block); });
    EXPECT_EQ(code, Errc::invalid_argument);
    EXPECT_THAT(text, HasSubstr("ahead of now"));
    EXPECT_EQ(publisher.stats().refused_blocks, 1U);
  }
  PublisherOptions options;
  options.future_limit.reset();
  KafkaPublisher publisher(broker_.bootstrap(), channels, options);
  EXPECT_EQ(failure([&] { publisher.publish(block); }).second, "");
}

TEST_F(KafkaPublisherTest, MissingChannelsAreNamedOnce) {
  broker_.create_topic("arrakis-P");
  std::mutex mutex;  // librdkafka's threads log as well
  std::vector<std::string> warnings;
  set_log_sink(
      [&](LogLevel level, std::string_view, std::string_view message) {
        const std::lock_guard lock(mutex);
        if (level == LogLevel::warning) warnings.emplace_back(message);
      },
      LogLevel::warning);
  const ChannelSet channels(make_partition("P", 4));
  const ChannelSet two({channels[0], channels[2]});
  const ChannelSet one({channels[0]});
  {
    KafkaPublisher publisher(broker_.bootstrap(), channels);
    int i = 0;
    for (const ChannelSet& set : {channels, two, one, two, channels, one}) {
      publisher.publish(make_block(base_ + i++ * kStride, set, 0));
    }
  }
  set_log_sink({});
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_THAT(warnings[0], HasSubstr("2 of 4 channel(s)"));
  EXPECT_THAT(warnings[0], HasSubstr("X1:P-1 first"));
  EXPECT_THAT(warnings[1], HasSubstr("1 of 4 channel(s)"));
  EXPECT_THAT(warnings[1], HasSubstr("X1:P-2 first"));
}

TEST_F(KafkaPublisherTest, MissingChannelsAreSentAsGapsOnRequest) {
  broker_.create_topic("arrakis-P");
  broker_.create_topic("arrakis-Q");
  const ChannelSet channels = testing::join(make_partition("P", 2), make_partition("Q", 1));
  PublisherOptions options;
  options.fill_missing = true;
  KafkaPublisher publisher(broker_.bootstrap(), channels, options);
  publisher.publish(make_block(base_, ChannelSet({channels[1]}), 7));
  KafkaReader reader(broker_.bootstrap(), channels);
  reader.open({.start = GpsTime()});
  Collector got;
  ASSERT_TRUE(got.poll_until(reader, [&] { return got.parts.size() >= 2; }));
  for (const Collector::Got& each : got.parts) {
    const ChannelSet& in_part = reader.streams()[each.stream].channels;
    for (std::size_t c = 0; c < in_part.size(); ++c) {
      const auto samples = each.part->samples(c);
      EXPECT_EQ(samples.size, 4U);
      EXPECT_EQ(samples.gap_count, in_part[c].name() == "X1:P-1" ? 0U : 4U) << in_part[c].name();
    }
  }
}

}
}
