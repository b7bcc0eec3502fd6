#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "arrakis/kafka.hpp"
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
  const GpsTime base_ = testing::on_grid(system_clock().now());
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

}
}
