// Measures how fast a block of one received message hands out its channels, and its copy.
#include "arrakis/block.hpp"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "wire/block_data.hpp"
#include "wire/row_decoder.hpp"
#include "wire/synthetic_blocks.hpp"

namespace arrakis::inline v1 {
namespace {

// Taken in turn, so that a block does not stay in the innermost cache as only a benchmark's would.
constexpr std::int64_t kBlocks = 16;

/// As a reader makes them.
std::vector<SeriesBlock> received_blocks(const benchmark::State& state) {
  const ChannelSet channels = synthetic_channels(static_cast<std::size_t>(state.range(0)),
                                                 static_cast<std::size_t>(state.range(1)));
  const auto layout = std::make_shared<const BlockLayout>(std::vector<ChannelSet>{channels});
  RowDecoder decoder(channels);
  std::vector<SeriesBlock> blocks;
  for (std::int64_t i = 0; i < kBlocks; ++i) {
    BlockPartPtr part = decoder.decode(synthetic_message(channels, i)).part;
    const GpsTime time = part->time();
    std::vector<std::vector<PartSlot>> slots(1);
    slots[0].push_back({time, kSyntheticStride, std::move(part)});
    blocks.push_back(make_block(layout, time, kSyntheticStride, std::move(slots)));
  }
  return blocks;
}

void visit_every_channel(benchmark::State& state) {
  const std::vector<SeriesBlock> blocks = received_blocks(state);
  std::size_t next = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const SeriesBlock& block = blocks[next];
    for (std::size_t i = 0; i < block.size(); ++i) {
      const Series series = block.at(i);
      benchmark::DoNotOptimize(series.values<float>().data());
    }
    if (++next == blocks.size()) next = 0;
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void one_channel_by_name(benchmark::State& state) {
  const std::vector<SeriesBlock> blocks = received_blocks(state);
  const std::string name = blocks.front().channels()[blocks.front().size() / 2].name();
  std::size_t next = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const Series series = blocks[next][name];
    benchmark::DoNotOptimize(series.values<float>().data());
    if (++next == blocks.size()) next = 0;
  }
  state.SetItemsProcessed(state.iterations());
}

void detach(benchmark::State& state) {
  const std::vector<SeriesBlock> blocks = received_blocks(state);
  std::size_t next = 0;
  for ([[maybe_unused]] auto iteration : state) {
    SeriesBlock own = blocks[next].detach();
    benchmark::DoNotOptimize(own);
    if (++next == blocks.size()) next = 0;
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void each_shape(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"channels", "samples"})->Args({1000, 1})->Args({100, 16})->Args({10, 1024});
}
BENCHMARK(visit_every_channel)->Apply(each_shape);
BENCHMARK(one_channel_by_name)->Apply(each_shape);
BENCHMARK(detach)->Apply(each_shape);

}  // namespace
}  // namespace arrakis::inline v1
