#pragma once

/// One stream's slots, without payloads.
///
/// The stream's span is cut into slots of its stride; [cursor, horizon) are the slots that are
/// known and not yet served. A known slot holds an element or is a gap; only elements are stored
/// (their times, in order, at most one a slot), so a hole of any length costs nothing. A caller
/// keeps the payloads in a queue of its own beside this one and does to it what the results say.
///
/// A queue with a start is bounded: its grid begins at the slot of `start`. One without is live: it
/// begins at the slot of `now` and moves to its first element, unless slots were served or passed
/// over before.
///
/// Times near the ends of the 64-bit range can't be slots and are answered as misaligned; nothing
/// here overflows on any input. Not safe from several threads at once.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "arrakis/mux.hpp"
#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

/// The last multiple of `grid` at or before `time`, moved into the range where the slot that begins
/// there has an end, too.
[[nodiscard]] GpsTime slot_of(GpsTime time, Duration grid);

class TimedQueue {
 public:
  /// The least number of elements that a queue may hold.
  static constexpr std::uint64_t kMinCapacity = 1000;

  /// `stride` > 0. `timeout` (>= 0) is how long after its start a slot is waited for.
  TimedQueue(Duration stride, Duration timeout, std::optional<GpsTime> start, GpsTime now);

  [[nodiscard]] Duration stride() const { return stride_; }
  [[nodiscard]] Duration timeout() const { return timeout_; }
  [[nodiscard]] bool is_live() const { return !start_.has_value(); }
  [[nodiscard]] GpsTime cursor() const { return cursor_; }
  [[nodiscard]] GpsTime horizon() const { return horizon_; }
  /// Length of what is known and not yet served.
  [[nodiscard]] Duration known() const { return horizon_ - cursor_; }
  [[nodiscard]] std::size_t stored() const { return times_.size(); }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  /// Has a start, or had a first element.
  [[nodiscard]] bool initialized() const { return initialized_; }
  /// Late and overflowed elements so far.
  [[nodiscard]] const DropCounts& drops() const { return drops_; }

  /// An element arrived. accepted: store its payload at the back. overflowed: drop the oldest
  /// payload, then store this one. Else it isn't stored: startup_trimmed, misaligned, or late.
  /// late is counted, except with DropPolicy::raise, where the caller reports it instead.
  /// startup_trimmed (not counted) is answered with DropPolicy::ignore only.
  PushResult push(GpsTime time, DropPolicy on_late = DropPolicy::ignore);
  /// Makes every slot up to and including the one of `time` known: what was to come has come.
  /// accepted, misaligned, or late when it was known already. Never initializes a live queue.
  PushResult declare_gap(GpsTime time);

  /// Lets the deadlines of a bounded queue pass, as those of a live one do from the beginning.
  void arm() { is_armed_ = true; }
  [[nodiscard]] bool is_armed() const { return is_armed_; }
  /// Makes the slots whose deadline has passed at `now` known. Nothing happens unless armed.
  void update_timeout(GpsTime now);

  /// How many slots `span` has when all of them are known, else nothing. Error(precondition) when
  /// `span` is no multiple of the stride.
  [[nodiscard]] std::optional<std::uint64_t> ready(Duration span) const;
  /// How many slots a pull of `span` serves: all of it or none; without a span (or with zero)
  /// everything that is known. Error(precondition) as ready().
  [[nodiscard]] std::uint64_t pull_count(std::optional<Duration> span) const;

  using Served = MuxSchedule::Served;
  /// Serves the slot at the cursor, which must be known.
  Served serve();

  /// The cursor when anything is known, else nothing.
  [[nodiscard]] std::optional<GpsTime> front_time() const;
  /// The time of the oldest stored element.
  [[nodiscard]] std::optional<GpsTime> next_element_time() const;
  /// Goes on to the slot of `time`, never back. Returns how many stored elements were passed over:
  /// drop as many payloads from the front.
  std::size_t drain_until(GpsTime time);
  /// Lets the queue hold at least 2 * span.
  void ensure_capacity(Duration span);

 private:
  [[nodiscard]] bool is_on_grid(GpsTime time) const;

  Duration stride_;
  Duration timeout_;
  std::optional<GpsTime> start_;
  GpsTime cursor_;
  GpsTime horizon_;
  std::size_t capacity_ = kMinCapacity;
  bool initialized_;
  bool is_armed_;
  bool is_committed_ = false;  // a slot was served or passed over: no realignment any more
  bool has_served_ = false;
  DropCounts drops_;
  std::deque<GpsTime> times_;
};

}  // namespace arrakis::inline v1
