/// Readers that fall behind, and readers whose source does, against a real broker.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "arrakis/arrakis.hpp"
#include "testing/channels.hpp"
#include "testing/collector.hpp"
#include "testing/live_publisher.hpp"
#include "testing/log_lines.hpp"
#include "testing/real_broker.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using testing::kStride;
using testing::LivePublisher;
using testing::LogLines;
using testing::make_partition;
using testing::RealBroker;

class FastForward : public ::testing::Test {
 protected:
  FastForward() {
    broker_.create_topic("arrakis-" + p_);
    broker_.create_topic("arrakis-" + q_);
  }
  static ReaderOptions impatient() {
    ReaderOptions options;
    options.fast_forward = true;
    options.policy.grace_floor = 0;
    options.policy.grace_budgets = 1e-9;
    return options;
  }
  static void expect_no_hole(const std::vector<GpsTime>& times) {
    for (std::size_t i = 1; i < times.size(); ++i) EXPECT_EQ(times[i], times[i - 1] + kStride);
  }

  RealBroker& broker_ = RealBroker::get();
  const std::string p_ = random_alphanum(8);
  const std::string q_ = random_alphanum(8);
  const ChannelSet channels_ = testing::join(make_partition(p_, 1), make_partition(q_, 1));
};

TEST_F(FastForward, APartitionThatStaysBehindSkipsAndTheOneInTimeLosesNothing) {
  const LogLines lines;
  KafkaReader reader(broker_.bootstrap(), channels_, impatient());
  reader.open({});
  const LivePublisher publishing(broker_.bootstrap(), channels_);
  Collector got;
  const auto has = [&](std::size_t stream, std::size_t count) {
    return got.poll_until(
        reader, [&] { return got.times(stream).size() >= count; }, 60s);
  };
  ASSERT_TRUE(has(0, 4) && has(1, 4));
  reader.pause(0);
  const std::size_t before = got.times(0).size();
  ASSERT_TRUE(has(1, got.times(1).size() + 80));  // five times the budget
  const auto behind = std::chrono::steady_clock::now();
  reader.resume(0);
  ASSERT_TRUE(got.poll_until(
      reader, [&] { return !got.events_of<events::Recovered>().empty(); }, 60s));
  // The grace is none, so this is from its end to the first block in budget.
  RecordProperty("recovered_in_ms",
                 static_cast<int>((std::chrono::steady_clock::now() - behind) / 1ms));
  ASSERT_TRUE(has(0, got.times(0).size() + 16));

  const auto skipped = got.events_of<events::SkippedAhead>();
  EXPECT_EQ(lines.of(LogLevel::warning, {"skipped ahead"}).size(), skipped.size());
  EXPECT_EQ(lines.of(LogLevel::info, {"caught up"}).size(),
            got.events_of<events::Recovered>().size());
  // On a machine that is too busy to publish in time there is more than one reason to skip.
  ASSERT_GE(skipped.size(), 1U);
  if (skipped.size() > 1) return;
  EXPECT_EQ(skipped[0].partitions_moved, 1U);
  EXPECT_EQ(got.events_of<events::Recovered>().size(), 1U);
  expect_no_hole(got.times(1));
  // Before the policy answered, blocks of the backlog may have come, and their delivery may have
  // begun; after the first of the target none older does.
  const std::vector<GpsTime> times = got.times(0);
  const auto landed = std::find_if(times.begin() + static_cast<std::ptrdiff_t>(before), times.end(),
                                   [&](GpsTime t) { return t + kStride > skipped[0].target; });
  expect_no_hole({times.begin(), landed});
  expect_no_hole({landed, times.end()});
  EXPECT_LE(*landed, skipped[0].target);
  EXPECT_GT(reader.stats().skipped_messages, 0U);
}

TEST_F(FastForward, WhatASlowConsumerSkipsIsAnExplicitGap) {
  auto source = std::make_unique<KafkaReader>(broker_.bootstrap(), channels_, impatient());
  const KafkaReader& reader = *source;
  std::vector<Event> events;
  StreamOptions options;
  options.on_event = [&](const Event& event) { events.push_back(event); };
  BlockStream stream(std::move(source), options);
  const LivePublisher publishing(broker_.bootstrap(), channels_);
  std::vector<SeriesBlock> blocks;
  const auto take = [&](std::size_t count) {
    while (count > 0) {
      BlockStream::Next next = stream.next(60s);
      if (!next) return false;
      blocks.push_back(std::move(next.block));
      --count;
    }
    return true;
  };
  ASSERT_TRUE(take(8));
  std::this_thread::sleep_for(5s);  // what a slow consumer does
  const auto is_over = [&] {
    return std::any_of(events.begin(), events.end(), [](const Event& event) {
      return std::holds_alternative<events::Recovered>(event);
    });
  };
  for (int i = 0; i < 1000 && !is_over(); ++i) ASSERT_TRUE(take(1));
  ASSERT_TRUE(take(32));
  EXPECT_GT(reader.stats().fast_forwards, 0U);
  EXPECT_GT(reader.stats().skipped_messages, 0U);
  std::size_t gaps = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i > 0) {
      EXPECT_EQ(blocks[i].time(), blocks[i - 1].time() + kStride);
    }
    if (blocks[i].has_gaps()) ++gaps;
  }
  EXPECT_GT(gaps, 0U);
  EXPECT_FALSE(blocks.back().has_gaps());
}

TEST_F(FastForward, WhenTheSourceIsLateEverythingIsDeliveredAndThatIsSaidOnce) {
  const LogLines lines;
  KafkaReader reader(broker_.bootstrap(), channels_, impatient());
  reader.open({});
  const LivePublisher publishing(broker_.bootstrap(), channels_, 30s);
  Collector got;
  // Many times the grace, so the policy asks for a skip again and again.
  ASSERT_TRUE(got.poll_until(
      reader, [&] { return got.times(0).size() >= 80 && got.times(1).size() >= 80; }, 60s));
  expect_no_hole(got.times(0));
  expect_no_hole(got.times(1));
  EXPECT_EQ(reader.stats().fast_forwards, 0U);
  EXPECT_EQ(reader.stats().skipped_messages, 0U);
  EXPECT_EQ(lines.of(LogLevel::info, {"the source is behind"}).size(), 1U);
  EXPECT_TRUE(lines.of(LogLevel::warning).empty());
}

}
}
