#include "client/surviving_stream.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "client/muxed_stream.hpp"
#include "testing/channels.hpp"
#include "testing/eventually.hpp"
#include "testing/log_lines.hpp"
#include "testing/scripted_source.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::eventually;
using ::testing::HasSubstr;
using testing::kStride;
using testing::LogLines;
using testing::make_block;
using testing::make_partition;
using testing::on_grid;
using testing::ScriptedSource;
using ::testing::SizeIs;
using Status = BlockStream::Status;

/// What one engine does: it delivers blocks of these slots, then fails, ends or waits.
struct Life {
  std::vector<int> slots;
  std::optional<Error> failure;
  std::optional<Error> refusal;  // of the attempt to make it
};

class SurvivingStreamTest : public ::testing::Test {
 protected:
  SurvivingStream::Settings settings(std::deque<Life> lives) {
    lives_ = std::move(lives);
    SurvivingStream::Settings made;
    made.connect = [this](const StreamSpan& span) { return connect(span); };
    made.span.from = base_;
    made.name = "the test's stream";
    made.request = "abc";
    made.on_event = [this](const Event& event) { events_.push_back(to_string(event)); };
    return made;
  }

  std::unique_ptr<StreamEngine> connect(const StreamSpan& span) {
    const std::unique_lock lock(mutex_);
    spans_.push_back(span);
    if (lives_.empty()) throw Error(Errc::unavailable, "nobody is there any more");
    const Life life = std::move(lives_.front());
    lives_.pop_front();
    if (life.refusal) throw Error(*life.refusal);
    auto source = std::make_unique<ScriptedSource>(std::vector<StreamInfo>{{"P", channels_}});
    for (const int slot : life.slots) {
      source->put(0, make_block(base_ + slot * kStride, channels_, slot));
    }
    if (life.failure) {
      source->fail_next_poll(*life.failure);
    } else {
      source->set_done();
    }
    StreamOptions options;
    options.start = span.from;
    options.end = span.end;
    options.duration = span.duration;
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(std::move(source));
    return std::make_unique<MuxedStream>(std::move(sources), options);
  }

  /// The slots of the blocks until the end.
  std::vector<int> drain(SurvivingStream& stream) {
    std::vector<int> slots;
    while (const BlockStream::Next next = stream.next(60s)) {
      slots.push_back(static_cast<int>((next.block.time() - base_) / kStride));
    }
    return slots;
  }

  const GpsTime base_ = on_grid(system_clock().now()) - 60s;
  const ChannelSet channels_{make_partition("P", 1)};
  std::mutex mutex_;
  std::deque<Life> lives_;
  std::vector<StreamSpan> spans_;
  std::vector<std::string> events_;
  Error unavailable_{Errc::unavailable, "the server is gone"};
};

TEST_F(SurvivingStreamTest, GoesOnAfterTheLastBlockWithoutRepeatsAndTellsOnePairAnOutage) {
  const LogLines log;
  SurvivingStream stream(settings({{{0, 1, 2}, unavailable_, {}},
                                   {{}, {}, unavailable_},
                                   {{}, {}, unavailable_},
                                   {{2, 3, 4}, unavailable_, {}},
                                   {{5}, {}, {}}}));
  EXPECT_THAT(drain(stream), ElementsAre(0, 1, 2, 3, 4, 5));
  ASSERT_THAT(spans_, SizeIs(5));
  EXPECT_EQ(spans_[1].from, base_ + 3 * kStride);
  EXPECT_EQ(spans_[4].from, base_ + 5 * kStride);
  EXPECT_THAT(events_, SizeIs(4));
  EXPECT_THAT(log.of(LogLevel::warning, {"the test's stream", "the server is gone"}), SizeIs(2));
  EXPECT_THAT(log.of(LogLevel::info, {"goes on"}), SizeIs(2));
  EXPECT_EQ(stream.stats().reconnects, 2U);
  EXPECT_EQ(stream.stats().blocks, 6U);
}

TEST_F(SurvivingStreamTest, WhatIsMissingAfterAnOutageIsAGap) {
  SurvivingStream stream(settings({{{0}, unavailable_, {}}, {{3}, {}, {}}}));
  std::vector<bool> gaps;
  while (const BlockStream::Next next = stream.next(60s)) gaps.push_back(next.block.is_all_gap());
  EXPECT_THAT(gaps, ElementsAre(false, true, true, false));
}

TEST_F(SurvivingStreamTest, AnEngineThatDeliversNothingIsPartOfTheSameOutage) {
  SurvivingStream stream(settings(
      {{{0}, unavailable_, {}}, {{}, unavailable_, {}}, {{}, unavailable_, {}}, {{1}, {}, {}}}));
  EXPECT_THAT(drain(stream), ElementsAre(0, 1));
  EXPECT_THAT(events_, SizeIs(2));
}

TEST_F(SurvivingStreamTest, WithoutReconnectTheErrorComesAtOnceAfterTheBlocksBeforeIt) {
  auto once = settings({{{0, 1}, unavailable_, {}}, {{2}, {}, {}}});
  once.reconnect = false;
  SurvivingStream stream(std::move(once));
  EXPECT_TRUE(stream.next(60s));
  EXPECT_TRUE(stream.next(60s));
  EXPECT_THROW(stream.next(60s), Error);
  EXPECT_THAT(spans_, SizeIs(1));
}

TEST_F(SurvivingStreamTest, AFailureThatCanNotPassIsThrown) {
  const Error denied(Errc::permission_denied, "not for you");
  SurvivingStream stream(settings({{{0}, denied, {}}}));
  EXPECT_TRUE(stream.next(60s));
  EXPECT_THROW(stream.next(60s), Error);
  SurvivingStream later(settings({{{0}, unavailable_, {}}, {{}, {}, denied}}));
  EXPECT_TRUE(later.next(60s));
  EXPECT_THROW(later.next(60s), Error);
}

TEST_F(SurvivingStreamTest, AServerThatHasNeverDeliveredIsNotAskedAgainForWhatItDoesNotKnow) {
  const Error unknown(Errc::not_found, "channel(s) {X1:P-0}");
  SurvivingStream stream(settings({{{}, unknown, {}}}));
  EXPECT_THROW(stream.next(60s), Error);
  SurvivingStream settled(settings({{{0}, unavailable_, {}}, {{}, {}, unknown}, {{1}, {}, {}}}));
  EXPECT_THAT(drain(settled), ElementsAre(0, 1));
}

TEST_F(SurvivingStreamTest, GivesUpAfterTheTimeGiven) {
  auto limited = settings({{{0}, unavailable_, {}}});
  limited.give_up_after = 1ms;
  SurvivingStream stream(std::move(limited));
  EXPECT_TRUE(stream.next(60s));
  try {
    while (stream.next(60s)) {
    }
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::unavailable);
    EXPECT_THAT(error.what(), HasSubstr("gave up after 1 ms: nobody is there any more"));
  }
}

TEST_F(SurvivingStreamTest, NextKeepsTheCallersLimitInAnOutage) {
  SurvivingStream stream(settings({{{0}, unavailable_, {}}}));
  EXPECT_TRUE(stream.next(60s));
  EXPECT_EQ(stream.next(10ms).status, Status::timeout);
  EXPECT_EQ(stream.next(0s).status, Status::timeout);
}

TEST_F(SurvivingStreamTest, CancelEndsTheWaitInAnOutageFromAnyThread) {
  SurvivingStream stream(settings({{{0}, unavailable_, {}}}));
  EXPECT_TRUE(stream.next(60s));
  std::atomic<bool> waits{false};
  std::thread other([&] {
    EXPECT_TRUE(eventually([&] { return waits.load(); }));
    stream.cancel();
  });
  waits = true;
  EXPECT_EQ(stream.next({}).status, Status::end);
  other.join();
}

TEST_F(SurvivingStreamTest, AnAttemptThatHangsDoesNotHoldUpTheClose) {
  auto hanging = settings({{{0}, unavailable_, {}}});
  // Outlives the stream, as the thread may.
  const auto release = std::make_shared<std::atomic<bool>>(false);
  hanging.connect = [first = true, release, this](const StreamSpan& span) mutable {
    if (std::exchange(first, false)) return connect(span);
    eventually([&] { return release->load(); });
    throw Error(Errc::unavailable, "too late");
  };
  {
    SurvivingStream stream(std::move(hanging));
    EXPECT_TRUE(stream.next(60s));
    EXPECT_EQ(stream.next(100ms).status, Status::timeout);
  }
  *release = true;
}

TEST_F(SurvivingStreamTest, ADurationThatBeganBeforeTheOutageEndsWhereItWouldHave) {
  auto live = settings({{{0, 1}, unavailable_, {}}, {{2, 3, 4, 5}, {}, {}}});
  live.span.duration = 4 * kStride;
  SurvivingStream stream(std::move(live));
  EXPECT_THAT(drain(stream), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(spans_[1].end, base_ + 4 * kStride);
}

TEST_F(SurvivingStreamTest, NothingIsAskedForAfterTheEnd) {
  auto bounded = settings({{{0, 1}, unavailable_, {}}});
  bounded.span.end = base_ + 2 * kStride;
  SurvivingStream stream(std::move(bounded));
  EXPECT_THAT(drain(stream), ElementsAre(0, 1));
  EXPECT_THAT(spans_, SizeIs(1));
}

TEST_F(SurvivingStreamTest, ChannelsThatHaveBecomeOthersAreNotDeliveredForThem) {
  SurvivingStream::Settings changed = settings({{{0}, unavailable_, {}}});
  changed.connect = [first = true, this](const StreamSpan& span) mutable {
    if (std::exchange(first, false)) return connect(span);
    const ChannelSet other({testing::make_channel("X1:P-0", "P", 0, DataType::float64)});
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(std::make_unique<ScriptedSource>(std::vector<StreamInfo>{{"P", other}}));
    return std::unique_ptr<StreamEngine>(
        std::make_unique<MuxedStream>(std::move(sources), StreamOptions{}));
  };
  SurvivingStream stream(std::move(changed));
  EXPECT_TRUE(stream.next(60s));
  try {
    stream.next(60s);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::precondition);
    EXPECT_THAT(error.what(), HasSubstr("channel X1:P-0 is not what it was"));
  }
}

TEST_F(SurvivingStreamTest, ResumeTokensLeadToTheInstantAfterTheLastBlock) {
  SurvivingStream stream(settings({{{0, 1}, {}, {}}}));
  EXPECT_EQ(stream.resume_token(), "");
  EXPECT_TRUE(stream.next(60s));
  EXPECT_EQ(parse_resume_token(stream.resume_token(), "abc"), base_ + kStride);
}

TEST(ResumeToken, OtherTextAndOtherRequestsAreRefused) {
  const auto refusal = [](const std::string& token) {
    try {
      (void)parse_resume_token(token, "abc");
      return std::string("nothing was thrown");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::invalid_argument);
      return std::string(error.what());
    }
  };
  EXPECT_THAT(refusal("arrakis-resume:1:abd"), HasSubstr("another request"));
  EXPECT_THAT(refusal("arrakis-resume:x:abc"), HasSubstr("'arrakis-resume:x:abc' is not one"));
  EXPECT_THAT(refusal("arrakis-resume:1"), HasSubstr("is not one"));
  EXPECT_THAT(refusal("1:abc"), HasSubstr("is not one"));
  EXPECT_THAT(refusal(""), HasSubstr("is not one"));
}

TEST(Backoff, WaitsLongerEachTimeUpToALimit) {
  Backoff backoff;
  EXPECT_EQ(backoff.next(), Duration::zero());
  const Duration first = backoff.next();
  EXPECT_GE(first, 187ms);
  EXPECT_LE(first, 313ms);
  for (int i = 0; i < 40; ++i) backoff.next();
  EXPECT_GE(backoff.next(), 7500ms);
  EXPECT_LE(backoff.next(), 12500ms);
}

}
}
