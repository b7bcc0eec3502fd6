#include "bench/memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "arrakis/arrakis.hpp"
#include "bench/broker.hpp"
#include "bench/publisher_process.hpp"
#include "bench/stopwatch.hpp"
#include "bench/synthetic.hpp"

namespace arrakis::bench {
namespace {

constexpr std::size_t kLooks = 20;
constexpr std::size_t kStridesPerMinute = 960;
constexpr Duration kPatience = std::chrono::seconds(30);

double resident_mb() {
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}

std::string memory(const MemoryOptions& options) {
  const Shape shape{.partitions = options.partitions,
                    .channels = options.channels,
                    .rate = 16,
                    .type = DataType::float32};
  const ChannelSet channels = make_channels(shape, unique_prefix("memory"));
  const std::size_t strides = options.minutes * kStridesPerMinute;
  Backlog backlog;
  backlog.from = system_clock().now().floor_to(kStride) -
                 static_cast<std::int64_t>(strides + kStridesPerMinute) * kStride;
  backlog.strides = strides;
  backlog.report_every = strides / kLooks;
  PublisherProcess publisher(options.bootstrap, channels, backlog);
  const double before = resident_mb();

  ReaderOptions reader_options;
  if (options.bootstrap.empty()) reader_options.properties = embedded_consumer_properties();
  auto owned =
      std::make_unique<KafkaReader>(publisher.bootstrap(), channels, std::move(reader_options));
  StreamOptions stream_options;
  stream_options.start = backlog.from;
  BlockStream stream(std::move(owned), stream_options);
  const Stopwatch watch;
  publisher.start();
  // It was reading when it stalled.
  if (!stream.next(kPatience)) {
    throw Error(Errc::timeout, fmt::format("no block within {}", format_duration(kPatience)));
  }
  std::vector<double> resident;
  for (std::size_t look = 0; look < kLooks; ++look) {
    publisher.wait_for_report();
    resident.push_back(resident_mb());
  }
  const double wall = watch.wall();
  const double peak = peak_mb();
  const bool goes_on = static_cast<bool>(stream.next(kPatience));
  stream.close();
  publisher.stop();
  const auto middle = resident.begin() + kLooks / 2;
  const double growth =
      *std::max_element(middle, resident.end()) - *std::max_element(resident.begin(), middle);
  return fmt::format(
      R"({{"mode": "memory", "broker": "{}", "partitions": {}, "channels": {}, "minutes": {}, )"
      R"("wall": {:.3f}, "before_mb": {:.1f}, "peak_mb": {:.1f}, "reader_mb": {:.1f}, )"
      R"("growth_mb": {:.1f}, "goes_on": {}, "resident_mb": [{:.1f}]}})",
      options.bootstrap.empty() ? "embedded" : "real", options.partitions, channels.size(),
      options.minutes, wall, before, peak, peak - before, growth, goes_on,
      fmt::join(resident, ", "));
}

}
