#include "bench/drain.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "arrakis/arrakis.hpp"
#include "bench/allocator.hpp"
#include "bench/stopwatch.hpp"
#include "wire/block_data.hpp"
#include "wire/part.hpp"

namespace arrakis::bench {

namespace {

/// Nobody's deadline: a drain waits for its data.
constexpr Duration kNoDeadline = std::chrono::hours(1);

struct Fill {
  ChannelSet channels;
  GpsTime start;
  GpsTime end;
  std::uint64_t blocks = 0;
  std::size_t partitions = 0;
};

Fill read_fill(const DrainOptions& options) {
  std::ifstream file(options.metadata_file);
  if (!file) throw Error(Errc::io, fmt::format("can't read '{}'", options.metadata_file));
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (json.is_discarded()) {
    throw Error(Errc::invalid_argument, fmt::format("'{}' is no JSON", options.metadata_file));
  }
  Fill fill;
  std::vector<Channel> channels;
  std::set<std::string> partitions;
  const nlohmann::json& all = json.at("channels");
  const auto step = static_cast<std::size_t>(std::max(1.0, std::round(1.0 / options.fraction)));
  for (std::size_t i = 0; i < all.size(); i += step) {
    channels.push_back(channel_from_json(all[i].dump()));
    partitions.insert(channels.back().partition_id.value_or(""));
  }
  fill.channels = ChannelSet(std::move(channels));
  fill.start = GpsTime::from_ns(json.at("start").get<std::int64_t>());
  fill.end = GpsTime::from_ns(json.at("end").get<std::int64_t>());
  fill.blocks = json.at("blocks").get<std::uint64_t>();
  fill.partitions = partitions.size();
  return fill;
}

struct Counts {
  std::uint64_t items = 0;
  std::uint64_t samples = 0;
  double first_ms = 0;
};

std::uint64_t samples_in(const SeriesBlock& block) {
  std::uint64_t samples = 0;
  for (std::size_t i = 0; i < block.size(); ++i) samples += block.at(i).size();
  return samples;
}

/// Reads by poll(), message by message.
Counts drain_reader(KafkaReader& reader, const Fill& fill, bool as_blocks, const Stopwatch& watch) {
  struct Counter final : Source::Sink {
    Counts counts;
    bool as_blocks = false;
    std::vector<std::shared_ptr<const BlockLayout>> layouts;
    const Stopwatch* watch = nullptr;
    bool on_part(std::size_t stream, BlockPartPtr part) override {
      if (counts.items++ == 0) counts.first_ms = watch->wall() * 1e3;
      if (!as_blocks) return true;
      const GpsTime time = part->time();
      const Duration duration = part->duration();
      std::vector<std::vector<PartSlot>> slots(1);
      slots[0].push_back({time, duration, std::move(part)});
      counts.samples += samples_in(make_block(layouts[stream], time, duration, std::move(slots)));
      return true;
    }
    void on_event(const Event& /*event*/) override {}
  } counter;
  counter.as_blocks = as_blocks;
  counter.watch = &watch;
  for (const StreamInfo& stream : reader.streams()) {
    counter.layouts.push_back(
        std::make_shared<BlockLayout>(std::vector<ChannelSet>{stream.channels}));
  }
  OpenOptions options;
  options.start = fill.start;
  reader.open(options);
  const std::uint64_t total = fill.blocks * fill.partitions;
  while (counter.counts.items < total) {
    const std::uint64_t before = counter.counts.items;
    reader.poll(counter);
    if (counter.counts.items == before) reader.wait(std::chrono::milliseconds(100));
  }
  reader.close();
  return counter.counts;
}

Counts drain_stream(std::unique_ptr<KafkaReader> reader, const Fill& fill, bool visit,
                    const Stopwatch& watch) {
  StreamOptions options;
  options.start = fill.start;
  options.end = fill.end;
  options.timeout = kNoDeadline;
  BlockStream stream(std::move(reader), options);
  Counts counts;
  for (const SeriesBlock& block : stream) {
    if (counts.items++ == 0) counts.first_ms = watch.wall() * 1e3;
    if (visit) counts.samples += samples_in(block);
  }
  return counts;
}

std::string_view name_of(DrainMode mode) {
  switch (mode) {
    case DrainMode::raw:
      return "raw";
    case DrainMode::blocks:
      return "blocks";
    case DrainMode::mux:
      return "mux";
    case DrainMode::visit:
      break;
  }
  return "visit";
}

}

std::string drain(const DrainOptions& options) {
  if (options.tune_allocator) tune_allocator();
  const Fill fill = read_fill(options);
  auto reader = std::make_unique<KafkaReader>(options.bootstrap, fill.channels);
  const Stopwatch watch;
  const bool by_message = options.mode == DrainMode::raw || options.mode == DrainMode::blocks;
  const Counts counts =
      by_message ? drain_reader(*reader, fill, options.mode == DrainMode::blocks, watch)
                 : drain_stream(std::move(reader), fill, options.mode == DrainMode::visit, watch);
  const double wall = watch.wall();
  const double cpu = watch.cpu();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return fmt::format(
      R"({{"mode": "{}", "n": {}, "wall": {:.3f}, "cpu": {:.3f}, "samples": {}, "rss_mb": {}, "first_ms": {:.1f}}})",
      name_of(options.mode), counts.items, wall, cpu, counts.samples, usage.ru_maxrss / 1024,
      counts.first_ms);
}

}
