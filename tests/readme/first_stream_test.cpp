#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "arrakis/arrakis.hpp"
#include "kafka/embedded_broker.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr Duration kStride = std::chrono::microseconds(62'500);
constexpr std::size_t kStridesInThreeSeconds = 48;
constexpr const char* kName = "H1:TEST-RAMP";

ChannelSet channels() {
  Channel channel(kName, DataType::float64, SampleRate(16));
  channel.partition_id = "TEST_RAMP";
  channel.partition_index = 0;
  channel.stride = kStride;
  channel.max_latency = std::chrono::seconds(5);  // no gaps, however busy the machine is
  return ChannelSet({channel});
}

double value_at(GpsTime time) { return static_cast<double>(time.ns() / kStride.count() % 1000); }

/// Publishes value_at() at the end of every stride until it goes.
class LivePublisher {
 public:
  explicit LivePublisher(const std::string& bootstrap)
      : publisher_(bootstrap, channels()),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}

 private:
  void run(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    GpsTime time = system_clock().now().floor_to(kStride);
    while (!stop.stop_requested()) {
      const Duration rest = time + kStride - system_clock().now();
      std::unique_lock lock(mutex);
      stopped.wait_for(lock, stop, rest, [] { return false; });
      if (stop.stop_requested()) return;
      publisher_.publish(
          BlockBuilder(time, channels()).set(kName, std::vector<double>{value_at(time)}).build());
      time += kStride;
    }
  }

  KafkaPublisher publisher_;
  std::jthread thread_;
};

/// What a shell command prints; its exit status must be 0.
std::vector<std::string> lines_of(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  EXPECT_EQ(pclose(pipe), 0) << command;
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(FirstStream, PrintsThreeSecondsOfLiveDataWithoutAGap) {
  std::string folder = testing::TempDir() + "first_stream.XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string metadata = folder + "/channels.jsonl";
  std::ofstream(metadata) << to_json(channels()[0]) << '\n';

  const EmbeddedBroker broker;
  const LivePublisher publisher(broker.bootstrap());
  const std::vector<std::string> lines =
      lines_of(std::string(FIRST_STREAM) + " '" + broker.bootstrap() + "' '" + metadata + "'");
  std::filesystem::remove_all(folder);

  ASSERT_EQ(lines.size(), kStridesInThreeSeconds);
  const GpsTime first = parse_time(lines[0].substr(0, lines[0].find(' ')), {});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const GpsTime time = first + static_cast<std::int64_t>(i) * kStride;
    std::ostringstream expected;
    expected << format_time(time) << ' ' << kName << ' ' << value_at(time);
    EXPECT_EQ(lines[i], expected.str());
  }
}

}  // namespace
}  // namespace arrakis::inline v1
