#include "soak/judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "arrakis/block.hpp"
#include "soak/journal.hpp"

namespace arrakis::soak {
namespace {

using ::testing::HasSubstr;

constexpr Duration kStride = std::chrono::microseconds(62500);

/// Two topics of which blocks 0 to 9 were published and confirmed.
class JudgeTest : public ::testing::Test {
 protected:
  JudgeTest() {
    for (std::int64_t n = 0; n < 10; ++n) {
      for (std::size_t t = 0; t < topics_.size(); ++t) {
        ledger_.sent(t, n);
        ledger_.ended(t, n, true);
      }
    }
  }
  /// As a reader delivers it; the topics in `gaps` are missing.
  SeriesBlock block(std::int64_t number, const std::vector<std::size_t>& gaps = {}) const {
    return block_with_values_of(number, number, gaps);
  }
  SeriesBlock block_with_values_of(std::int64_t number, std::int64_t other,
                                   const std::vector<std::size_t>& gaps = {}) const {
    std::vector<Channel> channels;
    for (const Topic& topic : topics_) {
      channels.insert(channels.end(), topic.channels.begin(), topic.channels.end());
    }
    BlockBuilder builder(ledger_.time_of(number), ChannelSet(channels));
    for (std::size_t t = 0; t < topics_.size(); ++t) {
      const std::vector<bool> flags(4, std::find(gaps.begin(), gaps.end(), t) != gaps.end());
      for (std::size_t c = 0; c < topics_[t].channels.size(); ++c) {
        std::vector<float> samples(4);
        for (std::size_t i = 0; i < 4; ++i) samples[i] = sample_value(other, c, i);
        builder.set<float>(topics_[t].channels[c].name(), samples, flags);
      }
    }
    return builder.build();
  }
  /// What a stream would have counted that delivered what the judge has seen.
  StreamStats honest() const {
    const Tally& tally = judge_.tally();
    return {.blocks = tally.blocks, .parts = tally.data, .gap_slots = tally.gaps};
  }

  const std::vector<Topic> topics_ = make_topics(2);
  Ledger ledger_{GpsTime(), kStride, 2};
  Judge judge_{ledger_, topics_};
};

TEST_F(JudgeTest, WhatWasPublishedInOrderIsRight) {
  for (std::int64_t n = 2; n < 8; ++n) EXPECT_EQ(judge_.check(block(n)), std::nullopt);
  EXPECT_EQ(judge_.settle(honest(), {}), std::nullopt);
  EXPECT_EQ(judge_.tally().data, 12U);
  EXPECT_EQ(judge_.newest(1), 7);
}

TEST_F(JudgeTest, ABlockLeftOutRepeatedOrOutOfOrderIsFound) {
  for (const std::int64_t next : {5, 3, 2}) {
    Judge judge(ledger_, topics_);
    ASSERT_EQ(judge.check(block(3)), std::nullopt);
    EXPECT_THAT(judge.check(block(next)).value_or(""), HasSubstr("follows one that ends"));
  }
}

TEST_F(JudgeTest, AWrongValueIsFound) {
  EXPECT_THAT(judge_.check(block_with_values_of(3, 4)).value_or(""),
              HasSubstr("sample 0 of X1:soak-0-0 is 4, not 3"));
}

TEST_F(JudgeTest, ABlockThatWasNeverSentIsFound) {
  EXPECT_THAT(judge_.check(block(10)).value_or(""), HasSubstr("never sent"));
}

TEST_F(JudgeTest, AConfirmedBlockThatDidNotComeMustBeCounted) {
  ASSERT_EQ(judge_.check(block(3)), std::nullopt);
  ASSERT_EQ(judge_.check(block(4, {1})), std::nullopt);
  Judge other = judge_;
  EXPECT_THAT(judge_.settle(honest(), {}).value_or(""), HasSubstr("block 4 of arrakis-soak-1"));
  StreamStats stats = honest();
  stats.late = 1;
  stats.parts += 1;
  EXPECT_EQ(other.settle(stats, {}), std::nullopt);
}

TEST_F(JudgeTest, ABlockConfirmedOnlyAfterItsGapMustBeCounted) {
  ledger_.sent(0, 10);
  ledger_.sent(1, 10);
  ledger_.ended(0, 10, true);
  ASSERT_EQ(judge_.check(block(10, {1})), std::nullopt);
  Judge other = judge_;
  EXPECT_EQ(other.settle(honest(), {}), std::nullopt);
  ledger_.ended(1, 10, true);
  EXPECT_THAT(judge_.settle(honest(), {}).value_or(""), HasSubstr("block 10 of arrakis-soak-1"));
}

TEST_F(JudgeTest, WhatADeletedTopicHeldMayBeLostButNotWhatCameAfter) {
  ledger_.begin_loss(1);
  ASSERT_EQ(judge_.check(block(4, {1})), std::nullopt);
  ledger_.end_loss(1);
  ASSERT_EQ(judge_.check(block(5, {1})), std::nullopt);
  ASSERT_EQ(judge_.settle_without_loss(), std::nullopt);
  for (std::int64_t n = 6; n < 10; ++n) ASSERT_EQ(judge_.check(block(n)), std::nullopt);
  for (std::size_t t = 0; t < 2; ++t) {
    ledger_.sent(t, 10);
    ledger_.ended(t, 10, true);
  }
  ASSERT_EQ(judge_.check(block(10, {1})), std::nullopt);
  EXPECT_THAT(judge_.settle_without_loss().value_or(""), HasSubstr("1 confirmed block(s)"));
}

TEST_F(JudgeTest, WhatAReaderSaidThatItSkippedMayBeMissing) {
  ASSERT_EQ(judge_.check(block(3)), std::nullopt);
  judge_.on_event(events::SkippedAhead{.stream = "s", .target = ledger_.time_of(6)});
  ASSERT_EQ(judge_.check(block(4, {0, 1})), std::nullopt);
  ASSERT_EQ(judge_.check(block(5, {0})), std::nullopt);
  Judge other = judge_;
  EXPECT_EQ(other.settle(honest(), {}), std::nullopt);
  ASSERT_EQ(judge_.check(block(6, {0})), std::nullopt);
  EXPECT_THAT(judge_.settle(honest(), {}).value_or(""), HasSubstr("block 6 of arrakis-soak-0"));
}

TEST_F(JudgeTest, CountersThatDisagreeWithWhatCameAreFound) {
  ASSERT_EQ(judge_.check(block(3)), std::nullopt);
  StreamStats stats = honest();
  stats.gap_slots = 1;
  EXPECT_THAT(judge_.settle(stats, {}).value_or(""), HasSubstr("counted"));
  stats = honest();
  stats.parts = 1;
  EXPECT_THAT(judge_.settle(stats, {}).value_or(""), HasSubstr("part(s) were received"));
}

TEST_F(JudgeTest, AnOutageWithoutAnEndIsFound) {
  judge_.on_event(events::OutageBegan{.stream = "b/p", .reason = "gone"});
  Judge other = judge_;
  EXPECT_THAT(judge_.settle(honest(), {}).value_or(""), HasSubstr("b/p: 1 outage(s)"));
  other.on_event(events::OutageEnded{.stream = "b/p"});
  other.on_event(events::TopicMissing{.topic = "t"});
  EXPECT_THAT(other.settle(honest(), {}).value_or(""), HasSubstr("t: missing"));
}

TEST(Journal, KeepsTheFirstViolationAndDrawsWhatWasMeasured) {
  Journal journal(false);
  journal.act("kill", "the broker is killed");
  journal.age(std::chrono::milliseconds(3));
  journal.measure();
  journal.measure();
  journal.violation("first");
  journal.violation("second");
  EXPECT_EQ(journal.failure(), "first");
  EXPECT_THAT(journal.log(), HasSubstr("kill       the broker is killed"));
  EXPECT_THAT(journal.summary(), HasSubstr("1 kill"));
  EXPECT_THAT(journal.summary(), HasSubstr("max 3 ms"));
  const std::string svg = draw_svg({{.at = 1, .memory = 10, .median_age = 1, .greatest_age = 2},
                                    {.at = 2, .memory = 20, .median_age = 1, .greatest_age = 2}},
                                   {{.at = 1, .kind = "kill", .text = ""}});
  EXPECT_THAT(svg, HasSubstr(">kill</text>"));
  EXPECT_THAT(svg, HasSubstr("</svg>"));
}

}
}
