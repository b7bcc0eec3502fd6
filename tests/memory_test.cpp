/// How much memory a reader takes when there is far more to read than that.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arrakis/arrakis.hpp"
#include "testing/channels.hpp"
#include "testing/eventually.hpp"
#include "testing/real_broker.hpp"
#include "wire/part.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using testing::kStride;
using testing::RealBroker;

constexpr int kTopics = 200;
/// Of about 50 MB a topic.
constexpr int kMessages = 200;
constexpr int kRate = 1 << 20;  // 2^16 float32, 256 KiB, in a sixteenth of a second

/// The prefetch that a reader of so many topics may use, and what it may hold by itself.
constexpr std::int64_t kPrefetchBytes = 64 << 20;
constexpr std::int64_t kPromisedBytes = (64 << 20) + 2 * kPrefetchBytes;

std::int64_t resident_bytes() {
  std::int64_t total = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// The most that the process was seen to hold while this lives.
class Peak {
 public:
  Peak() : thread_([this] { watch(); }) {}
  ~Peak() {
    stopping_ = true;
    thread_.join();
  }
  Peak(const Peak&) = delete;
  Peak& operator=(const Peak&) = delete;

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  void watch() {
    while (!stopping_) {
      bytes_ = std::max(bytes_.load(), resident_bytes());
      std::this_thread::sleep_for(2ms);
    }
  }

  std::atomic<bool> stopping_{false};
  std::atomic<std::int64_t> bytes_{0};
  std::thread thread_;
};

/// Checks that everything comes in order, and keeps every `keep_every`th part (0: none).
struct Taker final : Source::Sink {
  Taker(GpsTime first, std::size_t keep) : keep_every(keep), next(kTopics, first) {}
  bool on_part(std::size_t stream, BlockPartPtr part) override {
    if (part->time() != next.at(stream)) ++misplaced;
    next.at(stream) = part->time() + kStride;
    ++count;
    if (keep_every > 0 && count % keep_every == 0) kept.push_back(std::move(part));
    return true;
  }
  void on_event(const Event& event) override { ADD_FAILURE() << to_string(event); }

  std::size_t keep_every;
  std::vector<GpsTime> next;
  std::size_t count = 0;
  std::size_t misplaced = 0;
  std::vector<BlockPartPtr> kept;
};

class Backlog : public ::testing::Test {
 protected:
  Backlog() {
    for (int t = 0; t < kTopics; ++t) {
      const std::string partition = fmt::format("T{:03}", t);
      broker_.create_topic("arrakis-" + partition);
      all_.push_back(
          testing::make_channel("X1:BACKLOG-" + partition, partition, 0, DataType::float32, kRate));
    }
    {
      KafkaPublisher publisher(broker_.bootstrap(), ChannelSet(all_));
      for (int i = 0; i < kMessages; ++i) {
        publisher.publish(testing::make_block(base_ + i * kStride, publisher.channels(), i));
      }
    }
    baseline();
  }

  /// From here on memory counts.
  void baseline() {
    malloc_trim(0);
    baseline_ = resident_bytes();
  }
  /// Takes everything that there is; the most that the process held meanwhile, without what was
  /// kept on purpose.
  std::int64_t drain(KafkaReader& reader, Taker& taker) const {
    const auto kept = [&] { return static_cast<std::int64_t>(taker.kept.size()) * kMessageBytes; };
    const Peak peak;
    const auto deadline = std::chrono::steady_clock::now() + 600s;
    while (taker.count < std::size_t{kTopics} * kMessages &&
           std::chrono::steady_clock::now() < deadline) {
      if (reader.poll(taker)) reader.wait(50ms);
      // More would only endanger the machine.
      if (resident_bytes() - baseline_ - kept() > 4 * kPromisedBytes) break;
    }
    return peak.bytes() - baseline_ - kept();
  }

  static constexpr std::int64_t kMessageBytes = std::int64_t{kRate} / 16 * 4;

  RealBroker broker_{RealBroker::Options()};
  std::vector<Channel> all_;
  const GpsTime base_ = testing::on_grid(system_clock().now()) - 120s;
  std::int64_t baseline_ = 0;
};

TEST_F(Backlog, OfFiftyMegabytesInEachOfTwoHundredTopicsTakesNoMoreMemoryThanPromised) {
  {
    KafkaReader reader(broker_.bootstrap(), ChannelSet(all_));
    const Peak peak;
    reader.open({.start = GpsTime()});
    // Nobody polls: what is fetched ahead fills up to its limit.
    std::int64_t before = 0;
    auto still_since = std::chrono::steady_clock::now();
    testing::eventually([&] {
      const std::int64_t now = peak.bytes();
      if (now > before) still_since = std::chrono::steady_clock::now();
      before = now;
      return std::chrono::steady_clock::now() - still_since > 5s;
    });
    EXPECT_GT(peak.bytes() - baseline_, kPrefetchBytes / 2);
    EXPECT_LE(peak.bytes() - baseline_, kPromisedBytes);
  }
  // A part that is kept must not keep all that was fetched together with it.
  for (const std::size_t keep_every : {0U, 1000U, 100U}) {
    baseline();
    KafkaReader reader(broker_.bootstrap(), ChannelSet(all_));
    reader.open({.start = GpsTime()});
    Taker taker(base_, keep_every);
    EXPECT_LE(drain(reader, taker), kPromisedBytes) << "keeping one in " << keep_every;
    EXPECT_EQ(taker.count, std::size_t{kTopics} * kMessages);
    EXPECT_EQ(taker.misplaced, 0U);
  }
}

}
}
