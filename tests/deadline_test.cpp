/// Every public call that has to do with a broker that is dead, mute or slow from the start: it
/// returns within its deadline, and what it throws names the broker.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/arrakis.hpp"
#include "kafka/embedded_broker.hpp"
#include "testing/channels.hpp"
#include "testing/deadlines.hpp"
#include "testing/peers.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using ::testing::HasSubstr;
using testing::kCloseLimit;
using testing::kSlack;
using testing::kStride;
using testing::make_block;
using testing::make_partition;
using testing::on_grid;
using testing::Outcome;
using testing::outcome_of;
using testing::Peer;
using testing::use;
using testing::within;
using Steady = std::chrono::steady_clock;

/// A broker to be contacted for the first time.
struct Stranger {
  virtual ~Stranger() = default;
  [[nodiscard]] virtual std::string address() const = 0;
};

struct NoBroker final : Stranger {
  explicit NoBroker(Peer::Kind kind) : peer(kind) {}
  [[nodiscard]] std::string address() const override { return peer.address(); }
  Peer peer;
};

struct SlowBroker final : Stranger {
  explicit SlowBroker(int round_trip_ms) {
    broker.create_topic("arrakis-P");
    rd_kafka_mock_broker_set_rtt(broker.cluster(), 1, round_trip_ms);
  }
  [[nodiscard]] std::string address() const override { return broker.bootstrap(); }
  EmbeddedBroker broker;
};

struct StrangerCase {
  const char* name;
  std::function<std::unique_ptr<Stranger>()> make;
};

class FirstContact : public ::testing::TestWithParam<StrangerCase> {
 protected:
  static constexpr Duration kTimeout = 700ms;

  [[nodiscard]] std::unique_ptr<KafkaReader> reader() const {
    ReaderOptions options;
    options.timeout = kTimeout;
    return std::make_unique<KafkaReader>(peer_->address(), channels_, options);
  }
  [[nodiscard]] std::unique_ptr<KafkaPublisher> publisher(std::size_t max_in_flight = 64) const {
    PublisherOptions options;
    options.timeout = kTimeout;
    options.max_in_flight = max_in_flight;
    options.properties["message.timeout.ms"] = "2000";  // how long the destructor waits
    return std::make_unique<KafkaPublisher>(peer_->address(), channels_, options);
  }
  [[nodiscard]] SeriesBlock block(int i) const {
    return make_block(base_ + i * kStride, channels_, i);
  }

  const std::unique_ptr<Stranger> peer_ = GetParam().make();
  const ChannelSet channels_{make_partition("P", 1)};
  const GpsTime base_ = on_grid(system_clock().now()) - 60s;
};

TEST_P(FirstContact, ConstructionContactsNobody) {
  within(kSlack, [&] { return outcome_of([&] { auto unused = reader(); }); });
  within(kSlack, [&] { return outcome_of([&] { auto unused = publisher(); }); });
}

TEST_P(FirstContact, OpenThrowsInTimeAndNamesTheBroker) {
  const Outcome live = within(kTimeout + kSlack, [&] {
    const auto opened = reader();
    return outcome_of([&] { opened->open({}); });
  });
  EXPECT_EQ(live.code, Errc::broker_unavailable);
  EXPECT_THAT(live.text, HasSubstr(peer_->address()));
  const Outcome past = within(kTimeout + kSlack, [&] {
    const auto opened = reader();
    return outcome_of([&] { opened->open({.start = base_}); });
  });
  EXPECT_EQ(past.code, Errc::broker_unavailable);
  EXPECT_THAT(past.text, HasSubstr(peer_->address()));
}

TEST_P(FirstContact, AReaderThatCouldNotBeOpenedAnswersAndClosesAtOnce) {
  const auto opened = reader();
  EXPECT_NE(outcome_of([&] { opened->open({}); }).code, std::nullopt);
  Collector got;
  const Outcome outcome = outcome_of([&] {
    use(*opened, got);
    opened->fast_forward();
  });
  EXPECT_EQ(outcome.code, std::nullopt) << outcome.text;
  EXPECT_LE(outcome.took, kCloseLimit);
  EXPECT_LE(outcome_of([&] { opened->close(); }).took, kCloseLimit);
  EXPECT_TRUE(opened->done());
}

TEST_P(FirstContact, CloseFromAnotherThreadEndsAnOpenThatWaits) {
  ReaderOptions options;
  options.timeout = 60s;
  KafkaReader opened(peer_->address(), channels_, options);
  std::promise<void> begins;
  auto opening = std::async(std::launch::async, [&] {
    begins.set_value();
    return outcome_of([&] { opened.open({}); });
  });
  begins.get_future().wait();
  // It may come before, while or after the first question is asked.
  opening.wait_for(100ms);
  const Steady::time_point begin = Steady::now();
  const Outcome closing = outcome_of([&] { opened.close(); });
  EXPECT_LE(closing.took, kCloseLimit);
  const Outcome opening_outcome = opening.get();
  EXPECT_LE(Steady::now() - begin, kCloseLimit + kSlack);
  EXPECT_NE(opening_outcome.code, std::nullopt);
}

TEST_P(FirstContact, ABlockStreamIsNotMadeAndSaysSoInTime) {
  const Outcome outcome = within(kTimeout + kCloseLimit + kSlack, [&] {
    auto source = reader();
    return outcome_of([&] { BlockStream stream(std::move(source)); });
  });
  EXPECT_EQ(outcome.code, Errc::broker_unavailable);
  EXPECT_THAT(outcome.text, HasSubstr(peer_->address()));
}

TEST_P(FirstContact, PublishThrowsInTimeAndNamesTheBroker) {
  const Outcome outcome = within(kTimeout + kSlack, [&] {
    const auto fresh = publisher();
    return outcome_of([&] { fresh->publish(block(0)); });
  });
  EXPECT_EQ(outcome.code, Errc::timeout);
  EXPECT_THAT(outcome.text, HasSubstr(peer_->address()));
}

TEST_P(FirstContact, PublishAsyncWaitsForRoomNoLongerThanItsTimeout) {
  const Outcome outcome = within(kTimeout + kSlack, [&] {
    const auto fresh = publisher(1);
    EXPECT_LE(outcome_of([&] { fresh->publish_async(block(0), {}); }).took, kTimeout);
    return outcome_of([&] { fresh->publish_async(block(1), {}); });
  });
  EXPECT_EQ(outcome.code, Errc::timeout);
  EXPECT_THAT(outcome.text, HasSubstr(peer_->address()));
}

TEST_P(FirstContact, FlushWaitsNoLongerThanItIsTold) {
  bool confirmed = true;
  within(kTimeout + kSlack, [&] {
    const auto fresh = publisher();
    fresh->publish_async(block(0), {});
    return outcome_of([&] { confirmed = fresh->flush(kTimeout); });
  });
  EXPECT_FALSE(confirmed);
}

TEST_P(FirstContact, ABlockThatDoesNotArriveFailsWithTheBrokersName) {
  std::optional<Error> failure;
  const auto fresh = publisher();
  fresh->publish_async(
      block(0), [&](const SeriesBlock&, const std::optional<Error>& error) { failure = error; });
  fresh->flush(30s);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code(), Errc::delivery_failed);
  EXPECT_THAT(failure->what(), HasSubstr(peer_->address()));
}

TEST_P(FirstContact, APublisherGoesWithinTenSecondsWithBlocksOnTheirWay) {
  PublisherOptions options;
  options.timeout = kTimeout;
  auto leaving = std::make_unique<KafkaPublisher>(peer_->address(), channels_, options);
  leaving->publish_async(block(0), {});
  EXPECT_LE(outcome_of([&] { leaving.reset(); }).took, 10s + 10 * kSlack);
}

INSTANTIATE_TEST_SUITE_P(
    Deadlines, FirstContact,
    ::testing::Values(
        StrangerCase{"Dead", [] { return std::make_unique<NoBroker>(Peer::Kind::dead); }},
        StrangerCase{"Mute", [] { return std::make_unique<NoBroker>(Peer::Kind::mute); }},
        // Each question is answered, all of them together take too long.
        StrangerCase{"Slow", [] { return std::make_unique<SlowBroker>(400); }},
        StrangerCase{"VerySlow", [] { return std::make_unique<SlowBroker>(5000); }}),
    [](const auto& test) { return test.param.name; });

}
}
