#include <algorithm>

#include "flight/flight_reader_impl.hpp"

namespace arrakis::inline v1 {

void FlightReader::Impl::set_watch(Lane& lane, Watch::Kind kind, Duration limit) {
  const std::unique_lock lock(mutex_);
  lane.watch = {kind, Steady::now(), limit};
  watch_changed_.notify_all();
}

void FlightReader::Impl::expire(Lane& lane) {
  lane.expired = lane.watch.kind;
  lane.watch.kind = Watch::Kind::nothing;
  if (lane.call != nullptr) lane.call->TryCancel();
}

/// Batches that arrive put a deadline off without a word to this thread: it looks again when the
/// old one has come.
void FlightReader::Impl::watch() {
  // The longest wait, which keeps the time in what a clock can hold.
  constexpr Duration kLongest = std::chrono::hours(1);
  std::unique_lock lock(mutex_);
  while (!closing_) {
    const Steady::time_point now = Steady::now();
    Steady::time_point next = now + kLongest;
    for (Lane& lane : lanes_) {
      if (lane.watch.kind == Watch::Kind::nothing) continue;
      const Duration left = lane.watch.limit - (now - lane.watch.since);
      if (left <= Duration(0)) {
        expire(lane);
      } else {
        next = std::min(next, now + std::min(left, kLongest));
      }
    }
    watch_changed_.wait_until(lock, next);
  }
  --threads_running_;
  thread_ended_.notify_all();
}

}  // namespace arrakis::inline v1
