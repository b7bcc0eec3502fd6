#include "bench/latency_figures.hpp"

#include <algorithm>

namespace arrakis::bench {
namespace {

double milliseconds(std::chrono::nanoseconds span) {
  return std::chrono::duration<double, std::milli>(span).count();
}

}

void LatencyFigures::add(std::span<const Published> published, std::span<const Arrived> arrived) {
  auto next = arrived.begin();
  Instant blocked_until = Instant::min();
  for (const Published& stride : published) {
    while (next != arrived.end() && next->time < stride.time) ++next;
    if (next == arrived.end() || next->time != stride.time) {
      ++lost;
      continue;
    }
    if (stride.sent != Sent::whole) {
      if (stride.sent == Sent::first_without) {
        after_deadline.add(milliseconds(next->past_deadline));
      } else {
        ++left_out;
      }
      blocked_until = std::max(blocked_until, next->at);
    } else if (next->has_gaps) {
      ++gaps;
    } else if (stride.at <= blocked_until) {
      ++left_out;
    } else {
      total.add(milliseconds(next->at - stride.at));
      after_last_part.add(milliseconds(next->at - next->last_part));
    }
  }
}

}
