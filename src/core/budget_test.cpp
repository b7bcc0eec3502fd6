#include "core/budget.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace arrakis::inline v1 {
namespace {

using namespace std::chrono_literals;
using Span = std::optional<Duration>;

struct Contract {
  Span stride;
  Span max_latency;
};

std::vector<Channel> channels(const std::vector<Contract>& contracts) {
  std::vector<Channel> all;
  for (const Contract& contract : contracts) {
    all.emplace_back("X1:A-" + std::to_string(all.size()), DataType::float32, SampleRate(16));
    all.back().stride = contract.stride;
    all.back().max_latency = contract.max_latency;
  }
  return all;
}

GpsTime gps(std::int64_t seconds) { return GpsTime::from_seconds(seconds); }

TEST(CheckedLcm, GivesTheLeastCommonMultipleOrNothing) {
  EXPECT_EQ(checked_lcm(250ms, 375ms), 750ms);
  EXPECT_EQ(checked_lcm(1s, 1s), 1s);
  EXPECT_EQ(checked_lcm(333'333'333ns, 500ms), 166'666'666'500'000'000ns);
  EXPECT_EQ(checked_lcm(Duration::max(), Duration::max()), Duration::max());
  EXPECT_EQ(checked_lcm(Duration::max(), 2ns), std::nullopt);
}

TEST(CommonStride, IsTheLcmOfAllStrides) {
  EXPECT_EQ(common_stride(channels({{3ns, {}}, {4ns, {}}, {6ns, {}}})).value(), 12ns);
  EXPECT_EQ(common_stride(channels({{62'500us, {}}})).value(), 62'500us);
}

TEST(CommonStride, NamesAChannelWithoutStride) {
  for (const Span stride : {Span(), Span(0ns), Span(-1s)}) {
    const auto result = common_stride(channels({{1s, {}}, {stride, {}}}));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), Errc::precondition);
    EXPECT_NE(std::string(result.error().what()).find("'X1:A-1'"), std::string::npos);
  }
  EXPECT_FALSE(common_stride({}));
}

TEST(CommonStride, NamesTheChannelsWhoseStridesClash) {
  const auto result =
      common_stride(channels({{1s, {}}, {4'000'000'007ns, {}}, {2s, {}}, {9'000'000'011ns, {}}}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Errc::precondition);
  const std::string what = result.error().what();
  EXPECT_NE(what.find("X1:A-1"), std::string::npos) << what;
  EXPECT_NE(what.find("X1:A-3"), std::string::npos) << what;
}

TEST(GreatestLatency, CountsZeroButNotAbsence) {
  EXPECT_EQ(greatest_latency({}), std::nullopt);
  EXPECT_EQ(greatest_latency(channels({{1s, {}}})), std::nullopt);
  EXPECT_EQ(greatest_latency(channels({{1s, {}}, {1s, 0s}})), 0s);
  EXPECT_EQ(greatest_latency(channels({{1s, 3s}, {1s, 2s}, {1s, {}}})), 3s);
}

TEST(LatencyBudget, IsLatencyPlusCommonStride) {
  EXPECT_EQ(latency_budget(channels({{62'500us, 1s}})), 1'062'500us);
  EXPECT_EQ(latency_budget(channels({{250ms, 1s}, {375ms, 2s}})), 2'750ms);
  EXPECT_EQ(latency_budget(channels({{1s, {}}, {1s, 2s}})), 3s);
}

TEST(LatencyBudget, AChannelWithoutStrideTakesTheHeadroomAway) {
  EXPECT_EQ(latency_budget(channels({{{}, 2s}, {1s, 2s}})), 2s);
  EXPECT_EQ(latency_budget(channels({{0s, 2s}, {1s, 2s}})), 2s);
}

TEST(LatencyBudget, WithoutLatencyAboveZeroNothingIsBehind) {
  EXPECT_EQ(latency_budget(channels({{1s, {}}})), 0s);
  EXPECT_EQ(latency_budget(channels({{1s, 0s}})), 0s);
  EXPECT_EQ(latency_budget({}), 0s);
}

TEST(LatencyBudget, StridesWithoutCommonMultipleSaturate) {
  EXPECT_EQ(latency_budget(channels({{4'000'000'007ns, 1s}, {9'000'000'011ns, 1s}})),
            Duration::max());
  EXPECT_EQ(latency_budget(channels({{1s, Duration::max()}})), Duration::max());
}

TEST(RelayTimeout, AddsGraceOfTwoStridesOrTwoSeconds) {
  EXPECT_EQ(relay_timeout(channels({{62'500us, 1s}})), 3'062'500us);
  EXPECT_EQ(relay_timeout(channels({{1s, 60s}, {2s, 30s}})), 66s);
  EXPECT_EQ(relay_timeout(channels({{1s, {}}, {{}, 2s}})), 5s);
}

TEST(RelayTimeout, IsZeroWithoutLatencyOrStride) {
  EXPECT_EQ(relay_timeout(channels({{1s, {}}})), 0s);
  EXPECT_EQ(relay_timeout(channels({{1s, 0s}})), 0s);
  EXPECT_EQ(relay_timeout(channels({{{}, 2s}})), 0s);
  EXPECT_EQ(relay_timeout(channels({{Duration::max(), 2s}})), Duration::max());
}

TEST(RelayStallBound, NeedsALatency) {
  EXPECT_EQ(relay_stall_bound(channels({{62'500us, 1s}})), 31'062'500us);
  EXPECT_EQ(relay_stall_bound(channels({{{}, 2s}})), 32s);
  EXPECT_EQ(relay_stall_bound(channels({{1s, 0s}})), std::nullopt);
  EXPECT_EQ(relay_stall_bound(channels({{1s, {}}})), std::nullopt);
}

TEST(LiveQueueBatches, HoldsTwoContractsAndAtLeastSixteen) {
  EXPECT_EQ(live_queue_batches(channels({{62'500us, 1s}})), 34U);
  EXPECT_EQ(live_queue_batches(channels({{62'500us, 1s}, {1s, 12s}})), 26U);
  EXPECT_EQ(live_queue_batches(channels({{3s, 25s}})), 19U);
  EXPECT_EQ(live_queue_batches(channels({{10ms, 100s}})), 20'002U);
  EXPECT_EQ(live_queue_batches(channels({{1s, 0s}})), 16U);
}

TEST(LiveQueueBatches, HasADefaultWhereNothingIsDeclared) {
  EXPECT_EQ(live_queue_batches(channels({{1s, {}}})), 2'048U);
  EXPECT_EQ(live_queue_batches(channels({{{}, 2s}})), 2'048U);
  EXPECT_EQ(live_queue_batches({}), 2'048U);
}

TEST(PrefetchKbytes, GrowsWithThePartitionsBetweenItsLimits) {
  EXPECT_EQ(prefetch_kbytes(0), 4'096U);
  EXPECT_EQ(prefetch_kbytes(4), 4'096U);
  EXPECT_EQ(prefetch_kbytes(5), 5'120U);
  EXPECT_EQ(prefetch_kbytes(64), 65'536U);
  EXPECT_EQ(prefetch_kbytes(std::numeric_limits<std::size_t>::max()), 65'536U);
}

TEST(ReplayOffset, MovesEveryTimeIntoTheWindow) {
  const GpsTime start = gps(1'000'000'000);
  const GpsTime end = gps(1'000'086'400);
  EXPECT_EQ(replay_offset(start, end, start), 0s);
  EXPECT_EQ(replay_offset(start, end, end - 1ns), 0s);
  EXPECT_EQ(replay_offset(start, end, end), 86'400s);
  EXPECT_EQ(replay_offset(start, end, start - 1ns), -86'400s);
  EXPECT_EQ(gps(1'400'000'000) - replay_offset(start, end, gps(1'400'000'000)), gps(1'000'054'400));
}

TEST(ReplayOffset, ExtremesSaturateInsteadOfOverflowing) {
  EXPECT_EQ(replay_offset(GpsTime::max() - 1ns, GpsTime::max(), GpsTime::min()), Duration::min());
  EXPECT_EQ(replay_offset(GpsTime::min(), GpsTime::max(), GpsTime::max()), Duration::max());
  EXPECT_EQ(replay_offset(gps(5), gps(5), gps(7)), 0s);
}

}  // namespace
}  // namespace arrakis::inline v1
