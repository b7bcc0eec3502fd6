/// KafkaPublisher against a real broker that refuses, hangs, dies and comes back.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/arrakis.hpp"
#include "testing/channels.hpp"
#include "testing/collector.hpp"
#include "testing/real_broker.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kStride;
using testing::make_block;
using testing::make_partition;
using testing::RealBroker;

RealBroker& broker() {
  static RealBroker broker({.fast_fencing = true});
  return broker;
}

class PublisherWithBroker : public ::testing::Test {
 protected:
  using Failure = std::pair<std::optional<Errc>, std::string>;
  static Failure failure(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return {error.code(), error.what()};
    }
    return {std::nullopt, ""};
  }
  SeriesBlock block(int number, const ChannelSet& channels) const {
    return make_block(base_ + number * kStride, channels, number);
  }
  /// The numbers of the blocks that the topic of `channels` holds, once there are `count`.
  std::vector<int> stored(const ChannelSet& channels, std::size_t count) {
    KafkaReader reader(broker_.bootstrap(), channels);
    reader.open({.start = GpsTime()});
    Collector got;
    EXPECT_TRUE(got.poll_until(
        reader, [&] { return got.parts.size() >= count; }, 30s));
    std::vector<int> numbers;
    for (const GpsTime time : got.times(0)) {
      numbers.push_back(static_cast<int>((time - base_) / kStride));
    }
    return numbers;
  }

  RealBroker& broker_ = broker();
  const std::string partition_ = random_alphanum(8);
  const std::string topic_ = "arrakis-" + partition_;
  const ChannelSet channels_{make_partition(partition_, 1)};
  const GpsTime base_ = testing::on_grid(system_clock().now()) - 1h;
};

TEST_F(PublisherWithBroker, AnUnknownTopicIsSaidByNameWithinTheTimeoutAndFoundOnceItIsMade) {
  PublisherOptions options;
  options.timeout = 20s;
  KafkaPublisher publisher(broker_.bootstrap(), channels_, options);
  const auto [code, text] = failure([&] { publisher.publish(block(0, channels_)); });
  EXPECT_EQ(code, Errc::delivery_failed);
  EXPECT_THAT(text, HasSubstr(topic_));
  EXPECT_THAT(text, HasSubstr(broker_.bootstrap()));
  EXPECT_THAT(text, HasSubstr("Unknown topic"));
  // At once, not when librdkafka asks for topics again.
  EXPECT_EQ(failure([&] { publisher.publish(block(0, channels_)); }).first, Errc::delivery_failed);
  broker_.create_topic(topic_);
  EXPECT_EQ(failure([&] { publisher.publish(block(0, channels_)); }).second, "");
  EXPECT_THAT(stored(channels_, 1), ElementsAre(0));
}

TEST_F(PublisherWithBroker, AnUnknownTopicEndsAlsoWithoutATimeoutAndItsNeighbourIsDelivered) {
  const std::string missing = random_alphanum(8);
  broker_.create_topic(topic_);
  const ChannelSet both = testing::join(make_partition(missing, 1), make_partition(partition_, 1));
  KafkaPublisher publisher(broker_.bootstrap(), both);
  const auto [code, text] = failure([&] { publisher.publish(block(0, both)); });
  EXPECT_EQ(code, Errc::delivery_failed);
  EXPECT_THAT(text, HasSubstr("1 message(s)"));
  EXPECT_THAT(text, HasSubstr("arrakis-" + missing));
  EXPECT_THAT(stored(channels_, 1), ElementsAre(0));
}

TEST_F(PublisherWithBroker, AMessageTooLargeForItsTopicNamesChannelsAndSizeAndNeighboursArrive) {
  broker_.create_topic(topic_, 1, {{"max.message.bytes", "1100000"}});
  // One block in ten is four times as large as the others, and too large.
  const ChannelSet all(make_partition(partition_, 40'000));
  std::vector<Channel> few(all.begin(), all.begin() + 10'000);
  const ChannelSet quarter(std::move(few));
  KafkaPublisher publisher(broker_.bootstrap(), all);
  std::vector<int> confirmed;
  std::vector<std::string> reasons;
  for (int i = 0; i < 20; ++i) {
    publisher.publish_async(block(i, i % 10 == 5 ? all : quarter),
                            [&, i](const SeriesBlock&, const std::optional<Error>& error) {
                              if (!error) {
                                confirmed.push_back(i);
                              } else {
                                reasons.emplace_back(error->what());
                              }
                            });
  }
  ASSERT_TRUE(publisher.flush(60s));
  ASSERT_EQ(reasons.size(), 2U);
  EXPECT_THAT(reasons[0], HasSubstr(topic_));
  EXPECT_THAT(reasons[0], HasSubstr("40000 channel(s) from X1:" + partition_ + "-0"));
  EXPECT_THAT(reasons[0], HasSubstr(" bytes"));
  EXPECT_EQ(confirmed.size(), 18U);
  EXPECT_EQ(stored(quarter, 18), confirmed);
}

TEST_F(PublisherWithBroker, ABlockSentToAFrozenBrokerTimesOutAndArrivesOnceWhenItGoesOn) {
  broker_.create_topic(topic_);
  PublisherOptions options;
  options.timeout = 500ms;
  KafkaPublisher publisher(broker_.bootstrap(), channels_, options);
  ASSERT_TRUE([&] {  // the first block may take longer than half a second on a busy machine
    const Failure first = failure([&] { publisher.publish(block(0, channels_)); });
    return !first.first || publisher.flush(30s);
  }());
  broker_.freeze();
  // A process that is told to stop goes on for some milliseconds.
  std::vector<int> sent = {0};
  Failure answer;
  while (!answer.first && sent.size() < 1000) {
    sent.push_back(static_cast<int>(sent.size()));
    answer = failure([&] { publisher.publish(block(sent.back(), channels_)); });
  }
  broker_.thaw();
  EXPECT_EQ(answer.first, Errc::timeout);
  EXPECT_THAT(answer.second, HasSubstr(broker_.bootstrap()));
  ASSERT_TRUE(publisher.flush(60s));
  EXPECT_EQ(publisher.stats().blocks, sent.size());
  EXPECT_EQ(stored(channels_, sent.size()), sent);
}

TEST_F(PublisherWithBroker, BlocksSentWhileTheBrokerWasKilledArriveInOrderAndOnce) {
  broker_.create_topic(topic_);
  PublisherOptions options;
  options.max_in_flight = 1000;
  KafkaPublisher publisher(broker_.bootstrap(), channels_, options);
  std::vector<int> confirmed;
  int sent = 0;
  const auto send = [&](int count) {
    for (const int end = sent + count; sent < end; ++sent) {
      publisher.publish_async(
          block(sent, channels_),
          [&, number = sent](const SeriesBlock&, const std::optional<Error>& error) {
            EXPECT_FALSE(error) << error->what();
            confirmed.push_back(number);
          });
    }
  };
  send(50);
  broker_.kill();
  send(50);
  EXPECT_FALSE(publisher.flush(200ms));
  broker_.restart();
  send(50);
  ASSERT_TRUE(publisher.flush(60s));
  EXPECT_EQ(confirmed.size(), 150U);
  EXPECT_EQ(stored(channels_, 150), confirmed);
}

TEST_F(PublisherWithBroker, ATopicMadeAnewIsWrittenToAgain) {
  broker_.create_topic(topic_);
  KafkaPublisher publisher(broker_.bootstrap(), channels_);
  for (int i = 0; i < 5; ++i) publisher.publish(block(i, channels_));
  broker_.delete_topic(topic_);
  // What is published while it is gone fails; with which words depends on who notices first.
  failure([&] { publisher.publish(block(5, channels_)); });
  broker_.create_topic(topic_);
  for (int i = 6; i < 10; ++i) {
    EXPECT_EQ(failure([&] { publisher.publish(block(i, channels_)); }).second, "") << i;
  }
  const std::vector<int> numbers = stored(channels_, 4);
  EXPECT_THAT(std::vector<int>(numbers.end() - 4, numbers.end()), ElementsAre(6, 7, 8, 9));
}

}
}
