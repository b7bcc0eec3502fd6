#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/error.hpp"
#include "arrakis/mux.hpp"
#include "mux/captured_log.hpp"

namespace arrakis::inline v1 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr Duration kStride = milliseconds(250);
constexpr Duration kLatency = seconds(2);
constexpr Duration kTimeout = kLatency + kStride;
constexpr GpsTime kBase = GpsTime::from_seconds(std::int64_t{1400000000});

GpsTime slot(std::int64_t n) { return kBase + n * kStride; }

MuxStream stream(std::string name, Duration stride = kStride,
                 std::optional<Duration> max_latency = kLatency) {
  return {.name = std::move(name), .stride = stride, .max_latency = max_latency};
}
std::vector<MuxStream> two_streams() { return {stream("A"), stream("B")}; }
MuxOptions from(GpsTime start, GapPolicy on_gap = GapPolicy::fill) {
  MuxOptions options;
  options.start = start;
  options.on_gap = on_gap;
  return options;
}
MuxOptions with_stride(Duration stride) {
  MuxOptions options;
  options.stride = stride;
  return options;
}

using StringMux = Mux<std::string>;

// "A0 - B2": the payloads of the slots, "-" for a gap; streams apart by "|".
std::string text_of(const StringMux::Output& output) {
  std::string text;
  for (const auto& slots : output.streams) {
    if (&slots != &output.streams.front()) text += "|";
    std::string separator;
    for (const auto& slot : slots) {
      text += separator + (slot.is_gap ? "-" : slot.payload);
      separator = " ";
    }
  }
  return text;
}

// Everything that is ready at `now`, each as "<first slot>: <slots>" with slots counted from kBase.
std::vector<std::string> drain(StringMux& mux, GpsTime now) {
  std::vector<std::string> texts;
  StringMux::Output output;
  while (mux.ready(now)) {
    switch (mux.pull(output)) {
      case PullStatus::output:
        texts.push_back(std::to_string((output.time - kBase) / kStride) + ": " + text_of(output));
        break;
      case PullStatus::skipped:
        texts.emplace_back("skipped");
        break;
      case PullStatus::gap:
        texts.emplace_back("gap");
        return texts;
    }
  }
  return texts;
}

PushResult push(StringMux& mux, std::size_t stream, std::int64_t n, GpsTime now = kBase) {
  const MuxStream& info = mux.schedule().stream(stream);
  return mux.push(stream, slot(n), info.stride, info.name + std::to_string(n), now);
}

template <typename F>
std::string message_of(Errc code, F&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  ADD_FAILURE() << "did not throw";
  return {};
}

TEST(MuxSchedule, DerivesStridesAndTimeouts) {
  const MuxSchedule schedule({stream("A", 2 * kStride), stream("B", 3 * kStride)},
                             with_stride(12 * kStride), kBase);
  EXPECT_EQ(schedule.size(), 2U);
  EXPECT_EQ(schedule.base_stride(), 6 * kStride);
  EXPECT_EQ(schedule.stride(), 12 * kStride);
  EXPECT_EQ(schedule.timeout(0), kLatency + 2 * kStride);
  EXPECT_EQ(schedule.timeout(1), kLatency + 3 * kStride);
  EXPECT_TRUE(schedule.uses_timeouts());
}

TEST(MuxSchedule, RefusesAnOutputStrideThatIsNoPositiveMultipleOfAll) {
  // 2 * kStride is a multiple of B's stride, but not of the common one.
  const std::vector<MuxStream> streams = {stream("A", 4 * kStride), stream("B", kStride)};
  for (const Duration bad : {6 * kStride, 2 * kStride, Duration::zero(), -4 * kStride}) {
    const std::string message =
        message_of(Errc::invalid_argument, [&] { MuxSchedule(streams, with_stride(bad), kBase); });
    EXPECT_THAT(message, HasSubstr("integer multiple"));
    EXPECT_THAT(message, HasSubstr(std::to_string(bad.count())));
    EXPECT_THAT(message, HasSubstr("1000000000"));
  }
}

TEST(MuxSchedule, RefusesWhatNoGridCanHold) {
  message_of(Errc::invalid_argument, [] { MuxSchedule({}, {}, kBase); });
  EXPECT_THAT(message_of(Errc::precondition,
                         [] { MuxSchedule({stream("A", Duration::zero())}, {}, kBase); }),
              HasSubstr("'A'"));
  EXPECT_THAT(
      message_of(Errc::precondition,
                 [] {
                   MuxSchedule({stream("A", Duration(kMax)), stream("B", seconds(2))}, {}, kBase);
                 }),
      HasSubstr("'B'"));
  EXPECT_THAT(
      message_of(Errc::invalid_argument,
                 [] {
                   MuxSchedule({stream("A", Duration(1)), stream("B", seconds(1))}, {}, kBase);
                 }),
      HasSubstr("slots of stream 'A'"));
  MuxOptions negative;
  negative.timeout = Duration(-1);
  message_of(Errc::invalid_argument, [&] { MuxSchedule(two_streams(), negative, kBase); });
}

TEST(MuxSchedule, CapacityCoversTwiceTheOutputStride) {
  MuxSchedule schedule({stream("A")}, with_stride(4000 * kStride), kBase);
  EXPECT_EQ(schedule.state(0).capacity, 8000U);
  schedule.ensure_capacity(5000 * kStride);
  EXPECT_EQ(schedule.state(0).capacity, 10000U);
}

TEST(MuxSchedule, OneStreamWithoutLatencyTakesTheDeadlinesFromAll) {
  const std::vector<MuxStream> streams = {stream("A"), stream("B", kStride, std::nullopt)};
  MuxOptions options;
  EXPECT_FALSE(MuxSchedule(streams, options, kBase).uses_timeouts());
  options.timeout = seconds(5);
  EXPECT_FALSE(MuxSchedule(streams, options, kBase).uses_timeouts());
  options.timeout = Duration::zero();
  options.fallback_timeout = seconds(7);
  const MuxSchedule schedule(streams, options, kBase);
  EXPECT_TRUE(schedule.uses_timeouts());
  EXPECT_EQ(schedule.timeout(0), kTimeout);
  EXPECT_EQ(schedule.timeout(1), seconds(7));
}

TEST(Mux, FillEmitsStridesWithoutData) {
  StringMux mux({stream("A")}, from(kBase), kBase);
  push(mux, 0, 0);
  push(mux, 0, 3);
  EXPECT_THAT(drain(mux, kBase), ElementsAre("0: A0", "1: -", "2: -", "3: A3"));
}

TEST(Mux, SkipLeavesStridesWithoutDataOut) {
  StringMux mux({stream("A")}, from(kBase, GapPolicy::skip), kBase);
  push(mux, 0, 0);
  push(mux, 0, 3);
  EXPECT_THAT(drain(mux, kBase), ElementsAre("0: A0", "skipped", "3: A3"));
  EXPECT_EQ(mux.schedule().skipped_strides(), 2U);
}

TEST(Mux, SkippedPullTellsWhatWasLeftOut) {
  StringMux mux({stream("A")}, from(kBase, GapPolicy::skip), kBase);
  push(mux, 0, 7);
  StringMux::Output output;
  ASSERT_TRUE(mux.ready(kBase));
  ASSERT_EQ(mux.pull(output), PullStatus::skipped);
  EXPECT_EQ(output.time, slot(0));
  EXPECT_EQ(output.stride, 7 * kStride);
}

TEST(Mux, RaiseStopsAtTheGapAndMovesNothing) {
  StringMux mux({stream("A")}, from(kBase, GapPolicy::raise), kBase);
  push(mux, 0, 0);
  push(mux, 0, 2);
  EXPECT_THAT(drain(mux, kBase), ElementsAre("0: A0", "gap"));
  EXPECT_EQ(mux.schedule().gap_time(), slot(1));
  EXPECT_THAT(drain(mux, kBase), ElementsAre("gap"));
}

TEST(Mux, StrideWithOneStreamPresentIsEmittedUnderEveryPolicy) {
  for (const GapPolicy policy : {GapPolicy::fill, GapPolicy::skip, GapPolicy::raise}) {
    StringMux mux(two_streams(), from(kBase, policy), kBase);
    push(mux, 0, 0);
    push(mux, 1, 1);
    push(mux, 0, 1);
    EXPECT_THAT(drain(mux, kBase), ElementsAre("0: A0|-", "1: A1|B1"));
  }
}

TEST(Mux, BecomesReadyWithTheLastStreamAndNotReadyAfterThePull) {
  StringMux mux({stream("A"), stream("B"), stream("C")}, from(kBase), kBase);
  push(mux, 2, 0);
  push(mux, 0, 0);
  EXPECT_FALSE(mux.ready(kBase));
  push(mux, 1, 0);
  EXPECT_TRUE(mux.ready(kBase));
  StringMux::Output output;
  EXPECT_EQ(mux.pull(output), PullStatus::output);
  EXPECT_EQ(text_of(output), "A0|B0|C0");
  EXPECT_FALSE(mux.ready(kBase));
}

TEST(Mux, ElementOneSlotAheadIsPrecededByAGap) {
  StringMux mux({stream("A")}, from(kBase), kBase);
  push(mux, 0, 1);
  EXPECT_THAT(drain(mux, kBase), ElementsAre("0: -", "1: A1"));
}

TEST(Mux, MisalignedElementIsRefusedAndTheStreamGoesOn) {
  StringMux mux({stream("A")}, from(kBase), kBase);
  EXPECT_EQ(mux.push(0, kBase + kStride / 3, kStride, "bad", kBase), PushResult::misaligned);
  EXPECT_EQ(push(mux, 0, 0), PushResult::accepted);
  EXPECT_THAT(drain(mux, kBase), ElementsAre("0: A0"));
  EXPECT_EQ(mux.schedule().drops(0), DropCounts{});
}

TEST(Mux, StrideMismatchIsNeverStoredAndItsEpisodeIsTold) {
  CapturedLog captured;
  MuxOptions options;
  options.label = "view";
  StringMux mux({stream("A")}, options, kBase);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(mux.push(0, slot(i), 2 * kStride, "bad", kBase), PushResult::stride_mismatched);
  }
  EXPECT_THAT(captured.take(LogLevel::warning),
              ElementsAre(HasSubstr("view A: dropped 1 stride-")));
  EXPECT_EQ(mux.push(0, slot(4), kStride / 2, "bad", kBase + seconds(31)),
            PushResult::stride_mismatched);
  EXPECT_THAT(captured.take(LogLevel::warning), ElementsAre(HasSubstr("dropped 4 stride-")));
  EXPECT_EQ(mux.push(0, slot(5), 2 * kStride, "bad", kBase + seconds(32)),
            PushResult::stride_mismatched);
  EXPECT_EQ(mux.schedule().state(0).stored, 0U);
  EXPECT_EQ(mux.schedule().drops(0).stride_mismatched, 6U);

  push(mux, 0, 6);
  push(mux, 0, 7);
  EXPECT_THAT(captured.take(LogLevel::info),
              ElementsAre("view A: stride matches again; 1 element(s) dropped since last report"));
  EXPECT_THAT(drain(mux, kBase), ElementsAre("6: A6", "7: A7"));
}

TEST(Mux, BoundedEdgeMayBeShorterButNotLongerOrEmpty) {
  const GpsTime start = kBase + kStride / 2;
  StringMux mux({stream("A")}, from(start), kBase);
  EXPECT_EQ(mux.push(0, start, 2 * kStride, "long", kBase), PushResult::stride_mismatched);
  EXPECT_EQ(mux.push(0, start, Duration::zero(), "empty", kBase), PushResult::stride_mismatched);
  EXPECT_EQ(mux.push(0, start, -kStride, "backwards", kBase), PushResult::stride_mismatched);
  EXPECT_EQ(mux.push(0, start, kStride / 2, "edge", kBase), PushResult::accepted);
  ASSERT_TRUE(mux.ready(kBase));
  StringMux::Output output;
  EXPECT_EQ(mux.pull(output), PullStatus::output);
  ASSERT_EQ(text_of(output), "edge");
  EXPECT_EQ(output.streams[0][0].time, start);
}

TEST(Mux, OverflowDropsTheOldestPayload) {
  StringMux mux(two_streams(), from(kBase), kBase);
  const auto capacity = static_cast<std::int64_t>(mux.schedule().state(0).capacity);
  for (std::int64_t i = 0; i < capacity; ++i) EXPECT_EQ(push(mux, 0, i), PushResult::accepted);
  EXPECT_EQ(push(mux, 0, capacity), PushResult::overflowed);
  push(mux, 1, 1);
  EXPECT_THAT(drain(mux, kBase), ElementsAre("0: -|-", "1: A1|B1"));
  EXPECT_EQ(mux.schedule().drops(0).overflow, 1U);
}

TEST(Mux, CoarseStrideJoinsNativeSlots) {
  MuxOptions options = from(slot(1));
  options.stride = 4 * kStride;
  StringMux mux({stream("A"), stream("B", 2 * kStride)}, options, kBase);
  // B's grid has no boundary at the start: its first slot begins one native stride before.
  for (std::int64_t i = 1; i <= 10; ++i) push(mux, 0, i);
  for (std::int64_t i = 0; i <= 10; i += 2) push(mux, 1, i);
  EXPECT_THAT(drain(mux, kBase), ElementsAre("0: A1 A2 A3 A4|B0 B2", "4: A5 A6 A7 A8|B4 B6"));
}

TEST(Mux, TailIsServedInShorterPulls) {
  MuxOptions options = from(kBase);
  options.stride = 4 * kStride;
  StringMux mux({stream("A")}, options, kBase);
  for (std::int64_t i = 0; i < 10; ++i) push(mux, 0, i);
  EXPECT_THAT(drain(mux, kBase), ElementsAre("0: A0 A1 A2 A3", "4: A4 A5 A6 A7"));
  EXPECT_EQ(mux.schedule().known_span(), 2 * kStride);
  StringMux::Output output;
  EXPECT_EQ(mux.pull(output, 2 * kStride), PullStatus::output);
  EXPECT_EQ(output.time, slot(8));
  EXPECT_EQ(output.stride, 2 * kStride);
  EXPECT_EQ(text_of(output), "A8 A9");
  EXPECT_EQ(mux.schedule().known_span(), Duration::zero());
}

TEST(Mux, PullOfWhatIsNotKnownOrOffTheGridIsRefused) {
  StringMux mux({stream("A", 2 * kStride)}, from(kBase), kBase);
  StringMux::Output output;
  EXPECT_THAT(message_of(Errc::failed_precondition, [&] { mux.pull(output); }), HasSubstr("know"));
  push(mux, 0, 0);
  EXPECT_THAT(message_of(Errc::invalid_argument, [&] { mux.pull(output, kStride); }),
              HasSubstr("integer multiple"));
  message_of(Errc::invalid_argument, [&] { mux.pull(output, Duration::zero()); });
  message_of(Errc::failed_precondition, [&] { mux.pull(output, 4 * kStride); });
  EXPECT_THAT(drain(mux, kBase), ElementsAre("0: A0"));
}

TEST(Mux, LiveOutputsLieOnMultiplesOfTheOutputStride) {
  StringMux mux(two_streams(), with_stride(4 * kStride), kBase);
  std::vector<std::string> outputs;
  for (std::int64_t i = 1; i < 12; ++i) {
    for (const std::size_t index : {0U, 1U}) {
      push(mux, index, i);
      for (std::string& text : drain(mux, kBase)) outputs.push_back(std::move(text));
    }
  }
  EXPECT_THAT(outputs, ElementsAre("4: A4 A5 A6 A7|B4 B5 B6 B7", "8: A8 A9 A10 A11|B8 B9 B10 B11"));
  EXPECT_EQ(mux.schedule().drops(0), DropCounts{}) << "what alignment passes over is no drop";
}

TEST(Mux, LiveStreamsBeginTogetherWhereTheLastOneBegins) {
  StringMux mux(two_streams(), {}, kBase);
  for (std::int64_t i = 0; i < 3; ++i) push(mux, 0, i);
  EXPECT_THAT(drain(mux, kBase), IsEmpty());
  push(mux, 1, 2);
  EXPECT_THAT(drain(mux, kBase), ElementsAre("2: A2|B2"));
}

TEST(Mux, SilentLiveStreamYieldsGapsAfterItsDeadline) {
  StringMux mux(two_streams(), {}, kBase);
  push(mux, 0, 0);
  push(mux, 1, 0);
  EXPECT_THAT(drain(mux, kBase), ElementsAre("0: A0|B0"));
  push(mux, 0, 1);
  EXPECT_THAT(drain(mux, slot(1) + kTimeout - Duration(1)), IsEmpty());
  EXPECT_THAT(drain(mux, slot(1) + kTimeout), ElementsAre("1: A1|-"));
  EXPECT_EQ(push(mux, 1, 1), PushResult::late);
  EXPECT_EQ(mux.schedule().drops(1).late, 1U);
}

TEST(Mux, DeadlinesAreLookedAtOncePerSlotOfTheFinestStride) {
  MuxOptions options;
  options.timeout = kTimeout - kStride / 2;
  StringMux mux(two_streams(), options, kBase);
  push(mux, 0, 0);
  push(mux, 1, 0);
  drain(mux, kBase);
  push(mux, 0, 1);
  EXPECT_THAT(drain(mux, slot(1) + kLatency), IsEmpty());
  const GpsTime deadline = slot(1) + options.timeout;
  EXPECT_THAT(drain(mux, deadline), IsEmpty()) << "the slot of this deadline was looked at before";
  EXPECT_EQ(mux.schedule().next_deadline(), deadline);
  EXPECT_THAT(drain(mux, deadline), ElementsAre("1: A1|-")) << "an announced deadline is kept";
}

TEST(Mux, FirstDataOfAStreamIsAlignedAtOnce) {
  StringMux mux({stream("A")}, with_stride(4 * kStride), kBase);
  EXPECT_FALSE(mux.ready(kBase));
  EXPECT_EQ(mux.schedule().cursor(), slot(0));
  push(mux, 0, 5);
  EXPECT_EQ(mux.schedule().cursor(), slot(5));
  EXPECT_FALSE(mux.ready(kBase));
  EXPECT_EQ(mux.schedule().cursor(), slot(8));
  EXPECT_EQ(mux.schedule().state(0).stored, 0U);
}

TEST(Mux, DeclaredGapIsNotDelayedByTheOncePerSlotRule) {
  StringMux mux(two_streams(), {}, kBase);
  push(mux, 0, 0);
  push(mux, 1, 0);
  drain(mux, kBase);
  push(mux, 0, 1);
  EXPECT_TRUE(mux.schedule().declare_gap(1, slot(1)));
  EXPECT_FALSE(mux.schedule().declare_gap(1, slot(1)));
  EXPECT_THAT(drain(mux, kBase), ElementsAre("1: A1|-"));
}

TEST(Mux, DeclareCompleteServesTheAbsentTailAsGaps) {
  StringMux mux({stream("A", 2 * kStride), stream("B")}, from(kBase), kBase);
  push(mux, 1, 0);
  mux.schedule().declare_complete(slot(2) + Duration(1));
  EXPECT_THAT(drain(mux, kBase), ElementsAre("0: -|B0 -"));
  EXPECT_EQ(mux.schedule().state(0).horizon, slot(4));
  EXPECT_EQ(mux.schedule().state(1).horizon, slot(3));
  EXPECT_EQ(push(mux, 1, 1), PushResult::late);
  mux.schedule().declare_complete(kBase);
  EXPECT_EQ(mux.schedule().state(1).horizon, slot(3));
  mux.schedule().declare_complete(slot(6));
  EXPECT_EQ(mux.schedule().state(0).horizon, slot(6));
  EXPECT_EQ(mux.schedule().state(1).horizon, slot(6));
}

TEST(Mux, SkipJumpsAHoleOfAMillionMillionStridesInOnePull) {
  constexpr std::int64_t kHole = 1'000'000'000'000;
  constexpr Duration kFine = milliseconds(1);
  StringMux mux({stream("A", kFine), stream("B", kFine)}, from(kBase, GapPolicy::skip), kBase);
  const GpsTime far = kBase + kHole * kFine;
  mux.push(0, far, kFine, "a", kBase);
  mux.push(1, far, kFine, "b", kBase);
  ASSERT_TRUE(mux.ready(kBase));
  StringMux::Output output;
  EXPECT_EQ(mux.pull(output), PullStatus::skipped);
  EXPECT_EQ(mux.schedule().skipped_strides(), static_cast<std::uint64_t>(kHole));
  ASSERT_TRUE(mux.ready(kBase));
  EXPECT_EQ(mux.pull(output), PullStatus::output);
  EXPECT_EQ(output.time, far);
  EXPECT_EQ(text_of(output), "a|b");
}

TEST(Mux, SkippedOutageReachesTheGapLog) {
  CapturedLog captured;
  MuxOptions options;
  options.on_gap = GapPolicy::skip;
  StringMux mux({stream("A")}, options, kBase);
  push(mux, 0, 0);
  drain(mux, kBase);
  drain(mux, slot(40) + kTimeout);
  EXPECT_THAT(captured.take(LogLevel::warning),
              ElementsAre(HasSubstr("A: no data since GPS 1400000000.250")));
  push(mux, 0, 41);
  drain(mux, slot(40) + kTimeout);
  EXPECT_THAT(captured.take(LogLevel::info),
              ElementsAre("A: data resumed at GPS 1400000010.250 after 10.0 s of gap"));
}

TEST(Mux, BoundedStreamHasDeadlinesOnceArmed) {
  StringMux mux(two_streams(), from(kBase), kBase);
  const GpsTime late = slot(1) + kTimeout;
  push(mux, 0, 0);
  push(mux, 0, 1);
  EXPECT_THAT(drain(mux, late), IsEmpty());
  EXPECT_EQ(mux.schedule().next_deadline(), std::nullopt);
  mux.schedule().arm(1);
  EXPECT_EQ(mux.schedule().next_deadline(), slot(0) + kTimeout);
  EXPECT_THAT(drain(mux, late), ElementsAre("0: A0|-", "1: A1|-"));
  EXPECT_EQ(mux.schedule().next_deadline(), std::nullopt) << "A is not armed";
}

TEST(Mux, ArmingTakesEffectAtOnce) {
  StringMux mux({stream("A")}, from(kBase), kBase);
  EXPECT_FALSE(mux.ready(kBase + kTimeout));
  mux.schedule().arm(0);
  EXPECT_TRUE(mux.ready(kBase + kTimeout));
}

TEST(Mux, FutureStartIsGapFilledFromExactlyThere) {
  StringMux mux({stream("A")}, from(slot(8)), kBase);
  mux.schedule().arm(0);
  EXPECT_THAT(drain(mux, kBase), IsEmpty());
  EXPECT_EQ(mux.schedule().next_deadline(), slot(8) + kTimeout);
  EXPECT_THAT(drain(mux, slot(8) + kTimeout), ElementsAre("8: -"));
}

TEST(MuxSchedule, NextDeadlineIsThatOfTheLastMissingStream) {
  MuxSchedule schedule({stream("A"), stream("B", kStride, seconds(9)), stream("C")}, {}, kBase);
  for (const std::size_t index : {0U, 1U, 2U}) schedule.push(index, slot(0), kStride, kBase);
  std::vector<MuxSchedule::Served> slots;
  ASSERT_TRUE(schedule.ready(kBase));
  EXPECT_EQ(schedule.next_deadline(), GpsTime::min());
  ASSERT_EQ(schedule.pull({}, slots), PullStatus::output);
  EXPECT_EQ(schedule.next_deadline(), slot(1) + kStride + seconds(9));
  schedule.push(1, slot(1), kStride, kBase);
  EXPECT_EQ(schedule.next_deadline(), slot(1) + kTimeout);
  schedule.push(0, slot(1), kStride, kBase);
  EXPECT_EQ(schedule.next_deadline(), slot(1) + kTimeout);
  schedule.push(2, slot(1), kStride, kBase);
  EXPECT_EQ(schedule.next_deadline(), GpsTime::min());
}

TEST(MuxSchedule, WithoutTimeoutsThereIsNoDeadline) {
  MuxSchedule schedule({stream("A", kStride, std::nullopt), stream("B")}, {}, kBase);
  EXPECT_EQ(schedule.next_deadline(), std::nullopt);
  EXPECT_FALSE(schedule.ready(kBase + seconds(100000)));
}

// A multiplexer under random traffic. Twins made from one seed behave alike, so that one of them
// can be asked what happens a nanosecond too early.
class Traffic {
 public:
  explicit Traffic(std::uint64_t seed) : random_(seed) {
    MuxOptions options;
    const bool is_live = pick(2) == 0;
    if (!is_live) options.start = kBase + pick(4) * kStride / 2;
    options.on_gap = pick(2) == 0 ? GapPolicy::fill : GapPolicy::skip;
    if (pick(3) == 0) options.timeout = milliseconds(100 + pick(3000));
    options.fallback_timeout = seconds(1);
    std::vector<MuxStream> streams;
    const std::int64_t count = 1 + pick(5);
    Duration common = kStride;
    for (std::int64_t i = 0; i < count; ++i) {
      const Duration stride = kStride * (1 + pick(2));
      common = std::max(common, stride);
      std::optional<Duration> max_latency;
      if (pick(5) != 0) max_latency = milliseconds(pick(3000));
      streams.push_back(stream(std::to_string(i), stride, max_latency));
      next_.push_back(kBase + (pick(6) - 3) * 2 * kStride);
    }
    if (pick(3) == 0) options.stride = common * (1 + pick(3));
    mux_ = std::make_unique<StringMux>(std::move(streams), options, now_);
    if (!is_live) {
      for (std::size_t i = 0; i < next_.size(); ++i) mux_->schedule().arm(i);
    }
  }

  StringMux& mux() { return *mux_; }
  MuxSchedule& schedule() { return mux_->schedule(); }
  [[nodiscard]] GpsTime now() const { return now_; }

  void step() {
    const auto index = static_cast<std::size_t>(pick(static_cast<std::int64_t>(next_.size())));
    const Duration stride = schedule().stream(index).stride;
    switch (pick(6)) {
      case 0:
        now_ += milliseconds(pick(700));
        break;
      case 1:
        schedule().declare_gap(index, next_[index]);
        break;
      default:
        mux_->push(index, next_[index], stride, "x", now_);
    }
    next_[index] += stride * (pick(8) == 0 ? 1 + pick(6) : 1);
    if (pick(4) != 0) serve();
  }

  void serve() {
    while (mux_->ready(now_)) {
      if (mux_->pull(output_) != PullStatus::output) continue;
      for (std::size_t i = 0; i < output_.streams.size(); ++i) check(i);
    }
  }

 private:
  // Slots follow each other, and payloads are served exactly where elements are.
  void check(std::size_t index) {
    const auto& slots = output_.streams[index];
    const Duration stride = schedule().stream(index).stride;
    ASSERT_EQ(static_cast<std::int64_t>(slots.size()), output_.stride / stride);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      ASSERT_EQ(slots[i].payload, slots[i].is_gap ? "" : "x");
      ASSERT_EQ(slots[i].time.floor_to(stride),
                slots[0].time.floor_to(stride) + static_cast<std::int64_t>(i) * stride);
    }
  }

  std::int64_t pick(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }

  std::mt19937_64 random_;
  GpsTime now_ = kBase;
  std::vector<GpsTime> next_;
  std::unique_ptr<StringMux> mux_;
  StringMux::Output output_;
};

TEST(MuxSchedule, NextDeadlineIsExactUnderRandomTraffic) {
  int deadlines = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Traffic traffic(seed);
    Traffic twin(seed);
    const int steps = static_cast<int>(seed % 40);
    for (int i = 0; i < steps; ++i) {
      traffic.step();
      twin.step();
    }
    traffic.serve();
    twin.serve();
    const std::optional<GpsTime> deadline = traffic.schedule().next_deadline();
    ASSERT_TRUE(deadline.has_value()) << seed;
    ASSERT_NE(deadline, GpsTime::min()) << seed;
    ++deadlines;
    // Time first stands still for the twin, so that its next look is not spared by the once-a-slot
    // rule.
    (void)twin.mux().ready(kBase - seconds(1000));
    ASSERT_FALSE(twin.mux().ready(*deadline - Duration(1))) << seed;
    ASSERT_TRUE(traffic.mux().ready(*deadline)) << seed;
  }
  EXPECT_EQ(deadlines, 3000);
}

TEST(MuxSchedule, SleeperByDeadlinesServesEverythingAtItsDeadline) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Traffic traffic(seed);
    for (int i = 0; i < 30; ++i) traffic.step();
    traffic.serve();
    StringMux::Output output;
    GpsTime now = traffic.now();
    for (int i = 0; i < 50; ++i) {
      const std::optional<GpsTime> deadline = traffic.schedule().next_deadline();
      ASSERT_TRUE(deadline.has_value());
      now = std::max(now, *deadline);
      ASSERT_TRUE(traffic.mux().ready(now)) << seed << " " << i;
      const GpsTime before = traffic.schedule().cursor();
      traffic.mux().pull(output);
      ASSERT_GT(traffic.schedule().cursor(), before);
    }
  }
}

TEST(MuxSchedule, HostileTimesNeitherOverflowNorHang) {
  constexpr std::array<std::int64_t, 9> kTimes{kMin, kMin + 1, kMin / 2, -1,  0,
                                               1,    kMax / 2, kMax - 1, kMax};
  std::mt19937_64 random(1);
  const auto any_time = [&] { return GpsTime::from_ns(kTimes[random() % kTimes.size()]); };
  const auto any_duration = [&] { return any_time().since_epoch(); };
  for (int round = 0; round < 3000; ++round) {
    MuxOptions options;
    if (random() % 2 == 0) options.start = any_time();
    options.on_gap = random() % 2 == 0 ? GapPolicy::fill : GapPolicy::skip;
    options.timeout = std::max(any_duration(), Duration::zero());
    if (random() % 2 == 0) options.fallback_timeout = std::max(any_duration(), Duration::zero());
    if (random() % 2 == 0) options.stride = seconds(6);
    StringMux mux({stream("A", seconds(1), any_duration()), stream("B", seconds(2), any_duration()),
                   stream("C", seconds(3), any_duration())},
                  options, any_time());
    MuxSchedule& schedule = mux.schedule();
    for (int step = 0; step < 30; ++step) {
      const std::size_t index = random() % 3;
      const Duration stride = schedule.stream(index).stride;
      GpsTime time = any_time();
      if (random() % 2 == 0) time = time.floor_to(stride);
      switch (random() % 6) {
        case 0:
          schedule.declare_gap(index, time);
          break;
        case 1:
          schedule.declare_complete(time);
          break;
        case 2:
          schedule.arm(index);
          break;
        case 3:
          schedule.ensure_capacity(Duration(time.ns()));
          break;
        default:
          mux.push(index, time, random() % 4 == 0 ? any_duration() : stride, "x", any_time());
      }
      (void)schedule.next_deadline();
      (void)schedule.known_span();
      StringMux::Output output;
      if (mux.ready(any_time())) mux.pull(output);
    }
  }
}

TEST(MuxSchedule, ThousandStreamsInLockstepAreServedStrideByStride) {
  constexpr std::size_t kStreams = 1000;
  std::vector<MuxStream> streams;
  for (std::size_t i = 0; i < kStreams; ++i) streams.push_back(stream(std::to_string(i)));
  MuxSchedule schedule(streams, {}, kBase);
  std::vector<MuxSchedule::Served> slots;
  std::size_t outputs = 0;
  for (std::int64_t n = 0; n < 50; ++n) {
    for (std::size_t i = 0; i < kStreams; ++i) {
      schedule.push(i, slot(n), kStride, slot(n));
      if (!schedule.ready(slot(n))) continue;
      ASSERT_EQ(i, kStreams - 1);
      ASSERT_EQ(schedule.pull({}, slots), PullStatus::output);
      ASSERT_EQ(slots.size(), kStreams);
      ++outputs;
    }
  }
  EXPECT_EQ(outputs, 50U);
}

}  // namespace
}  // namespace arrakis::inline v1
