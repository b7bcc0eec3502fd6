#include "bench/detector.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "arrakis/arrakis.hpp"
#include "bench/allocator.hpp"
#include "bench/broker.hpp"
#include "bench/detector_source.hpp"
#include "bench/percentiles.hpp"
#include "bench/publisher_process.hpp"
#include "bench/stopwatch.hpp"
#include "bench/stride_messages.hpp"
#include "bench/synthetic.hpp"

namespace arrakis::bench {
namespace {

/// A second of blocks before anything is measured.
constexpr std::size_t kWarmUp = 16;
/// So many strides lie in memory; a reader further behind could see its samples change.
constexpr std::size_t kRing = 32;
/// Where messages begin, from a multiple of eight: librdkafka's are not aligned either.
constexpr std::size_t kMisalignment = 5;
constexpr Duration kPatience = std::chrono::seconds(30);

double cpu_of_this_thread() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Puts the messages of each stride into a source, in bursts after the stride's end, from a thread
/// of its own.
class Feeder {
 public:
  Feeder(const ChannelSet& channels, std::size_t bursts, MemorySource& source)
      : messages_(channels), bursts_(std::max<std::size_t>(bursts, 1)), source_(source) {
    for (std::size_t i = 0; i < kRing; ++i) ring_.push_back(copy_of_messages());
    thread_ = std::thread([this] { run(); });
  }
  ~Feeder() {
    stopping_ = true;
    thread_.join();
  }
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

  /// Whether a stride had to wait because the reader still held its memory.
  [[nodiscard]] bool was_held_up() const { return held_up_; }

 private:
  struct Stride {
    std::shared_ptr<std::byte[]> memory;
    std::vector<std::span<std::byte>> messages;
  };

  Stride copy_of_messages() {
    std::size_t size = 0;
    std::vector<std::size_t> offsets;
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      offsets.push_back(size + kMisalignment);
      size += (kMisalignment + messages_.bytes(i).size() + 7) / 8 * 8;
    }
    Stride stride{std::shared_ptr<std::byte[]>(new std::byte[size]), {}};
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      const std::span<std::byte> bytes = messages_.bytes(i);
      std::memcpy(stride.memory.get() + offsets[i], bytes.data(), bytes.size());
      stride.messages.emplace_back(stride.memory.get() + offsets[i], bytes.size());
    }
    return stride;
  }

  void run() {
    GpsTime time = system_clock().now().floor_to(kStride);
    for (std::size_t n = 0; !stopping_; ++n, time += kStride) {
      Stride& stride = ring_[n % kRing];
      while (stride.memory.use_count() > 1 && !stopping_) {
        held_up_ = true;
        std::this_thread::sleep_for(kStride);
      }
      std::vector<MemorySource::Message> messages;
      for (std::size_t i = 0; i < stride.messages.size(); ++i) {
        messages_.set_time(i, time, stride.messages[i]);
        messages.push_back({i, {stride.messages[i], stride.memory}});
      }
      for (std::size_t b = 0; b < bursts_ && !stopping_; ++b) {
        const Duration delay =
            static_cast<std::int64_t>(b) * kStride / static_cast<std::int64_t>(2 * bursts_);
        std::this_thread::sleep_for(time + kStride + delay - system_clock().now());
        const std::size_t from = b * messages.size() / bursts_;
        const std::size_t to = (b + 1) * messages.size() / bursts_;
        source_.put(std::span(messages).subspan(from, to - from));
      }
    }
  }

  StrideMessages messages_;
  std::size_t bursts_;
  MemorySource& source_;
  std::vector<Stride> ring_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> held_up_{false};
  std::thread thread_;
};

struct Figures {
  std::size_t blocks = 0;
  std::size_t gap_blocks = 0;
  double wall = 0;
  double process_cpu = 0;
  double thread_cpu = 0;
  std::uint64_t samples = 0;
  std::uint64_t gap_slots = 0;  ///< partitions missing in a block
  std::uint64_t late = 0;       ///< of those, came after all
  Percentiles age_ms;
};

std::uint64_t samples_in(const SeriesBlock& block) {
  std::uint64_t samples = 0;
  for (std::size_t i = 0; i < block.size(); ++i) samples += block.at(i).size();
  return samples;
}

SeriesBlock next_block(BlockStream& stream) {
  BlockStream::Next next = stream.next(kPatience);
  if (!next)
    throw Error(Errc::timeout, fmt::format("no block within {}", format_duration(kPatience)));
  return std::move(next.block);
}

/// Reads what comes, and calls `begin` when the measurement does.
template <typename Begin>
Figures measure(BlockStream& stream, const DetectorOptions& options, Begin begin) {
  for (std::size_t i = 0; i < kWarmUp; ++i) next_block(stream);
  begin();
  const StreamStats before = stream.stats();
  Figures figures;
  const Stopwatch watch;
  const double cpu_before = cpu_of_this_thread();
  do {
    const SeriesBlock block = next_block(stream);
    const Duration age = system_clock().now() - block.end();
    figures.age_ms.add(std::chrono::duration<double, std::milli>(age).count());
    if (block.has_gaps()) ++figures.gap_blocks;
    if (options.visit) figures.samples += samples_in(block);
    ++figures.blocks;
  } while (watch.wall() < options.seconds);
  figures.wall = watch.wall();
  figures.gap_slots = stream.stats().gap_slots - before.gap_slots;
  figures.late = stream.stats().late - before.late;
  figures.process_cpu = watch.cpu();
  figures.thread_cpu = cpu_of_this_thread() - cpu_before;
  return figures;
}

std::string report(const DetectorOptions& options, std::string_view source, const Figures& figures,
                   double cpu, const std::string& more) {
  const auto rows = static_cast<double>(figures.blocks * options.partitions * options.channels);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return fmt::format(
      R"({{"mode": "detector", "source": "{}", "partitions": {}, "channels": {}, "visit": {}, )"
      R"("blocks": {}, "wall": {:.3f}, "cpu": {:.3f}, "cores": {:.4f}, "blocks_per_s": {:.2f}, )"
      R"("mrows_per_s": {:.3f}, "age_ms": {}, "gap_blocks": {}, "gap_slots": {}, "late": {}, "rss_mb": {}, {}}})",
      source, options.partitions, options.partitions * options.channels, options.visit,
      figures.blocks, figures.wall, cpu, cpu / figures.wall,
      static_cast<double>(figures.blocks) / figures.wall, rows / figures.wall * 1e-6,
      figures.age_ms.json(), figures.gap_blocks, figures.gap_slots, figures.late,
      usage.ru_maxrss / 1024, more);
}

std::string from_memory(const DetectorOptions& options, const ChannelSet& channels) {
  auto owned = std::make_unique<MemorySource>(channels);
  MemorySource& source = *owned;
  BlockStream stream(std::move(owned));
  const Feeder feeder(channels, options.bursts, source);
  double decode_before = 0;
  std::uint64_t decoded_before = 0;
  const Figures figures = measure(stream, options, [&] {
    decode_before = source.decode_seconds();
    decoded_before = source.decoded();
  });
  const double decode = source.decode_seconds() - decode_before;
  const auto messages = static_cast<double>(source.decoded() - decoded_before);
  const std::string more = fmt::format(
      R"("decode_cores": {:.4f}, "us_per_message": {:.3f}, "decode_us_per_message": {:.3f}, )"
      R"("feeder_held_up": {})",
      decode / figures.wall, figures.thread_cpu / messages * 1e6, decode / messages * 1e6,
      feeder.was_held_up());
  return report(options, "memory", figures, figures.thread_cpu, more);
}

std::string from_broker(const DetectorOptions& options, const ChannelSet& channels) {
  PublisherProcess publisher(options.bootstrap, channels);
  ReaderOptions reader_options;
  reader_options.properties = options.properties;
  if (options.bootstrap.empty()) reader_options.properties.merge(embedded_consumer_properties());
  auto owned =
      std::make_unique<KafkaReader>(publisher.bootstrap(), channels, std::move(reader_options));
  const KafkaReader& reader = *owned;
  BlockStream stream(std::move(owned));
  publisher.start();
  std::uint64_t before = 0;
  const Figures figures = measure(stream, options, [&] { before = reader.stats().messages; });
  const std::uint64_t messages = reader.stats().messages - before;
  stream.close();
  const double late = publisher.stop();
  return report(options, options.bootstrap.empty() ? "embedded" : "real", figures,
                figures.process_cpu,
                fmt::format(R"("stream_thread_cores": {:.4f}, "messages": {}, )"
                            R"("us_per_message": {:.3f}, "publisher_late_ms": {:.3f})",
                            figures.thread_cpu / figures.wall, messages,
                            figures.process_cpu / static_cast<double>(messages) * 1e6, late));
}

}

std::string detector(const DetectorOptions& options) {
  if (options.tune_allocator) tune_allocator();
  const Shape shape{.partitions = options.partitions,
                    .channels = options.channels,
                    .rate = 16,
                    .type = DataType::float32};
  const bool in_memory = options.source == DetectorSource::memory;
  const ChannelSet channels = make_channels(shape, in_memory ? "P" : unique_prefix("detector"));
  return in_memory ? from_memory(options, channels) : from_broker(options, channels);
}

}
