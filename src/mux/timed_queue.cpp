#include "mux/timed_queue.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arrakis/error.hpp"

namespace arrakis::inline v1 {

GpsTime slot_of(GpsTime time, Duration grid) {
  return std::clamp(time, GpsTime::min() + grid, GpsTime::max() - grid).floor_to(grid);
}

namespace {

// trunc(2 * span / stride) without overflow.
std::uint64_t twice_slots_in(Duration span, Duration stride) {
  if (span <= Duration::zero()) return 0;
  const Duration rest = span % stride;
  const std::uint64_t whole = static_cast<std::uint64_t>(span / stride) * 2;
  return rest >= stride - rest ? whole + 1 : whole;
}

}  // namespace

TimedQueue::TimedQueue(Duration stride, Duration timeout, std::optional<GpsTime> start, GpsTime now)
    : stride_(stride),
      timeout_(timeout),
      start_(start),
      cursor_(slot_of(start.value_or(now), stride)),
      horizon_(cursor_),
      initialized_(start.has_value()),
      is_armed_(!start.has_value()) {
  ensure_capacity(timeout);
}

bool TimedQueue::is_on_grid(GpsTime time) const {
  if (time < GpsTime::min() + stride_ || time > GpsTime::max() - stride_) return false;
  return time == start_ || time.is_multiple_of(stride_);
}

PushResult TimedQueue::push(GpsTime time, DropPolicy on_late) {
  if (!is_on_grid(time)) return PushResult::misaligned;
  const GpsTime slot = slot_of(time, stride_);
  if (!initialized_) {
    initialized_ = true;
    if (!is_committed_) cursor_ = horizon_ = slot;
  }
  if (time < horizon_) {
    if (on_late == DropPolicy::ignore && is_live() && !has_served_) {
      return PushResult::startup_trimmed;
    }
    if (on_late != DropPolicy::raise) ++drops_.late;
    return PushResult::late;
  }
  PushResult result = PushResult::accepted;
  if (times_.size() >= capacity_) {
    times_.pop_front();
    ++drops_.overflow;
    result = PushResult::overflowed;
  }
  times_.push_back(time);
  horizon_ = slot + stride_;
  return result;
}

PushResult TimedQueue::declare_gap(GpsTime time) {
  if (!is_on_grid(time)) return PushResult::misaligned;
  if (time < horizon_) return PushResult::late;
  horizon_ = slot_of(time, stride_) + stride_;
  return PushResult::accepted;
}

void TimedQueue::update_timeout(GpsTime now) {
  if (!is_armed_) return;
  horizon_ = std::max(horizon_, slot_of(now - timeout_, stride_) + stride_);
}

std::optional<std::uint64_t> TimedQueue::ready(Duration span) const {
  if (span % stride_ != Duration::zero()) {
    throw Error(Errc::precondition,
                fmt::format("a span of {} ns is no integer multiple of the stride ({} ns)",
                            span.count(), stride_.count()));
  }
  if (span < Duration::zero() || known() < span) return std::nullopt;
  return static_cast<std::uint64_t>(span / stride_);
}

std::uint64_t TimedQueue::pull_count(std::optional<Duration> span) const {
  if (span.value_or(Duration::zero()) == Duration::zero()) {
    return static_cast<std::uint64_t>(known() / stride_);
  }
  return ready(*span).value_or(0);
}

TimedQueue::Served TimedQueue::serve() {
  const GpsTime slot = cursor_;
  cursor_ += stride_;
  is_committed_ = true;
  has_served_ = true;
  if (times_.empty() || times_.front() < slot || times_.front() >= cursor_) return {slot, true};
  const GpsTime time = times_.front();
  times_.pop_front();
  return {time, false};
}

std::optional<GpsTime> TimedQueue::front_time() const {
  if (horizon_ > cursor_ || !times_.empty()) return cursor_;
  return std::nullopt;
}

std::optional<GpsTime> TimedQueue::next_element_time() const {
  if (times_.empty()) return std::nullopt;
  return times_.front();
}

std::size_t TimedQueue::drain_until(GpsTime time) {
  const GpsTime target = slot_of(time, stride_);
  if (target <= cursor_) return 0;
  cursor_ = target;
  is_committed_ = true;
  horizon_ = std::max(horizon_, cursor_);
  const auto kept = std::lower_bound(times_.begin(), times_.end(), cursor_);
  const auto passed = static_cast<std::size_t>(kept - times_.begin());
  times_.erase(times_.begin(), kept);
  return passed;
}

void TimedQueue::ensure_capacity(Duration span) {
  capacity_ = std::max({capacity_, kMinCapacity, twice_slots_in(span, stride_)});
}

}  // namespace arrakis::inline v1
