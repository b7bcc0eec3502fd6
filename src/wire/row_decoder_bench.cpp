// Measures how fast messages become parts: where they look like the last one, and parsed in full.
#include "wire/row_decoder.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/synthetic_blocks.hpp"

namespace arrakis::inline v1 {
namespace {

using Messages = std::vector<ReceivedBytes>;

// Taken in turn, so that a message does not stay in the innermost cache as only a benchmark's
// would.
constexpr std::int64_t kMessages = 16;
// More than a decoder remembers; taken in turn each comes when it has been forgotten.
constexpr std::size_t kShapes = 9;

void decode_in_turn(benchmark::State& state, const ChannelSet& channels, const Messages& messages) {
  RowDecoder decoder(channels);
  std::size_t next = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const DecodeResult result = decoder.decode(messages[next]);
    if (result.status != DecodeResult::Status::decoded) {
      state.SkipWithError(result.reason.c_str());
      return;
    }
    benchmark::DoNotOptimize(result.part.get());
    if (++next == messages.size()) next = 0;
  }
  state.SetItemsProcessed(state.iterations());
}

ChannelSet channels_of(const benchmark::State& state) {
  return synthetic_channels(static_cast<std::size_t>(state.range(0)),
                            static_cast<std::size_t>(state.range(1)));
}

void like_the_last_message(benchmark::State& state) {
  const ChannelSet channels = channels_of(state);
  Messages messages;
  for (std::int64_t i = 0; i < kMessages; ++i) messages.push_back(synthetic_message(channels, i));
  decode_in_turn(state, channels, messages);
}

void full_parse(benchmark::State& state) {
  const ChannelSet channels = channels_of(state);
  Messages messages;
  std::vector<Channel> order = channels.channels();
  for (std::size_t i = 0; i < kShapes; ++i) {
    messages.push_back(synthetic_message(ChannelSet(order), static_cast<std::int64_t>(i)));
    std::rotate(order.begin(), order.begin() + 1, order.end());
  }
  decode_in_turn(state, channels, messages);
}

void each_shape(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"channels", "samples"})->Args({1000, 1})->Args({100, 16})->Args({10, 1024});
}
BENCHMARK(like_the_last_message)->Apply(each_shape);
BENCHMARK(full_parse)->Apply(each_shape);

}  // namespace
}  // namespace arrakis::inline v1
