/// Every public call while the broker is dead, mute or slow: it returns within its deadline, and
/// what it throws names the broker.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arrakis/arrakis.hpp"
#include "kafka/embedded_broker.hpp"
#include "testing/channels.hpp"
#include "testing/collector.hpp"
#include "testing/eventually.hpp"
#include "testing/log_lines.hpp"
#include "testing/peers.hpp"
#include "testing/real_broker.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using ::testing::HasSubstr;
using testing::kStride;
using testing::make_block;
using testing::make_partition;
using testing::on_grid;
using testing::Peer;
using testing::RealBroker;
using Steady = std::chrono::steady_clock;

/// What a call may take beyond its deadline.
constexpr Duration kSlack = 100ms;
/// close() and cancel(), from any thread.
constexpr Duration kCloseLimit = 2s;

/// What a call took and threw.
struct Outcome {
  Duration took{};
  std::optional<Errc> code;
  std::string text;
};

Outcome outcome_of(const std::function<void()>& call) {
  Outcome outcome;
  const Steady::time_point begin = Steady::now();
  try {
    call();
  } catch (const Error& error) {
    outcome.code = error.code();
    outcome.text = error.what();
  }
  outcome.took = Steady::now() - begin;
  return outcome;
}

/// The outcome of the first of a few attempts that took no longer than its limit, else of the last:
/// a busy machine delays one of them, a fault all.
template <typename Attempt>
Outcome within(Duration limit, Attempt attempt) {
  constexpr int kAttempts = 3;
  Outcome outcome;
  for (int i = 0; i < kAttempts; ++i) {
    outcome = attempt();
    if (outcome.took <= limit) break;
  }
  EXPECT_LE(std::chrono::duration<double>(outcome.took).count(),
            std::chrono::duration<double>(limit).count());
  return outcome;
}

/// Every call of a reader that waits for nothing.
void use(KafkaReader& reader, Collector& collector) {
  reader.poll(collector);
  reader.pause(0);
  reader.resume(0);
  static_cast<void>(reader.exhausted());
  static_cast<void>(reader.caught_up(0));
  static_cast<void>(reader.stats());
  static_cast<void>(reader.done());
}

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

/// What happens to a broker in the middle of things.
struct Trouble {
  const char* name;
  void (*begin)(RealBroker&);
  void (*end)(RealBroker&);
};

/// A reader and a publisher that worked, and whose broker is now in trouble.
class BrokerInTrouble : public ::testing::TestWithParam<Trouble> {
 protected:
  static constexpr Duration kTimeout = 700ms;

  BrokerInTrouble() {
    broker().create_topic("arrakis-" + partition_);
    PublisherOptions options;
    options.timeout = 30s;
    options.properties["message.timeout.ms"] = "2000";
    KafkaPublisher publisher(broker().bootstrap(), channels_, options);
    for (int i = 0; i < kBlocks; ++i) publisher.publish(block(i));
  }
  ~BrokerInTrouble() override {
    if (in_trouble_) GetParam().end(broker());
  }

  /// For all tests of the program: it comes back in seconds.
  static RealBroker& broker() {
    static RealBroker instance({.fast_fencing = true, .settings = {}});
    return instance;
  }
  void trouble_begins() {
    GetParam().begin(broker());
    in_trouble_ = true;
  }
  void trouble_ends() {
    GetParam().end(broker());
    in_trouble_ = false;
  }

  [[nodiscard]] std::unique_ptr<KafkaReader> reader() const {
    ReaderOptions options;
    options.timeout = 30s;
    return std::make_unique<KafkaReader>(broker().bootstrap(), channels_, options);
  }
  [[nodiscard]] SeriesBlock block(int i) const {
    return make_block(base_ + i * kStride, channels_, i);
  }

  static constexpr int kBlocks = 20;
  const std::string partition_ = random_alphanum(8);
  const ChannelSet channels_{make_partition(partition_, 1)};
  const GpsTime base_ = on_grid(system_clock().now()) - 60s;
  bool in_trouble_ = false;
};

TEST_P(BrokerInTrouble, EveryCallOfAnOpenReaderReturnsInTime) {
  const auto open_reader = reader();
  open_reader->open({.start = base_});
  trouble_begins();
  Collector got;
  within(kSlack, [&] { return outcome_of([&] { use(*open_reader, got); }); });
  while (open_reader->wait(10ms)) open_reader->poll(got);
  within(kTimeout + kSlack, [&] { return outcome_of([&] { open_reader->wait(kTimeout); }); });
  EXPECT_FALSE(open_reader->done());
  EXPECT_LE(outcome_of([&] { open_reader->close(); }).took, kCloseLimit);
}

TEST_P(BrokerInTrouble, FastForwardGoesToTheEndWithinItsTimeoutAndNamesTheBroker) {
  const testing::LogLines log;
  const auto open_reader = reader();
  open_reader->open({.start = base_});
  trouble_begins();
  within(kTimeout + kSlack, [&] {
    return outcome_of([&] { open_reader->fast_forward(base_ + 10 * kStride, kTimeout); });
  });
  EXPECT_THAT(log.of(LogLevel::warning, {broker().bootstrap(), "seeking to end"}),
              ::testing::Not(::testing::IsEmpty()));
  EXPECT_LE(outcome_of([&] { open_reader->close(); }).took, kCloseLimit);
}

TEST_P(BrokerInTrouble, CloseFromAnotherThreadEndsAFastForwardThatWaits) {
  const auto open_reader = reader();
  open_reader->open({.start = base_});
  trouble_begins();
  std::promise<void> begins;
  auto forwarding = std::async(std::launch::async, [&] {
    begins.set_value();
    open_reader->fast_forward(base_ + 10 * kStride, 60s);
  });
  begins.get_future().wait();
  forwarding.wait_for(100ms);
  const Steady::time_point begin = Steady::now();
  EXPECT_LE(outcome_of([&] { open_reader->close(); }).took, kCloseLimit);
  EXPECT_EQ(forwarding.wait_until(begin + kCloseLimit + kSlack), std::future_status::ready);
}

TEST_P(BrokerInTrouble, ABlockStreamReturnsFromItsWaitsAndEndsWhenItIsTold) {
  StreamOptions options;
  options.start = base_;
  options.timeout = 600s;
  BlockStream stream(reader(), options);
  ASSERT_TRUE(stream.next(60s));
  trouble_begins();
  while (stream.next(10ms)) continue;
  within(kTimeout + kSlack, [&] {
    return outcome_of(
        [&] { EXPECT_EQ(stream.next(kTimeout).status, BlockStream::Status::timeout); });
  });
  auto waiting = std::async(std::launch::async, [&] { return stream.next().status; });
  EXPECT_EQ(waiting.wait_for(100ms), std::future_status::timeout);
  const Steady::time_point begin = Steady::now();
  EXPECT_LE(outcome_of([&] { stream.cancel(); }).took, kCloseLimit);
  ASSERT_EQ(waiting.wait_until(begin + kCloseLimit), std::future_status::ready);
  EXPECT_EQ(waiting.get(), BlockStream::Status::end);
  EXPECT_LE(outcome_of([&] { stream.close(); }).took, kCloseLimit);
}

TEST_P(BrokerInTrouble, CloseFromAnotherThreadEndsABlockStreamThatWaits) {
  BlockStream stream(reader());
  trouble_begins();
  auto waiting = std::async(std::launch::async, [&] {
    for (;;) {
      if (stream.next().status == BlockStream::Status::end) return;
    }
  });
  const Steady::time_point begin = Steady::now();
  EXPECT_LE(outcome_of([&] { stream.close(); }).took, kCloseLimit);
  EXPECT_EQ(waiting.wait_until(begin + kCloseLimit + kSlack), std::future_status::ready);
}

TEST_P(BrokerInTrouble, AReaderLooksForTopicsAndEndsAndStillClosesInTime) {
  std::vector<Channel> channels = channels_.channels();
  channels.push_back(make_partition("MISSING" + partition_, 1)[0]);
  ReaderOptions options;
  options.timeout = 30s;
  options.missing_topic_interval = 10ms;  // the control thread always asks something
  KafkaReader open_reader(broker().bootstrap(), ChannelSet(channels), options);
  open_reader.open({.start = base_});
  trouble_begins();
  Collector got;
  const Steady::time_point until = Steady::now() + 500ms;
  while (Steady::now() < until) {
    use(open_reader, got);
    open_reader.wait(10ms);
  }
  EXPECT_LE(outcome_of([&] { open_reader.close(); }).took, kCloseLimit);
}

TEST_P(BrokerInTrouble, PublishThrowsInTimeNamesTheBrokerAndGoesOnAfterwards) {
  PublisherOptions options;
  options.timeout = kTimeout;
  KafkaPublisher publisher(broker().bootstrap(), channels_, options);
  const Outcome first =
      within(30s, [&] { return outcome_of([&] { publisher.publish(block(kBlocks)); }); });
  ASSERT_EQ(first.code, std::nullopt) << first.text;
  trouble_begins();
  int next = kBlocks + 1;
  const Outcome outcome = within(
      kTimeout + kSlack, [&] { return outcome_of([&] { publisher.publish(block(next++)); }); });
  EXPECT_EQ(outcome.code, Errc::timeout);
  EXPECT_THAT(outcome.text, HasSubstr(broker().bootstrap()));
  bool confirmed = true;
  within(kTimeout + kSlack,
         [&] { return outcome_of([&] { confirmed = publisher.flush(kTimeout); }); });
  EXPECT_FALSE(confirmed);
  trouble_ends();
  EXPECT_TRUE(publisher.flush(60s));
  // All of them are there, in their order, once.
  const auto open_reader = reader();
  open_reader->open({.start = base_});
  Collector got;
  EXPECT_TRUE(got.poll_until(
      *open_reader, [&] { return got.parts.size() >= static_cast<std::size_t>(next); }, 60s));
  std::vector<GpsTime> expected;
  for (int i = 0; i < next; ++i) expected.push_back(base_ + i * kStride);
  EXPECT_EQ(got.times(0), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Deadlines, BrokerInTrouble,
    ::testing::Values(Trouble{"Dead", [](RealBroker& broker) { broker.kill(); },
                              [](RealBroker& broker) { broker.restart(); }},
                      Trouble{"Mute", [](RealBroker& broker) { broker.freeze(); },
                              [](RealBroker& broker) { broker.thaw(); }}),
    [](const auto& test) { return test.param.name; });

}
}
