// Measures how fast blocks become messages.
#include "wire/row_encoder.hpp"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/synthetic_blocks.hpp"

namespace arrakis::inline v1 {
namespace {

// Taken in turn, so that a block does not stay in the innermost cache as only a benchmark's would.
constexpr std::int64_t kBlocks = 16;

void encode(benchmark::State& state) {
  const ChannelSet channels = synthetic_channels(static_cast<std::size_t>(state.range(0)),
                                                 static_cast<std::size_t>(state.range(1)));
  std::vector<SeriesBlock> blocks;
  for (std::int64_t i = 0; i < kBlocks; ++i) blocks.push_back(synthetic_block(channels, i));
  RowEncoder encoder;
  const std::size_t bytes = encoder.encode(blocks.front()).front().bytes.size();
  std::size_t next = 0;
  for ([[maybe_unused]] auto iteration : state) {
    std::vector<EncodedMessage> messages = encoder.encode(blocks[next]);
    benchmark::DoNotOptimize(messages.data());
    if (++next == blocks.size()) next = 0;
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}
BENCHMARK(encode)
    ->ArgNames({"channels", "samples"})
    ->Args({1000, 1})
    ->Args({100, 16})
    ->Args({10, 1024});

}  // namespace
}  // namespace arrakis::inline v1
