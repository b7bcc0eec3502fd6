#include "bench/encode.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/allocator.hpp"
#include "bench/stopwatch.hpp"
#include "wire/row_encoder.hpp"

namespace arrakis::bench {
namespace {

/// Blocks taken in turn, so that samples and messages do not stay in the innermost cache as only a
/// benchmark's would.
constexpr std::size_t kBlocks = 16;
constexpr std::int64_t kFirstSecond = 1'400'000'000;

}

std::string encode(const EncodeOptions& options) {
  if (options.tune_allocator) tune_allocator();
  const ChannelSet channels = make_channels(options.shape, options.name);
  const GpsTime start = GpsTime::from_seconds(kFirstSecond);
  std::vector<SeriesBlock> blocks;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    blocks.push_back(make_samples(channels, start + static_cast<std::int64_t>(i) * kStride, i));
  }
  RowEncoder encoder;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  // The first round plans what the others use.
  for (const SeriesBlock& block : blocks) encoder.encode(block);
  const Stopwatch watch;
  while (count == 0 || watch.wall() < options.seconds) {
    for (const SeriesBlock& block : blocks) {
      for (const EncodedMessage& message : encoder.encode(block)) bytes += message.bytes.size();
    }
    count += blocks.size();
  }
  const double cpu = watch.cpu();
  const double rows = static_cast<double>(count) * static_cast<double>(channels.size());
  return fmt::format(
      R"({{"mode": "encode", "set": "{}", "blocks": {}, "rows_per_block": {}, )"
      R"("bytes_per_block": {}, "wall": {:.3f}, "cpu": {:.3f}, "mrows_per_s": {:.2f}, )"
      R"("gb_per_s": {:.2f}, "us_per_block": {:.2f}}})",
      options.name, count, channels.size(), bytes / count, watch.wall(), cpu, rows / cpu * 1e-6,
      static_cast<double>(bytes) / cpu * 1e-9, cpu / static_cast<double>(count) * 1e6);
}

}
