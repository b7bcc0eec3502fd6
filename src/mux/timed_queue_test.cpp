#include "mux/timed_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>

#include "arrakis/error.hpp"

namespace arrakis::inline v1 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kStride = milliseconds(250);
constexpr Duration kTimeout = seconds(2);
constexpr GpsTime kBase = GpsTime::from_seconds(std::int64_t{1400000000});

GpsTime slot(std::int64_t n) { return kBase + n * kStride; }
TimedQueue bounded(GpsTime start = kBase) { return {kStride, kTimeout, start, kBase}; }
TimedQueue live() { return {kStride, kTimeout, std::nullopt, kBase}; }

void expect_served(TimedQueue& queue, GpsTime time, bool is_gap) {
  const TimedQueue::Served served = queue.serve();
  EXPECT_EQ(served.time.ns(), time.ns());
  EXPECT_EQ(served.is_gap, is_gap);
}

TEST(TimedQueue, ServesElementsInOrder) {
  TimedQueue queue = bounded();
  EXPECT_EQ(queue.push(slot(0)), PushResult::accepted);
  EXPECT_EQ(queue.push(slot(1)), PushResult::accepted);
  ASSERT_EQ(queue.pull_count({}), 2U);
  expect_served(queue, slot(0), false);
  expect_served(queue, slot(1), false);
  EXPECT_EQ(queue.stored(), 0U);
  EXPECT_EQ(queue.pull_count({}), 0U);
}

TEST(TimedQueue, HoleBeforeAnElementIsServedAsGaps) {
  TimedQueue queue = bounded();
  EXPECT_EQ(queue.push(slot(2)), PushResult::accepted);
  ASSERT_EQ(queue.pull_count({}), 3U);
  expect_served(queue, slot(0), true);
  expect_served(queue, slot(1), true);
  expect_served(queue, slot(2), false);
}

TEST(TimedQueue, ElementOlderThanHorizonIsDroppedAndCounted) {
  TimedQueue queue = bounded();
  EXPECT_EQ(queue.push(slot(1)), PushResult::accepted);
  EXPECT_EQ(queue.push(slot(1)), PushResult::late);
  EXPECT_EQ(queue.push(slot(0)), PushResult::late);
  EXPECT_EQ(queue.push(slot(0), DropPolicy::warn), PushResult::late);
  EXPECT_EQ(queue.drops().late, 3U);
  EXPECT_EQ(queue.stored(), 1U);
}

TEST(TimedQueue, LateElementIsLeftToTheCallerToCountWhenItRaises) {
  TimedQueue queue = bounded();
  EXPECT_EQ(queue.push(slot(1)), PushResult::accepted);
  EXPECT_EQ(queue.push(slot(0), DropPolicy::raise), PushResult::late);
  EXPECT_EQ(queue.drops().late, 0U);
}

TEST(TimedQueue, ElementOffTheGridIsMisaligned) {
  TimedQueue queue = bounded();
  EXPECT_EQ(queue.push(slot(0) + Duration(1)), PushResult::misaligned);
  EXPECT_EQ(queue.declare_gap(slot(0) + Duration(1)), PushResult::misaligned);
  EXPECT_EQ(queue.known(), Duration::zero());
  EXPECT_EQ(queue.drops(), DropCounts{});
}

TEST(TimedQueue, ReadyCountsSlotsOnlyWhenAllAreKnown) {
  TimedQueue queue = bounded();
  EXPECT_EQ(queue.ready(2 * kStride), std::nullopt);
  queue.push(slot(0));
  EXPECT_EQ(queue.ready(2 * kStride), std::nullopt);
  queue.push(slot(1));
  EXPECT_EQ(queue.ready(2 * kStride), 2U);
  EXPECT_EQ(queue.ready(-kStride), std::nullopt);
}

TEST(TimedQueue, SpanOffTheGridIsRefused) {
  TimedQueue queue = bounded();
  EXPECT_THROW((void)queue.ready(kStride + Duration(1)), Error);
  EXPECT_THROW((void)queue.pull_count(kStride / 2), Error);
}

TEST(TimedQueue, PullOfMoreThanIsKnownYieldsNothing) {
  TimedQueue queue = bounded();
  for (int i = 0; i < 4; ++i) queue.push(slot(i));
  EXPECT_EQ(queue.pull_count(5 * kStride), 0U);
  EXPECT_EQ(queue.pull_count(2 * kStride), 2U);
  EXPECT_EQ(queue.pull_count(Duration::zero()), 4U);
  EXPECT_EQ(queue.stored(), 4U);
}

TEST(TimedQueue, OverflowDropsTheOldestElementAndItsSlotIsAGap) {
  TimedQueue queue(kStride, Duration::zero(), kBase, kBase);
  ASSERT_EQ(queue.capacity(), TimedQueue::kMinCapacity);
  const auto capacity = static_cast<std::int64_t>(queue.capacity());
  for (std::int64_t i = 0; i < capacity; ++i) EXPECT_EQ(queue.push(slot(i)), PushResult::accepted);
  EXPECT_EQ(queue.push(slot(capacity)), PushResult::overflowed);
  EXPECT_EQ(queue.stored(), queue.capacity());
  EXPECT_EQ(queue.drops().overflow, 1U);
  expect_served(queue, slot(0), true);
  expect_served(queue, slot(1), false);
}

TEST(TimedQueue, CapacityIsTwiceTheTimeoutAndOnlyGrows) {
  TimedQueue queue(kStride, 2000 * kStride, kBase, kBase);
  EXPECT_EQ(queue.capacity(), 4000U);
  queue.ensure_capacity(10 * kStride);
  EXPECT_EQ(queue.capacity(), 4000U);
  queue.ensure_capacity(5000 * kStride + kStride / 2);
  EXPECT_EQ(queue.capacity(), 10001U);
}

TEST(TimedQueue, JumpBeyondTheCapacityStoresNoGaps) {
  TimedQueue queue = bounded();
  const auto far = static_cast<std::int64_t>(queue.capacity()) + 10;
  queue.push(slot(0));
  EXPECT_EQ(queue.push(slot(far)), PushResult::accepted);
  EXPECT_EQ(queue.push(slot(far + 1)), PushResult::accepted);
  EXPECT_EQ(queue.stored(), 3U);
  expect_served(queue, slot(0), false);
  for (std::int64_t i = 1; i < far; ++i) ASSERT_TRUE(queue.serve().is_gap);
  expect_served(queue, slot(far), false);
  expect_served(queue, slot(far + 1), false);
}

TEST(TimedQueue, LiveQueueBeginsAtItsFirstElement) {
  for (const std::int64_t first : {-7, 0, 9}) {
    TimedQueue queue = live();
    EXPECT_FALSE(queue.initialized());
    EXPECT_EQ(queue.push(slot(first)), PushResult::accepted);
    EXPECT_TRUE(queue.initialized());
    EXPECT_EQ(queue.cursor(), slot(first));
    EXPECT_EQ(queue.known(), kStride);
  }
}

TEST(TimedQueue, DeclaredGapNeverInitializesALiveQueue) {
  TimedQueue queue = live();
  EXPECT_EQ(queue.declare_gap(slot(3)), PushResult::accepted);
  EXPECT_EQ(queue.declare_gap(slot(3)), PushResult::late);
  EXPECT_FALSE(queue.initialized());
  EXPECT_EQ(queue.push(slot(1)), PushResult::accepted);
  EXPECT_EQ(queue.cursor(), slot(1)) << "what was declared before the first element is forgotten";
}

TEST(TimedQueue, LiveQueueThatServedDoesNotMoveToItsFirstElement) {
  TimedQueue queue = live();
  queue.declare_gap(slot(1));
  expect_served(queue, slot(0), true);
  EXPECT_EQ(queue.push(slot(0)), PushResult::late);
  EXPECT_EQ(queue.push(slot(4)), PushResult::accepted);
  EXPECT_EQ(queue.cursor(), slot(1));
}

TEST(TimedQueue, LiveQueueThatServedNothingTrimsOldDataUncounted) {
  TimedQueue queue = live();
  queue.push(slot(2));
  EXPECT_EQ(queue.push(slot(1)), PushResult::startup_trimmed);
  EXPECT_EQ(queue.drops().late, 0U);
  queue.serve();
  EXPECT_EQ(queue.push(slot(1)), PushResult::late);
  EXPECT_EQ(queue.drops().late, 1U);
}

TEST(TimedQueue, SlotBecomesAGapATimeoutAfterItsStart) {
  TimedQueue queue = live();
  queue.push(slot(0));
  queue.update_timeout(slot(1) + kTimeout - Duration(1));
  EXPECT_EQ(queue.horizon(), slot(1));
  queue.update_timeout(slot(1) + kTimeout);
  EXPECT_EQ(queue.horizon(), slot(2));
  EXPECT_EQ(queue.stored(), 1U);
}

TEST(TimedQueue, DataOnTimeIsNotOvertakenByTheTimeout) {
  TimedQueue queue = live();
  queue.push(slot(0));
  queue.update_timeout(slot(1) + kTimeout - Duration(1));
  EXPECT_EQ(queue.push(slot(1)), PushResult::accepted);
  queue.update_timeout(slot(1) + kTimeout);
  expect_served(queue, slot(0), false);
  expect_served(queue, slot(1), false);
}

TEST(TimedQueue, DataAfterTimeoutGapsIsServedAndDataBeforeIsLate) {
  TimedQueue queue = live();
  queue.push(slot(0));
  queue.update_timeout(slot(2) + kTimeout);
  EXPECT_EQ(queue.push(slot(3)), PushResult::accepted);
  ASSERT_EQ(queue.pull_count({}), 4U);
  expect_served(queue, slot(0), false);
  expect_served(queue, slot(1), true);
  expect_served(queue, slot(2), true);
  expect_served(queue, slot(3), false);
  EXPECT_EQ(queue.push(slot(2)), PushResult::late);
}

TEST(TimedQueue, BoundedQueueTimesOutOnlyOnceArmed) {
  TimedQueue queue = bounded();
  queue.update_timeout(kBase + seconds(4000));
  EXPECT_EQ(queue.known(), Duration::zero());
  queue.arm();
  queue.update_timeout(slot(0) + kTimeout - Duration(1));
  EXPECT_EQ(queue.known(), Duration::zero());
  queue.update_timeout(slot(3) + kTimeout);
  EXPECT_EQ(queue.horizon(), slot(4));
}

TEST(TimedQueue, FrontTimeIsTheCursorOfWhatIsKnown) {
  TimedQueue queue = bounded();
  EXPECT_EQ(queue.front_time(), std::nullopt);
  EXPECT_EQ(queue.next_element_time(), std::nullopt);
  queue.push(slot(2));
  EXPECT_EQ(queue.front_time(), slot(0));
  EXPECT_EQ(queue.next_element_time(), slot(2));
}

TEST(TimedQueue, DrainKeepsLaterElementsAndNeverGoesBack) {
  TimedQueue queue = bounded();
  for (int i = 0; i < 6; ++i) queue.push(slot(i));
  EXPECT_EQ(queue.drain_until(slot(2) + kStride / 2), 2U);
  EXPECT_EQ(queue.cursor(), slot(2));
  EXPECT_EQ(queue.stored(), 4U);
  EXPECT_EQ(queue.drain_until(slot(0)), 0U);
  EXPECT_EQ(queue.cursor(), slot(2));
  EXPECT_EQ(queue.drain_until(slot(9)), 4U);
  EXPECT_EQ(queue.horizon(), slot(9));
  EXPECT_EQ(queue.push(slot(8)), PushResult::late);
  EXPECT_EQ(queue.push(slot(9)), PushResult::accepted);
}

TEST(TimedQueue, DrainCommitsALiveQueue) {
  TimedQueue queue = live();
  queue.drain_until(slot(4));
  EXPECT_EQ(queue.push(slot(6)), PushResult::accepted);
  EXPECT_EQ(queue.cursor(), slot(4));
}

TEST(TimedQueue, ElementAtAnUnalignedStartKeepsItsTimeInTheFirstSlot) {
  const GpsTime start = kBase + kStride / 4;
  TimedQueue queue = bounded(start);
  EXPECT_EQ(queue.cursor(), slot(0));
  EXPECT_EQ(queue.push(start), PushResult::accepted);
  EXPECT_EQ(queue.push(slot(0)), PushResult::late);
  EXPECT_EQ(queue.push(start + kStride), PushResult::misaligned);
  EXPECT_EQ(queue.push(slot(1)), PushResult::accepted);
  EXPECT_EQ(queue.push(slot(3)), PushResult::accepted);
  ASSERT_EQ(queue.pull_count({}), 4U);
  expect_served(queue, start, false);
  expect_served(queue, slot(1), false);
  expect_served(queue, slot(2), true);
  expect_served(queue, slot(3), false);
}

TEST(TimedQueue, HoleOfAMillionMillionSlotsCostsNothing) {
  constexpr std::int64_t kHole = 1'000'000'000'000;
  TimedQueue queue(milliseconds(1), kTimeout, kBase, kBase);
  queue.push(kBase);
  const GpsTime far = kBase + kHole * milliseconds(1);
  EXPECT_EQ(queue.push(far), PushResult::accepted);
  EXPECT_EQ(queue.stored(), 2U);
  EXPECT_EQ(queue.pull_count({}), static_cast<std::uint64_t>(kHole) + 1);
  EXPECT_EQ(queue.drain_until(far), 1U);
  expect_served(queue, far, false);
}

TEST(TimedQueue, HostileTimesNeitherOverflowNorLeaveTheGrid) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::array<std::int64_t, 9> kTimes{kMin, kMin + 1, kMin / 2, -1,  0,
                                               1,    kMax / 2, kMax - 1, kMax};
  constexpr std::array<std::int64_t, 6> kStrides{1, 2, 333'333'333, 1'000'000'000, kMax / 2, kMax};
  std::mt19937_64 random(1);
  const auto any_time = [&] { return GpsTime::from_ns(kTimes[random() % kTimes.size()]); };
  for (int round = 0; round < 2000; ++round) {
    const Duration stride(kStrides[random() % kStrides.size()]);
    const Duration timeout(kStrides[random() % kStrides.size()]);
    const std::optional<GpsTime> start =
        random() % 2 == 0 ? std::optional(any_time()) : std::nullopt;
    TimedQueue queue(stride, timeout, start, any_time());
    for (int step = 0; step < 20; ++step) {
      const GpsTime time = random() % 2 == 0 ? any_time() : any_time().floor_to(stride);
      switch (random() % 6) {
        case 0:
          queue.push(time);
          break;
        case 1:
          queue.declare_gap(time);
          break;
        case 2:
          queue.update_timeout(time);
          break;
        case 3:
          queue.drain_until(time);
          break;
        case 4:
          queue.ensure_capacity(Duration(time.ns()));
          break;
        default:
          if (queue.ready(stride)) queue.serve();
      }
      ASSERT_GE(queue.horizon(), queue.cursor());
      ASSERT_TRUE(queue.cursor().is_multiple_of(stride)) << queue.cursor().ns();
      ASSERT_TRUE(queue.horizon().is_multiple_of(stride)) << queue.horizon().ns();
    }
  }
}

}  // namespace
}  // namespace arrakis::inline v1
