/// Every public call of a reader, a stream or a publisher that worked until its broker died or
/// hung: it returns within its deadline, and what it throws or logs names the broker.

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
#include "testing/channels.hpp"
#include "testing/deadlines.hpp"
#include "testing/log_lines.hpp"
#include "testing/real_broker.hpp"

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
using testing::RealBroker;
using testing::use;
using testing::within;
using Steady = std::chrono::steady_clock;

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
  void TearDown() override {
    if (in_trouble_) trouble_ends();
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
  expected.reserve(got.parts.size());
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
