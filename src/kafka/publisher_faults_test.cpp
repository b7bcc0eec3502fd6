/// What a publisher does when the broker, the network or the caller's functions fail.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/kafka.hpp"
#include "kafka/embedded_broker.hpp"
#include "testing/channels.hpp"
#include "testing/collector.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kStride;
using testing::make_block;
using testing::make_partition;
using Steady = std::chrono::steady_clock;

constexpr std::int16_t kProduceRequest = 0;
constexpr const char* kDeadBroker = "127.0.0.1:1";

/// A peer that accepts connections and never says a word.
class MuteBroker {
 public:
  MuteBroker() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(socket_, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        listen(socket_, 16) != 0 ||
        getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("no mute broker");
    }
    bootstrap_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~MuteBroker() { close(socket_); }
  MuteBroker(const MuteBroker&) = delete;
  MuteBroker& operator=(const MuteBroker&) = delete;
  [[nodiscard]] const std::string& bootstrap() const { return bootstrap_; }

 private:
  int socket_;
  std::string bootstrap_;
};

class PublisherFaults : public ::testing::Test {
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
  /// The next requests to publish are answered with these errors.
  void refuse(const std::vector<rd_kafka_resp_err_t>& errors) {
    rd_kafka_mock_push_request_errors_array(broker_.cluster(), kProduceRequest, errors.size(),
                                            errors.data());
  }
  SeriesBlock block(int number) const {
    return make_block(base_ + number * kStride, channels_, number);
  }
  /// Records, by number, how an asynchronous block ended.
  KafkaPublisher::Completion record() {
    return [this](const SeriesBlock& block, const std::optional<Error>& error) {
      const auto number = static_cast<int>((block.time() - base_) / kStride);
      (error ? failed_ : confirmed_).push_back(number);
      if (error) reasons_.emplace_back(error->what());
    };
  }
  static PublisherOptions hasty(Duration timeout) {
    PublisherOptions options;
    options.timeout = timeout;
    options.close_timeout = 100ms;
    return options;
  }

  EmbeddedBroker broker_;
  const ChannelSet channels_{make_partition("P", 1)};
  const GpsTime base_ = testing::on_grid(system_clock().now()) - 60s;
  std::vector<int> confirmed_;
  std::vector<int> failed_;
  std::vector<std::string> reasons_;
};

TEST_F(PublisherFaults, CallsToADeadAMuteAndASlowBrokerReturnInTimeWithAnErrorThatNamesIt) {
  broker_.create_topic("arrakis-P");
  rd_kafka_mock_broker_set_rtt(broker_.cluster(), 1, 10'000);
  const MuteBroker mute;
  constexpr Duration kTimeout = 200ms;
  constexpr Duration kTolerance = 100ms;
  for (const std::string& bootstrap :
       {std::string(kDeadBroker), mute.bootstrap(), broker_.bootstrap()}) {
    PublisherOptions options = hasty(kTimeout);
    options.max_in_flight = 1;
    // The better of two, because a busy machine may wake a thread late.
    std::map<std::string, Duration> best;
    const auto measure = [&](const std::string& call, const std::function<void()>& make) {
      const Steady::time_point begin = Steady::now();
      make();
      const Duration took = Steady::now() - begin;
      const auto [it, is_new] = best.try_emplace(call, took);
      it->second = std::min(it->second, took);
    };
    for (int attempt = 0; attempt < 2; ++attempt) {
      auto publisher = std::make_unique<KafkaPublisher>(bootstrap, channels_, options);
      measure("publish", [&] {
        const auto [code, text] = failure([&] { publisher->publish(block(0)); });
        EXPECT_EQ(code, Errc::timeout);
        EXPECT_THAT(text, HasSubstr(bootstrap));
      });
      measure("publish_async", [&] {
        const auto [code, text] = failure([&] { publisher->publish_async(block(1), {}); });
        EXPECT_EQ(code, Errc::timeout);
        EXPECT_THAT(text, HasSubstr(bootstrap));
        EXPECT_THAT(text, HasSubstr("not sent"));
      });
      measure("flush", [&] { EXPECT_FALSE(publisher->flush(kTimeout)); });
      measure("close", [&] { publisher.reset(); });
    }
    for (const auto& [call, took] : best) {
      EXPECT_LE(took, kTimeout + kTolerance) << call << " to " << bootstrap;
    }
  }
}

TEST_F(PublisherFaults, BlocksArePipelinedUpToTheLimit) {
  broker_.create_topic("arrakis-P");
  rd_kafka_mock_broker_set_rtt(broker_.cluster(), 1, 50);
  PublisherOptions options;
  options.max_in_flight = 8;
  KafkaPublisher publisher(broker_.bootstrap(), channels_, options);
  std::uint64_t most = 0;
  for (int i = 0; i < 30; ++i) {
    publisher.publish_async(block(i), record());
    most = std::max(most, publisher.stats().in_flight);
    EXPECT_LE(publisher.stats().in_flight, 8U);
  }
  EXPECT_TRUE(publisher.flush(60s));
  EXPECT_EQ(most, 8U);
  EXPECT_EQ(confirmed_.size(), 30U);
  EXPECT_TRUE(std::is_sorted(confirmed_.begin(), confirmed_.end()));
  const PublisherStats stats = publisher.stats();
  EXPECT_EQ(stats.blocks, 30U);
  EXPECT_EQ(stats.messages, 30U);
  EXPECT_GT(stats.bytes, 0U);
  EXPECT_EQ(stats.in_flight, 0U);
  EXPECT_EQ(stats.in_flight_bytes, 0U);
}

TEST_F(PublisherFaults, MemoryForADeadBrokerIsBoundedWhicheverCallIsUsed) {
  const ChannelSet wide(make_partition("P", 500));
  PublisherOptions options = hasty(20ms);
  options.max_in_flight_bytes = 100'000;
  KafkaPublisher publisher(kDeadBroker, wide, options);
  int not_sent = 0;
  for (int i = 0; i < 20; ++i) {
    const SeriesBlock big = make_block(base_ + i * kStride, wide, i);
    const auto [code, text] = failure([&] {
      if (i % 2 == 0) {
        publisher.publish(big);
      } else {
        publisher.publish_async(big, {});
      }
    });
    if (code == Errc::timeout && text.find("not sent") != std::string::npos) ++not_sent;
    EXPECT_LE(publisher.stats().in_flight_bytes, 100'000U);
  }
  EXPECT_GE(not_sent, 10);
  EXPECT_EQ(publisher.stats().refused_blocks, static_cast<std::uint64_t>(not_sent));
  EXPECT_GE(publisher.stats().in_flight, 1U);
}

TEST_F(PublisherFaults, OneBlockBeyondTheLimitOfBytesIsLetThrough) {
  broker_.create_topic("arrakis-P");
  PublisherOptions options;
  options.max_in_flight_bytes = 1;
  KafkaPublisher publisher(broker_.bootstrap(), channels_, options);
  for (int i = 0; i < 3; ++i) publisher.publish_async(block(i), record());
  EXPECT_TRUE(publisher.flush(30s));
  EXPECT_THAT(confirmed_, ElementsAre(0, 1, 2));
}

TEST_F(PublisherFaults, FullLocalQueueInTheMiddleOfABlockIsWaitedFor) {
  std::vector<Channel> channels;
  for (int p = 0; p < 6; ++p) {
    const std::string id = "Q" + std::to_string(p);
    broker_.create_topic("arrakis-" + id);
    channels.push_back(make_partition(id, 1)[0]);
  }
  const ChannelSet set(channels);
  PublisherOptions options;
  options.properties["queue.buffering.max.messages"] = "2";
  KafkaPublisher publisher(broker_.bootstrap(), set, options);
  EXPECT_EQ(failure([&] { publisher.publish(make_block(base_, set, 0)); }).second, "");
  EXPECT_EQ(publisher.stats().messages, 6U);
}

TEST_F(PublisherFaults, EveryBlockThatFailedAfterATimeoutIsToldOnceByTheNextCall) {
  PublisherOptions options = hasty(30ms);
  options.properties["message.timeout.ms"] = "200";
  KafkaPublisher publisher(kDeadBroker, channels_, options);
  EXPECT_EQ(failure([&] { publisher.publish(block(0)); }).first, Errc::timeout);
  EXPECT_EQ(failure([&] { publisher.publish(block(1)); }).first, Errc::timeout);
  ASSERT_TRUE(publisher.flush(30s));
  const auto [code, text] = failure([&] { publisher.publish(block(2)); });
  EXPECT_EQ(code, Errc::delivery_failed);
  EXPECT_THAT(text, HasSubstr(format_time(block(0).time())));
  EXPECT_THAT(text, HasSubstr(format_time(block(1).time())));
  EXPECT_EQ(failure([&] { publisher.publish(block(2)); }).first, Errc::timeout);
  EXPECT_EQ(publisher.stats().failed_blocks, 2U);
  EXPECT_EQ(publisher.stats().timeouts, 3U);
}

TEST_F(PublisherFaults, ABlockThatTimedOutMayBePublishedAgainBeforeItsEndIsKnown) {
  broker_.create_topic("arrakis-P");
  rd_kafka_mock_broker_set_rtt(broker_.cluster(), 1, 300);
  KafkaPublisher publisher(broker_.bootstrap(), channels_, hasty(0ms));
  EXPECT_EQ(failure([&] { publisher.publish(block(5)); }).first, Errc::timeout);
  EXPECT_EQ(failure([&] { publisher.publish(block(5)); }).first, Errc::timeout);
  rd_kafka_mock_broker_set_rtt(broker_.cluster(), 1, 0);
  ASSERT_TRUE(publisher.flush(60s));
  EXPECT_EQ(publisher.stats().blocks, 2U);
  EXPECT_EQ(failure([&] { publisher.publish(block(5)); }).first, Errc::invalid_argument);
}

TEST_F(PublisherFaults, ABlockThatFailsAmongOthersIsToldInItsPlaceAndItsNeighboursArrive) {
  broker_.create_topic("arrakis-P");
  PublisherOptions options;
  options.properties["batch.num.messages"] = "1";  // a request each
  KafkaPublisher publisher(broker_.bootstrap(), channels_, options);
  publisher.publish(block(0));
  refuse({RD_KAFKA_RESP_ERR_NO_ERROR, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
  std::vector<int> order;
  for (int i = 1; i < 6; ++i) {
    publisher.publish_async(block(i), [&, i, told = record()](const SeriesBlock& block,
                                                              const std::optional<Error>& error) {
      order.push_back(i);
      told(block, error);
    });
  }
  ASSERT_TRUE(publisher.flush(60s));
  EXPECT_THAT(order, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(failed_, ElementsAre(2));
  EXPECT_THAT(confirmed_, ElementsAre(1, 3, 4, 5));
  EXPECT_THAT(reasons_.at(0), HasSubstr("arrakis-P (" + broker_.bootstrap() + ")"));
  EXPECT_THAT(reasons_.at(0), HasSubstr("Broker: Message size too large"));
  EXPECT_THAT(reasons_.at(0), HasSubstr("1 channel(s) from X1:P-0"));
  EXPECT_EQ(publisher.stats().failed_blocks, 1U);
  EXPECT_EQ(failure([&] { publisher.publish(block(2)); }).first, Errc::invalid_argument);
  EXPECT_EQ(failure([&] { publisher.publish(block(6)); }).second, "");
}

TEST_F(PublisherFaults, TheLastBlockMayBePublishedAgainAfterItFailed) {
  broker_.create_topic("arrakis-P");
  KafkaPublisher publisher(broker_.bootstrap(), channels_);
  publisher.publish(block(0));
  refuse({RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED});
  const auto [code, text] = failure([&] { publisher.publish(block(1)); });
  EXPECT_EQ(code, Errc::delivery_failed);
  EXPECT_THAT(text, HasSubstr("arrakis-P"));
  EXPECT_EQ(failure([&] { publisher.publish(block(1)); }).second, "");
  EXPECT_EQ(failure([&] { publisher.publish(block(1)); }).first, Errc::invalid_argument);
}

TEST_F(PublisherFaults, AClientThatFailedForGoodIsReplacedAndTheNextBlockArrives) {
  broker_.create_topic("arrakis-P");
  KafkaPublisher publisher(broker_.bootstrap(), channels_);
  for (int i = 0; i < 3; ++i) publisher.publish(block(i));
  // Of the first request on its way this means that messages were lost, which is fatal.
  refuse({RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER});
  const auto [code, text] = failure([&] { publisher.publish(block(3)); });
  EXPECT_EQ(code, Errc::delivery_failed);
  EXPECT_THAT(text, HasSubstr("Fatal error"));
  EXPECT_EQ(failure([&] { publisher.publish(block(3)); }).second, "");
  EXPECT_EQ(publisher.stats().new_clients, 1U);
  EXPECT_EQ(publisher.stats().blocks, 4U);
}

TEST_F(PublisherFaults, BlocksOnTheirWayThroughAClientThatFailsForGoodAllEndInOrder) {
  broker_.create_topic("arrakis-P");
  PublisherOptions options;
  options.properties["batch.num.messages"] = "1";
  KafkaPublisher publisher(broker_.bootstrap(), channels_, options);
  publisher.publish(block(0));
  refuse({RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER});
  for (int i = 1; i < 40; ++i) publisher.publish_async(block(i), record());
  ASSERT_TRUE(publisher.flush(60s));
  EXPECT_EQ(failed_.size() + confirmed_.size(), 39U);
  EXPECT_GE(failed_.size(), 1U);
  EXPECT_TRUE(std::is_sorted(failed_.begin(), failed_.end()));
  EXPECT_TRUE(std::is_sorted(confirmed_.begin(), confirmed_.end()));
  EXPECT_EQ(failure([&] { publisher.publish(block(40)); }).second, "");
  EXPECT_EQ(publisher.stats().new_clients, 1U);
}

TEST_F(PublisherFaults, ACompletionThatThrowsDisturbsNobody) {
  broker_.create_topic("arrakis-P");
  KafkaPublisher publisher(broker_.bootstrap(), channels_);
  int calls = 0;
  for (int i = 0; i < 3; ++i) {
    publisher.publish_async(block(i), [&](const SeriesBlock&, const std::optional<Error>&) {
      ++calls;
      throw std::runtime_error("from a completion");
    });
  }
  EXPECT_TRUE(publisher.flush(60s));
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(failure([&] { publisher.publish(block(3)); }).second, "");
}

TEST_F(PublisherFaults, ACompletionMaySendTheNextBlock) {
  broker_.create_topic("arrakis-P");
  KafkaPublisher publisher(broker_.bootstrap(), channels_);
  constexpr std::size_t kBlocks = 50;
  std::vector<int> order;
  int depth = 0;
  std::function<void(int)> send = [&](int number) {
    publisher.publish_async(block(number),
                            [&, number](const SeriesBlock&, const std::optional<Error>& error) {
                              EXPECT_FALSE(error);
                              EXPECT_EQ(++depth, 1) << "a completion inside another";
                              order.push_back(number);
                              if (order.size() < kBlocks) send(number + 1);
                              --depth;
                            });
  };
  send(0);
  EXPECT_TRUE(publisher.flush(60s));
  EXPECT_EQ(order.size(), kBlocks);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_F(PublisherFaults, ACompletionMayNotWait) {
  broker_.create_topic("arrakis-P");
  PublisherOptions options;
  options.max_in_flight = 1;
  KafkaPublisher publisher(broker_.bootstrap(), channels_, options);
  std::vector<std::optional<Errc>> answers;
  publisher.publish_async(block(0), [&](const SeriesBlock&, const std::optional<Error>&) {
    answers.push_back(failure([&] { publisher.publish(block(1)); }).first);
    answers.push_back(failure([&] { publisher.flush(1s); }).first);
    answers.push_back(failure([&] { publisher.publish_async(block(1), {}); }).first);
    answers.push_back(failure([&] { publisher.publish_async(block(2), {}); }).first);
  });
  EXPECT_TRUE(publisher.flush(60s));
  constexpr Errc kRefused = Errc::failed_precondition;
  EXPECT_THAT(answers, ElementsAre(kRefused, kRefused, std::nullopt, kRefused));
  EXPECT_EQ(publisher.stats().blocks, 2U);
}

TEST_F(PublisherFaults, BlocksNotConfirmedAtTheEndFailInOrderAndNoneIsForgotten) {
  PublisherOptions options = hasty(30s);
  {
    KafkaPublisher publisher(kDeadBroker, channels_, options);
    for (int i = 0; i < 10; ++i) publisher.publish_async(block(i), record());
    EXPECT_THAT(failed_, ElementsAre());
  }
  EXPECT_THAT(failed_, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(confirmed_, ElementsAre());
}

TEST_F(PublisherFaults, BlocksSentWhileTheBrokerIsAwayArriveWhenItIsBack) {
  broker_.create_topic("arrakis-P");
  KafkaPublisher publisher(broker_.bootstrap(), channels_);
  publisher.publish(block(0));
  rd_kafka_mock_broker_set_down(broker_.cluster(), 1);
  for (int i = 1; i < 20; ++i) publisher.publish_async(block(i), record());
  EXPECT_FALSE(publisher.flush(300ms));
  rd_kafka_mock_broker_set_up(broker_.cluster(), 1);
  ASSERT_TRUE(publisher.flush(60s));
  EXPECT_EQ(confirmed_.size(), 19U);
  KafkaReader reader(broker_.bootstrap(), channels_);
  reader.open({.start = GpsTime()});
  Collector got;
  ASSERT_TRUE(got.poll_until(reader, [&] { return got.parts.size() >= 20; }));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(got.times(0)[static_cast<std::size_t>(i)], block(i).time());
  }
}

TEST_F(PublisherFaults, AFlushWithoutEndIsNoOverflow) {
  broker_.create_topic("arrakis-P");
  PublisherOptions options;
  options.timeout = Duration::max();
  KafkaPublisher publisher(broker_.bootstrap(), channels_, options);
  publisher.publish(block(0));
  publisher.publish_async(block(1), record());
  EXPECT_TRUE(publisher.flush(Duration::max()));
  EXPECT_THAT(confirmed_, ElementsAre(1));
}

}
}
