#pragma once

/// A writer, a reader and a stream on the same topics, held against each other, for tests that do
/// harm to the broker meanwhile.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/arrakis.hpp"
#include "testing/channels.hpp"
#include "testing/eventually.hpp"
#include "testing/traffic.hpp"

namespace arrakis::testing {

/// However busy the machine is.
inline constexpr Duration kPatience = std::chrono::seconds(120);

/// One channel in each of `count` partitions with names of this test's own; their topics are made.
template <typename Broker>
ChannelSet make_topics(Broker& broker, int count) {
  const std::string prefix = random_alphanum(6);
  std::vector<Channel> channels;
  for (int i = 0; i < count; ++i) {
    const std::string partition = fmt::format("{}{:02}", prefix, i);
    broker.create_topic("arrakis-" + partition);
    channels.push_back(make_channel("X1:CHAOS-" + partition, partition, 0));
  }
  return ChannelSet(std::move(channels));
}

/// A writer of all channels, a reader that began before it, and a stream that begins at its first
/// block.
class Traffic {
 public:
  Traffic(const std::string& bootstrap, const ChannelSet& channels)
      : reader(bootstrap, channels, first),
        stream(bootstrap, channels, first),
        writer(bootstrap, channels, first) {}

  [[nodiscard]] int least() const {
    return std::min(reader.ledger().least(), stream.ledger().least());
  }
  /// Whether `count` more blocks of everything come to both.
  [[nodiscard]] ::testing::AssertionResult goes_on(int count) const {
    const int before = least();
    if (eventually([&] { return least() >= before + count; }, kPatience)) {
      return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure()
           << "sent " << writer.sent() << ", confirmed " << writer.confirmed() << ", reader has "
           << reader.ledger().least() << ", stream has " << stream.ledger().least() << "; "
           << reader.ledger().faults() << stream.ledger().faults();
  }
  /// Seconds from `since` until every partition has brought something to both.
  [[nodiscard]] double time_to_flow(std::chrono::steady_clock::time_point since) const {
    eventually([&] { return reader.ledger().all_since(since) && stream.ledger().all_since(since); },
               kPatience);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
  }
  /// Stops writing and holds what came against what was written.
  void expect_everything_came() {
    EXPECT_TRUE(writer.stop(kPatience)) << writer.confirmed() << " of " << writer.sent();
    EXPECT_THAT(writer.failures(), ::testing::IsEmpty());
    EXPECT_TRUE(eventually([&] { return least() >= writer.confirmed(); }, kPatience));
    reader.stop();
    stream.stop();
    EXPECT_EQ(reader.ledger().least(), writer.confirmed());
    EXPECT_EQ(stream.ledger().least(), writer.confirmed());
    EXPECT_EQ(reader.ledger().faults(), "");
    EXPECT_EQ(stream.ledger().faults(), "");
    const ReaderStats stats = reader.stats();
    EXPECT_EQ(stats.purged_messages, 0U);
    EXPECT_EQ(stats.skipped_messages, 0U);
    EXPECT_EQ(stats.bad_messages, 0U);
  }

  const GpsTime first = on_grid(system_clock().now() - std::chrono::seconds(60));
  ReaderThread reader;
  StreamThread stream;
  Writer writer;
};

}
