// Measures what a slot costs in the multiplexer: pushed, found ready and pulled, without payload.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/mux.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr Duration kStride{62'500'000};  // 16 blocks a second
constexpr GpsTime kStart = GpsTime::from_seconds(std::int64_t{1'400'000'000});

MuxSchedule make_schedule(std::size_t streams) {
  std::vector<MuxStream> made;
  for (std::size_t i = 0; i < streams; ++i) {
    MuxStream& stream = made.emplace_back();
    stream.name = std::to_string(i);
    stream.stride = kStride;
    stream.max_latency = std::chrono::seconds(1);
  }
  MuxOptions options;
  options.start = kStart;
  MuxSchedule schedule(std::move(made), options, kStart);
  // Armed as a reader's streams are that have caught up with the present.
  for (std::size_t i = 0; i < streams; ++i) schedule.arm(i);
  return schedule;
}

void push_ready_pull(benchmark::State& state) {
  const auto streams = static_cast<std::size_t>(state.range(0));
  MuxSchedule schedule = make_schedule(streams);
  std::vector<MuxSchedule::Served> slots;
  GpsTime time = kStart;
  for ([[maybe_unused]] auto iteration : state) {
    const GpsTime now = time + kStride;
    for (std::size_t i = 0; i < streams; ++i) {
      // Asked after every push, as a reader asks after every message.
      schedule.push(i, time, kStride, now);
      const bool is_ready = schedule.ready(now);
      if (is_ready != (i + 1 == streams)) {
        state.SkipWithError("ready before the last stream's slot, or not after it");
        return;
      }
    }
    if (schedule.pull({}, slots) != PullStatus::output || slots.front().is_gap) {
      state.SkipWithError("no output");
      return;
    }
    benchmark::DoNotOptimize(slots.data());
    time = now;
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(push_ready_pull)->ArgName("streams")->Arg(1)->Arg(100)->Arg(1000);

}  // namespace
}  // namespace arrakis::inline v1
