#include "arrakis/stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/manual_clock.hpp"
#include "testing/channels.hpp"
#include "testing/scripted_source.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::kLatency;
using testing::kStride;
using testing::make_block;
using testing::make_partition;
using testing::ScriptedSource;

constexpr GpsTime kBase = GpsTime::from_seconds(1'400'000'000);
/// A slot's deadline after its start.
constexpr Duration kTimeout = kLatency + kStride;

/// Two streams, P with two channels and Q with one, and a clock that only the test moves.
class BlockStreamTest : public ::testing::Test {
 protected:
  BlockStreamTest() { clock_.set_now(kBase); }

  /// Time passes until `t`.
  void go_to(GpsTime t) { clock_.advance(t - clock_.now()); }

  BlockStream make(StreamOptions options = {}) {
    auto source = std::make_unique<ScriptedSource>(
        std::vector<StreamInfo>{{"broker/P", p_}, {"broker/Q", q_}});
    source_ = source.get();
    options.clock = &clock_;
    options.on_event = [this](const Event& event) { events_.push_back(to_string(event)); };
    return BlockStream(std::move(source), options);
  }
  StreamOptions bounded(int slots) {
    StreamOptions options;
    options.start = kBase;
    options.end = kBase + slots * kStride;
    return options;
  }
  void put_p(int slot) { source_->put(0, make_block(kBase + slot * kStride, p_, slot)); }
  void put_q(int slot) { source_->put(1, make_block(kBase + slot * kStride, q_, slot)); }
  void put_both(int first, int count) {
    for (int slot = first; slot < first + count; ++slot) {
      put_p(slot);
      put_q(slot);
    }
  }
  /// The slots of the blocks that come without waiting, and how it ended.
  std::vector<int> drain(BlockStream& stream) {
    std::vector<int> slots;
    for (;;) {
      const BlockStream::Next next = stream.next(0ns);
      status_ = next.status;
      if (!next) return slots;
      last_ = next.block;
      slots.push_back(static_cast<int>((next.block.time() - kBase) / kStride));
    }
  }

  const ChannelSet p_{make_partition("P", 2)};
  const ChannelSet q_{make_partition("Q", 1)};
  ManualClock clock_;
  ScriptedSource* source_ = nullptr;
  std::vector<std::string> events_;
  BlockStream::Status status_ = BlockStream::Status::timeout;
  SeriesBlock last_;
};

TEST_F(BlockStreamTest, BlockHoldsEveryChannelOfEveryStreamOnOneGrid) {
  BlockStream stream = make();
  put_both(0, 1);
  const BlockStream::Next next = stream.next(0ns);
  ASSERT_TRUE(next);
  EXPECT_EQ(next.block.time(), kBase);
  EXPECT_EQ(next.block.duration(), kStride);
  EXPECT_EQ(next.block.size(), 3U);
  EXPECT_FALSE(next.block.has_gaps());
  EXPECT_EQ(next.block["X1:P-1"].values<float>()[2], 1002);
  EXPECT_EQ(next.block["X1:Q-0"].values<float>()[3], 3);
  EXPECT_EQ(stream.next(0ns).status, BlockStream::Status::timeout);
}

TEST_F(BlockStreamTest, MissingStreamIsAGapAtItsDeadlineAndNotBefore) {
  BlockStream stream = make();
  put_both(0, 1);
  EXPECT_EQ(drain(stream), std::vector<int>({0}));
  put_p(1);
  go_to(kBase + kStride + kTimeout - 1ns);
  EXPECT_EQ(drain(stream), std::vector<int>());
  go_to(kBase + kStride + kTimeout);
  EXPECT_EQ(drain(stream), std::vector<int>({1}));
  EXPECT_FALSE(last_["X1:P-0"].has_gaps());
  EXPECT_EQ(last_["X1:Q-0"].gap_count(), last_["X1:Q-0"].size());
  EXPECT_EQ(stream.stats().gap_slots, 1U);
}

TEST_F(BlockStreamTest, LatePartIsDroppedAndCounted) {
  BlockStream stream = make();
  put_both(0, 1);
  drain(stream);
  put_p(1);
  go_to(kBase + kStride + kTimeout);
  drain(stream);
  put_q(1);
  put_both(2, 1);
  EXPECT_EQ(drain(stream), std::vector<int>({2}));
  EXPECT_EQ(stream.stats().late, 1U);
}

TEST_F(BlockStreamTest, DropPolicyRaiseThrowsOnceAndTheStreamGoesOn) {
  StreamOptions options;
  options.on_drop = DropPolicy::raise;
  BlockStream stream = make(options);
  put_both(0, 2);
  drain(stream);
  put_q(0);
  put_both(2, 1);
  try {
    stream.next(0ns);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::late_data);
    EXPECT_THAT(error.what(), HasSubstr("X1:Q-0"));
  }
  EXPECT_EQ(drain(stream), std::vector<int>({2}));
}

TEST_F(BlockStreamTest, BoundedStreamEndsAtItsEndAndClosesItsSources) {
  BlockStream stream = make(bounded(3));
  EXPECT_EQ(source_->opened_with().start, kBase);
  put_both(0, 5);
  EXPECT_EQ(drain(stream), std::vector<int>({0, 1, 2}));
  EXPECT_EQ(status_, BlockStream::Status::end);
  EXPECT_TRUE(source_->is_closed());
}

TEST_F(BlockStreamTest, BoundedStreamOverMissingDataEndsWithGapsWhenTheSourceHasNoMore) {
  BlockStream stream = make(bounded(4));
  put_both(0, 2);
  source_->set_exhausted(true);
  EXPECT_EQ(drain(stream), std::vector<int>({0, 1}));
  EXPECT_EQ(status_, BlockStream::Status::timeout);
  go_to(kBase + 4 * kStride + kTimeout + 2s);
  EXPECT_EQ(drain(stream), std::vector<int>({2, 3}));
  EXPECT_EQ(status_, BlockStream::Status::end);
  EXPECT_TRUE(last_.is_all_gap());
}

TEST_F(BlockStreamTest, SourceThatIsDoneEndsABoundedStreamAtOnceWithItsTailAsGaps) {
  BlockStream stream = make(bounded(4));
  put_both(0, 2);
  put_p(2);
  source_->set_done();
  EXPECT_EQ(drain(stream), std::vector<int>({0, 1, 2, 3}));
  EXPECT_EQ(status_, BlockStream::Status::end);
}

TEST_F(BlockStreamTest, SourceThatIsDoneEndsALiveStreamAfterWhatIsStillHeld) {
  BlockStream stream = make();
  put_both(0, 2);
  put_p(2);
  put_p(4);
  source_->set_done();
  EXPECT_EQ(drain(stream), std::vector<int>({0, 1, 2, 3, 4}));
  EXPECT_EQ(status_, BlockStream::Status::end);
  EXPECT_FALSE(last_["X1:P-0"].has_gaps());
  EXPECT_TRUE(last_["X1:Q-0"].has_gaps());
}

TEST_F(BlockStreamTest, SkipLeavesOutWhatNobodyHasAndCountsIt) {
  StreamOptions options = bounded(6);
  options.on_gap = GapPolicy::skip;
  BlockStream stream = make(options);
  put_both(0, 1);
  put_p(4);
  put_both(5, 1);
  source_->set_done();
  EXPECT_EQ(drain(stream), std::vector<int>({0, 4, 5}));
  EXPECT_EQ(stream.stats().skipped_strides, 3U);
}

TEST_F(BlockStreamTest, RaiseEndsTheStreamAtTheGap) {
  StreamOptions options = bounded(4);
  options.on_gap = GapPolicy::raise;
  BlockStream stream = make(options);
  put_both(0, 1);
  put_both(2, 2);
  ASSERT_TRUE(stream.next(0ns));
  try {
    stream.next(0ns);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::gap);
    EXPECT_THAT(error.what(), HasSubstr("1400000000.0625"));
  }
  EXPECT_EQ(stream.next(0ns).status, BlockStream::Status::end);
}

TEST_F(BlockStreamTest, BlocksAreTrimmedToTheSpanAskedFor) {
  StreamOptions options;
  options.start = kBase + 31250us;
  options.end = kBase + kStride + 31250us;
  BlockStream stream = make(options);
  put_both(0, 2);
  const SeriesBlock first = stream.next(0ns).block;
  EXPECT_EQ(first.time(), *options.start);
  EXPECT_EQ(first.end(), kBase + kStride);
  EXPECT_EQ(first["X1:P-0"].size(), 2U);
  EXPECT_EQ(first["X1:P-0"].values<float>()[0], 2);
  const SeriesBlock second = stream.next(0ns).block;
  EXPECT_EQ(second.end(), *options.end);
  EXPECT_EQ(second["X1:P-0"].size(), 2U);
  EXPECT_EQ(stream.next(0ns).status, BlockStream::Status::end);
}

TEST_F(BlockStreamTest, WholeBlocksAreLeftWhole) {
  StreamOptions options;
  options.start = kBase + 31250us;
  options.end = kBase + kStride + 31250us;
  options.whole_blocks = true;
  BlockStream stream = make(options);
  put_both(0, 2);
  EXPECT_EQ(drain(stream), std::vector<int>({0, 1}));
  EXPECT_EQ(last_.duration(), kStride);
  EXPECT_EQ(status_, BlockStream::Status::end);
}

TEST_F(BlockStreamTest, DurationCountsFromTheFirstBlockOfALiveStream) {
  StreamOptions options;
  options.duration = 3 * kStride;
  BlockStream stream = make(options);
  put_both(10, 6);
  EXPECT_EQ(drain(stream), std::vector<int>({10, 11, 12}));
  EXPECT_EQ(status_, BlockStream::Status::end);
}

TEST_F(BlockStreamTest, OutputStrideJoinsBlocksAndTheTailIsShorter) {
  StreamOptions options = bounded(6);
  options.stride = 4 * kStride;
  BlockStream stream = make(options);
  put_both(0, 6);
  source_->set_done();
  const SeriesBlock first = stream.next(0ns).block;
  EXPECT_EQ(first.duration(), 4 * kStride);
  EXPECT_EQ(first["X1:P-0"].size(), 16U);
  EXPECT_EQ(first["X1:P-0"].values<float>()[5], 2);
  const SeriesBlock tail = stream.next(0ns).block;
  EXPECT_EQ(tail.time(), kBase + 4 * kStride);
  EXPECT_EQ(tail.duration(), 2 * kStride);
  EXPECT_EQ(stream.next(0ns).status, BlockStream::Status::end);
}

TEST_F(BlockStreamTest, AStreamWithAStartGetsDeadlinesOnceItsSourceHasCaughtUp) {
  StreamOptions options;
  options.start = kBase;
  BlockStream stream = make(options);
  put_p(0);
  go_to(kBase + 10s);
  EXPECT_EQ(drain(stream), std::vector<int>());
  source_->set_caught_up(0);
  source_->set_caught_up(1);
  const std::vector<int> slots = drain(stream);
  ASSERT_FALSE(slots.empty());
  EXPECT_EQ(slots.front(), 0);
  EXPECT_EQ(slots.size(), static_cast<std::size_t>((10s - kTimeout) / kStride) + 1);
}

TEST_F(BlockStreamTest, PartsOfTheFutureOffTheGridOrOfAnotherLengthAreDroppedAndCounted) {
  BlockStream stream = make();
  put_both(0, 1);
  source_->put(0, make_block(kBase + 3600s, p_, 0));
  source_->put(0, make_block(kBase + kStride + 1ns, p_, 0));
  BlockBuilder twice(kBase + kStride, q_);
  twice.set<float>("X1:Q-0", std::vector<float>(8));
  source_->put(1, twice.build());
  put_both(1, 2);
  EXPECT_EQ(drain(stream), std::vector<int>({0, 1, 2}));
  const StreamStats stats = stream.stats();
  EXPECT_EQ(stats.future, 1U);
  EXPECT_EQ(stats.misaligned, 1U);
  EXPECT_EQ(stats.stride_mismatched, 1U);
  EXPECT_EQ(stats.parts, 9U);
  EXPECT_EQ(stats.blocks, 3U);
}

TEST_F(BlockStreamTest, ClockThatIsSetAheadLosesNothing) {
  BlockStream stream = make();
  put_both(0, 1);
  EXPECT_EQ(drain(stream), std::vector<int>({0}));
  clock_.set_now(clock_.now() + 1h);
  for (int slot = 1; slot < 400; ++slot) {
    clock_.advance(kStride);
    put_both(slot, 1);
    ASSERT_EQ(drain(stream), std::vector<int>({slot}));
    ASSERT_FALSE(last_.has_gaps());
  }
  EXPECT_EQ(stream.stats().late, 0U);
}

TEST_F(BlockStreamTest, ClockThatIsSetBackNeitherRefusesPartsNorHoldsUpDeadlines) {
  BlockStream stream = make();
  put_both(0, 1);
  EXPECT_EQ(drain(stream), std::vector<int>({0}));
  clock_.set_now(clock_.now() - 1h);
  std::vector<int> slots;
  for (int slot = 1; slot < 400; ++slot) {
    clock_.advance(kStride);
    put_p(slot);  // Q is missing: every block waits for its deadline
    for (const int got : drain(stream)) slots.push_back(got);
  }
  EXPECT_EQ(stream.stats().future, 0U);
  // All but those whose deadline has not come.
  EXPECT_EQ(slots.size(), static_cast<std::size_t>(399 - kTimeout / kStride));
}

TEST_F(BlockStreamTest, PartOfTheFutureDoesNotSilenceAStreamThatReadsHistory) {
  BlockStream stream = make(bounded(4));
  put_both(0, 1);
  source_->put(0, make_block(kBase + 3600s, p_, 0));
  put_both(1, 3);
  EXPECT_EQ(drain(stream), std::vector<int>({0, 1, 2, 3}));
  EXPECT_EQ(stream.stats().gap_slots, 0U);
  EXPECT_EQ(stream.stats().future, 1U);
}

TEST_F(BlockStreamTest, SkewedStreamsOfABoundedRequestLoseNothing) {
  constexpr int kSlots = 2500;  // more than a stream may hold
  BlockStream stream = make(bounded(kSlots));
  go_to(kBase + kSlots * kStride);
  for (int slot = 0; slot < kSlots; ++slot) put_p(slot);
  EXPECT_EQ(drain(stream), std::vector<int>());
  EXPECT_TRUE(source_->is_paused(0));
  for (int slot = 0; slot < kSlots; ++slot) put_q(slot);
  EXPECT_EQ(drain(stream).size(), static_cast<std::size_t>(kSlots));
  EXPECT_EQ(stream.stats().gap_slots, 0U);
  EXPECT_EQ(stream.stats().overflow, 0U);
}

TEST_F(BlockStreamTest, StreamsThatAreAheadOfTheSlowestHoldNoMoreThanTheBuffer) {
  constexpr int kSlots = 200;
  constexpr int kHeld = 10;
  go_to(kBase + kSlots * kStride);
  StreamOptions options = bounded(kSlots);
  options.buffer_bytes =
      std::size_t{kHeld} * 2 * 4 * sizeof(float);  // of P: two channels of four samples
  BlockStream stream = make(options);
  for (int slot = 0; slot < kSlots; ++slot) put_p(slot);
  EXPECT_EQ(drain(stream), std::vector<int>());
  EXPECT_TRUE(source_->is_paused(0));
  EXPECT_FALSE(source_->is_paused(1));
  EXPECT_GE(source_->waiting(), static_cast<std::size_t>(kSlots - kHeld - 2));
  for (int slot = 0; slot < kSlots; ++slot) put_q(slot);
  std::vector<int> slots;
  while (slots.size() < kSlots) {
    const std::vector<int> got = drain(stream);
    ASSERT_FALSE(got.empty());
    slots.insert(slots.end(), got.begin(), got.end());
  }
  for (int slot = 0; slot < kSlots; ++slot) EXPECT_EQ(slots[static_cast<std::size_t>(slot)], slot);
  EXPECT_EQ(stream.stats().gap_slots, 0U);
  EXPECT_EQ(stream.stats().overflow, 0U);
}

TEST_F(BlockStreamTest, CancelFromAnotherThreadEndsAWait) {
  BlockStream stream = make();
  std::thread canceller([&] { stream.cancel(); });
  EXPECT_EQ(stream.next().status, BlockStream::Status::end);
  canceller.join();
  put_both(0, 1);
  EXPECT_EQ(stream.next(0ns).status, BlockStream::Status::end);
}

TEST_F(BlockStreamTest, DataFromAnotherThreadEndsAWait) {
  BlockStream stream = make();
  std::thread producer([&] { put_both(0, 1); });
  EXPECT_TRUE(stream.next(10s));
  producer.join();
}

TEST_F(BlockStreamTest, RangeForEndsAtTheEnd) {
  BlockStream stream = make(bounded(3));
  put_both(0, 3);
  int blocks = 0;
  for (const SeriesBlock& block : stream) {
    EXPECT_EQ(block.time(), kBase + blocks * kStride);
    ++blocks;
  }
  EXPECT_EQ(blocks, 3);
}

TEST_F(BlockStreamTest, EventsReachTheCallerInOrder) {
  BlockStream stream = make();
  source_->put_event(events::TopicMissing{"arrakis-Z"});
  source_->put_event(events::TopicAppeared{"arrakis-Z"});
  drain(stream);
  ASSERT_EQ(events_.size(), 2U);
  EXPECT_THAT(events_[0], HasSubstr("arrakis-Z"));
}

TEST_F(BlockStreamTest, FailureOfASourceIsThrownAfterWhatCameBeforeIt) {
  BlockStream stream = make();
  put_both(0, 1);
  source_->fail_next_poll(Error(Errc::broker_fatal, "the broker said no"));
  EXPECT_TRUE(stream.next(0ns));
  EXPECT_THROW(stream.next(0ns), Error);
  EXPECT_EQ(stream.next(0ns).status, BlockStream::Status::end);
}

TEST_F(BlockStreamTest, OptionsThatContradictEachOtherAreRefused) {
  const auto code_of = [&](const StreamOptions& options) {
    try {
      make(options);
    } catch (const Error& error) {
      return error.code();
    }
    return Errc::unsupported;
  };
  StreamOptions both = bounded(1);
  both.duration = 1s;
  EXPECT_EQ(code_of(both), Errc::invalid_argument);
  StreamOptions reversed;
  reversed.start = kBase;
  reversed.end = kBase;
  EXPECT_EQ(code_of(reversed), Errc::invalid_argument);
  StreamOptions stride;
  stride.stride = kStride * 3 / 2;
  EXPECT_EQ(code_of(stride), Errc::invalid_argument);
  StreamOptions negative;
  negative.duration = -1s;
  EXPECT_EQ(code_of(negative), Errc::invalid_argument);
}

TEST_F(BlockStreamTest, WithoutASourceItIsRefused) {
  EXPECT_THROW(BlockStream(std::vector<std::unique_ptr<Source>>(), {}), Error);
}

TEST_F(BlockStreamTest, ASourceThatCantBeOpenedClosesTheOthers) {
  bool closed = false;
  auto good = std::make_unique<ScriptedSource>(std::vector<StreamInfo>{{"a/P", p_}});
  good->on_close([&] { closed = true; });
  auto bad = std::make_unique<ScriptedSource>(std::vector<StreamInfo>{{"b/Q", q_}});
  bad->fail_open(Error(Errc::broker_unavailable, "no broker"));
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::move(good));
  sources.push_back(std::move(bad));
  EXPECT_THROW(BlockStream(std::move(sources), {}), Error);
  EXPECT_TRUE(closed);
}

TEST_F(BlockStreamTest, StreamsOfSeveralSourcesShareOneGrid) {
  auto first = std::make_unique<ScriptedSource>(std::vector<StreamInfo>{{"a/P", p_}});
  auto second = std::make_unique<ScriptedSource>(std::vector<StreamInfo>{{"b/Q", q_}});
  ScriptedSource* a = first.get();
  ScriptedSource* b = second.get();
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::move(first));
  sources.push_back(std::move(second));
  StreamOptions options;
  options.clock = &clock_;
  BlockStream stream(std::move(sources), options);
  a->put(0, make_block(kBase, p_, 1));
  b->put(0, make_block(kBase, q_, 2));
  const BlockStream::Next next = stream.next(0ns);
  ASSERT_TRUE(next);
  EXPECT_EQ(next.block["X1:P-0"].values<float>()[0], 1);
  EXPECT_EQ(next.block["X1:Q-0"].values<float>()[0], 2);
}

}
}
