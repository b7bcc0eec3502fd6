/// Messages that nobody should have sent, between good ones, on a real broker: every good one
/// arrives, and each bad one is counted and named once an episode.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrakis/arrakis.hpp"
#include "testing/channels.hpp"
#include "testing/collector.hpp"
#include "testing/log_lines.hpp"
#include "testing/raw_producer.hpp"
#include "testing/real_broker.hpp"
#include "wire/sample_messages.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using testing::kStride;
using testing::make_partition;
using testing::RealBroker;
using ::testing::SizeIs;

constexpr int kSamples = 4;  // of a channel of make_partition() in a block

/// Two rows of the block at `time`; sample i of row r is number + 100 r + i.
std::vector<SampleRow> rows_of(GpsTime time, int number) {
  std::vector<SampleRow> rows(2);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    rows[r].time_ns = time.ns();
    rows[r].id = static_cast<std::int64_t>(r);
    rows[r].samples.emplace();
    for (int i = 0; i < kSamples; ++i) {
      rows[r].samples->emplace_back(number + 100 * static_cast<int>(r) + i);
    }
  }
  return rows;
}

struct BadMessage {
  const char* name;
  std::optional<std::string> bytes;  // nothing: a null value
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.rfind(from);
  if (at == std::string::npos) throw std::logic_error("nothing to replace");
  return text.replace(at, from.size(), to);
}

std::vector<BadMessage> bad_messages(GpsTime time) {
  const std::string good = make_message(rows_of(time, 0));
  std::string noise(200, '\0');
  std::mt19937 random(1);
  for (char& byte : noise) byte = static_cast<char>(random());
  std::vector<SampleRow> without_time = rows_of(time, 0);
  without_time[1].time_ns.reset();
  const auto as_bytes = [](const std::vector<std::int32_t>& numbers) {
    std::string bytes(numbers.size() * sizeof(std::int32_t), '\0');
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
  };
  return {
      {"null value", std::nullopt},
      {"empty value", ""},
      {"zeros", std::string(64, '\0')},
      {"random bytes", noise},
      {"first half", good.substr(0, good.size() / 2)},
      {"cut short", good.substr(0, good.size() - 24)},
      {"null in time", make_message(without_time)},
      {"wrong columns", replaced(good, "data", "dada")},
      {"offsets outside",
       replaced(good, as_bytes({0, kSamples, 2 * kSamples}), as_bytes({0, kSamples, 1 << 30}))},
      {"text", R"({"time": 1, "id": 0, "data": [1, 2, 3, 4]})"},
  };
}

class HostileMessages : public ::testing::Test {
 protected:
  HostileMessages() {
    for (const char* prefix : {"A", "B", "C"}) {
      ids_.push_back(prefix + random_alphanum(7));
      broker_.create_topic(topic(ids_.size() - 1));
    }
  }
  [[nodiscard]] std::string topic(std::size_t i) const { return "arrakis-" + ids_[i]; }
  [[nodiscard]] ChannelSet channels() const {
    return testing::join(make_partition(ids_[0], 2), make_partition(ids_[1], 2),
                         make_partition(ids_[2], 2));
  }
  [[nodiscard]] GpsTime time_of(int number) const { return base_ + number * kStride; }
  void send_good(std::size_t i, int number) {
    producer_.send(topic(i), make_message(rows_of(time_of(number), number)));
  }
  void send_bad(std::size_t i, const BadMessage& message) {
    if (message.bytes) {
      producer_.send(topic(i), *message.bytes);
    } else {
      producer_.send_null(topic(i));
    }
  }
  [[nodiscard]] std::vector<GpsTime> times(int count) const {
    std::vector<GpsTime> all;
    all.reserve(static_cast<std::size_t>(count));
    for (int number = 0; number < count; ++number) all.push_back(time_of(number));
    return all;
  }

  RealBroker& broker_ = RealBroker::get();
  testing::RawProducer producer_{broker_.bootstrap()};
  std::vector<std::string> ids_;
  const GpsTime base_ = testing::on_grid(system_clock().now()) - 120s;
};

TEST_F(HostileMessages, EveryGoodOneOfEveryTopicArrivesAndEachBadOneIsNamedOnce) {
  const std::vector<BadMessage> bad = bad_messages(base_);
  const auto count = static_cast<int>(bad.size());
  for (std::size_t t = 0; t < ids_.size(); ++t) {
    send_good(t, 0);
    for (int i = 0; i < count; ++i) {
      send_bad(t, bad[static_cast<std::size_t>(i)]);
      send_good(t, i + 1);
    }
  }
  const testing::LogLines log;
  KafkaReader reader(broker_.bootstrap(), channels());
  reader.open({.start = GpsTime()});
  Collector got;
  const std::size_t good = ids_.size() * static_cast<std::size_t>(count + 1);
  ASSERT_TRUE(got.poll_until(
      reader, [&] { return got.parts.size() >= good && reader.exhausted(); }, 60s));
  const ReaderStats stats = reader.stats();
  EXPECT_EQ(stats.bad_messages, ids_.size() * bad.size());
  EXPECT_EQ(stats.messages, good + stats.bad_messages);
  EXPECT_EQ(stats.parts, good);
  for (std::size_t t = 0; t < ids_.size(); ++t) {
    EXPECT_EQ(got.times(t), times(count + 1));
    for (std::size_t i = 0; i < bad.size(); ++i) {
      // A good one before and after it makes each an episode of its own.
      const std::string offset = fmt::format("at offset {}:", 2 * i + 1);
      EXPECT_THAT(log.of(LogLevel::warning, {"bad message in " + topic(t) + " [0]", offset}),
                  SizeIs(1))
          << bad[i].name;
    }
  }
  EXPECT_THAT(got.events_of<events::OutageBegan>(), SizeIs(ids_.size() * bad.size()));
  EXPECT_THAT(got.events_of<events::OutageEnded>(), SizeIs(ids_.size() * bad.size()));
}

TEST_F(HostileMessages, BadOnesInARowAreOneEpisodeWithTheirNumberAndOthersAreLeftAlone) {
  const std::vector<BadMessage> bad = bad_messages(base_);
  for (std::size_t t = 0; t < ids_.size(); ++t) {
    send_good(t, 0);
    if (t == 1) {
      for (const BadMessage& message : bad) send_bad(t, message);
    }
    send_good(t, 1);
  }
  const testing::LogLines log;
  KafkaReader reader(broker_.bootstrap(), channels());
  reader.open({.start = GpsTime()});
  Collector got;
  ASSERT_TRUE(got.poll_until(
      reader, [&] { return got.parts.size() >= 2 * ids_.size() && reader.exhausted(); }, 60s));
  for (std::size_t t = 0; t < ids_.size(); ++t) EXPECT_EQ(got.times(t), times(2));
  EXPECT_EQ(reader.stats().bad_messages, bad.size());
  EXPECT_THAT(log.of(LogLevel::warning, {"bad message in"}), SizeIs(1));
  EXPECT_THAT(log.of(LogLevel::warning, {topic(1) + " [0] at offset 1:"}), SizeIs(1));
  EXPECT_THAT(log.of(LogLevel::info, {topic(1), fmt::format("{} bad", bad.size())}), SizeIs(1));
  const auto began = got.events_of<events::OutageBegan>();
  ASSERT_THAT(began, SizeIs(1));
  EXPECT_EQ(began[0].stream, reader.streams()[1].id);
  const auto ended = got.events_of<events::OutageEnded>();
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].lost, bad.size());
}

TEST_F(HostileMessages, AStreamGivesOutTheGoodOnesAndAGapWhereNothingGoodCame) {
  const std::vector<BadMessage> bad = bad_messages(base_);
  const auto count = static_cast<int>(bad.size());
  // Topic B has the bad ones in place of blocks 1 to 10, the others beside theirs.
  for (int number = 0; number < count + 2; ++number) {
    const bool has_bad = number > 0 && number <= count;
    for (std::size_t t = 0; t < ids_.size(); ++t) {
      if (has_bad) send_bad(t, bad[static_cast<std::size_t>(number - 1)]);
      if (!has_bad || t != 1) send_good(t, number);
    }
  }
  StreamOptions options;
  options.start = base_;
  options.end = time_of(count + 2);
  BlockStream stream(std::make_unique<KafkaReader>(broker_.bootstrap(), channels()), options);
  int number = 0;
  for (const SeriesBlock& block : stream) {
    EXPECT_EQ(block.time(), time_of(number));
    for (std::size_t t = 0; t < ids_.size(); ++t) {
      const Series series = block["X1:" + ids_[t] + "-1"];
      const bool is_gap = t == 1 && number > 0 && number <= count;
      EXPECT_EQ(series.has_gaps(), is_gap) << number << " " << t;
      if (!is_gap) {
        EXPECT_EQ(series.values<float>()[3], static_cast<float>(number + 103));
      }
    }
    ++number;
  }
  EXPECT_EQ(number, count + 2);
  EXPECT_EQ(stream.stats().late, 0U);
}

TEST_F(HostileMessages, ARowWithoutSamplesIsAGapAndARowOfTheWrongLengthIsDroppedAndCounted) {
  std::vector<SampleRow> rows = rows_of(time_of(0), 0);
  rows[1].samples.reset();
  producer_.send(topic(0), make_message(rows));
  rows = rows_of(time_of(1), 1);
  rows[1].samples->pop_back();
  producer_.send(topic(0), make_message(rows));
  send_good(0, 2);
  auto source =
      std::make_unique<KafkaReader>(broker_.bootstrap(), ChannelSet(make_partition(ids_[0], 2)));
  const KafkaReader& reader = *source;
  StreamOptions options;
  options.start = base_;
  options.end = time_of(3);
  BlockStream stream(std::move(source), options);
  std::vector<std::size_t> gaps;
  for (const SeriesBlock& block : stream) {
    EXPECT_FALSE(block["X1:" + ids_[0] + "-0"].has_gaps());
    const Series series = block["X1:" + ids_[0] + "-1"];
    EXPECT_EQ(series.size(), static_cast<std::size_t>(kSamples));
    gaps.push_back(series.gap_count());
  }
  EXPECT_THAT(gaps, ::testing::ElementsAre(kSamples, kSamples, 0));
  const ReaderStats stats = reader.stats();
  EXPECT_EQ(stats.dropped_rows, 1U);
  EXPECT_EQ(stats.bad_messages, 0U);
}

}
}
