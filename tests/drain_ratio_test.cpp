/// A drain must stay near the price of librdkafka alone. The bound is generous, for any machine: it
/// is there so that a tenfold regression can't land; bench/ measures.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/arrakis.hpp"
#include "kafka/handle.hpp"
#include "testing/channels.hpp"
#include "testing/real_broker.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using testing::kStride;
using testing::RealBroker;

constexpr std::size_t kTopics = 4;
constexpr std::uint32_t kChannels = 100;  // a topic
constexpr std::size_t kStrides = 500;
constexpr std::size_t kMessages = kTopics * kStrides;
constexpr int kRuns = 5;
constexpr auto kPatience = 120s;

/// What Arrakis may take: so many times librdkafka's own CPU time, and so much more a message.
constexpr double kFactor = 4;
constexpr double kSecondsPerMessage = 25e-6;

double process_cpu() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class DrainRatio : public ::testing::Test {
 protected:
  DrainRatio() {
    std::vector<Channel> channels;
    for (std::size_t t = 0; t < kTopics; ++t) {
      const std::string partition = random_alphanum(8);
      topics_.push_back("arrakis-" + partition);
      broker_.create_topic(topics_.back());
      for (Channel& channel : testing::make_partition(partition, kChannels)) {
        channels.push_back(std::move(channel));
      }
    }
    channels_ = ChannelSet(std::move(channels));
    KafkaPublisher publisher(broker_.bootstrap(), channels_);
    for (std::size_t i = 0; i < kStrides; ++i) {
      publisher.publish_async(testing::make_block(time_of(i), channels_, static_cast<int>(i)), {});
    }
    if (!publisher.flush(kPatience)) throw Error(Errc::timeout, "the backlog is not published");
  }

  [[nodiscard]] GpsTime time_of(std::size_t stride) const {
    return base_ + static_cast<std::int64_t>(stride) * kStride;
  }

  /// CPU seconds of a plain consumer that reads every message and looks into none.
  [[nodiscard]] double drain_by_librdkafka() const {
    const double before = process_cpu();
    {
      const std::shared_ptr<Handle> handle =
          Handle::create(HandleKind::consumer, broker_.bootstrap(),
                         {{"group.id", "floor"},
                          {"enable.auto.commit", "false"},
                          {"queued.min.messages", "100000"}},
                         {});
      rd_kafka_poll_set_consumer(handle->get());
      const PartitionList list = make_partition_list(topics_.size());
      for (const std::string& topic : topics_) {
        rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), 0)->offset =
            RD_KAFKA_OFFSET_BEGINNING;
      }
      rd_kafka_assign(handle->get(), list.get());
      std::size_t count = 0;
      const auto give_up = std::chrono::steady_clock::now() + kPatience;
      while (count < kMessages && std::chrono::steady_clock::now() < give_up) {
        const MessagePtr message(rd_kafka_consumer_poll(handle->get(), 1000));
        if (message && message->err == RD_KAFKA_RESP_ERR_NO_ERROR) ++count;
      }
      EXPECT_EQ(count, kMessages);
      rd_kafka_consumer_close(handle->get());
    }
    return process_cpu() - before;
  }

  /// CPU seconds of a stream of blocks over the same.
  [[nodiscard]] double drain_by_arrakis() const {
    const double before = process_cpu();
    {
      StreamOptions options;
      options.start = base_;
      options.end = time_of(kStrides);
      options.timeout = kPatience;
      BlockStream stream(std::make_unique<KafkaReader>(broker_.bootstrap(), channels_), options);
      std::size_t count = 0;
      for (;;) {
        const BlockStream::Next next = stream.next(kPatience);
        if (!next) break;
        ++count;
      }
      EXPECT_EQ(count, kStrides);
      EXPECT_EQ(stream.stats().gap_slots, 0U);
    }
    return process_cpu() - before;
  }

  RealBroker& broker_ = RealBroker::get();
  const GpsTime base_ = testing::on_grid(system_clock().now()) - 600s;
  std::vector<std::string> topics_;
  ChannelSet channels_;
};

TEST_F(DrainRatio, OfBlocksToLibrdkafkaAloneStaysWithinAGenerousBound) {
  double floor = std::numeric_limits<double>::max();
  double ours = std::numeric_limits<double>::max();
  for (int run = 0; run < kRuns; ++run) {
    floor = std::min(floor, drain_by_librdkafka());
    ours = std::min(ours, drain_by_arrakis());
  }
  const double allowed = kFactor * floor + kSecondsPerMessage * static_cast<double>(kMessages);
  const std::string figures = fmt::format(
      "librdkafka alone {:.1f} ms, Arrakis {:.1f} ms, allowed "
      "{:.1f} ms of CPU time for {} messages",
      floor * 1e3, ours * 1e3, allowed * 1e3, kMessages);
  RecordProperty("figures", figures);
  EXPECT_LE(ours, allowed) << figures;
}

}
}
