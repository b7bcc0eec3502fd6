#include "arrakis/time.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "arrakis/error.hpp"
#include "core/manual_clock.hpp"

namespace arrakis::inline v1 {
namespace {

using namespace std::chrono_literals;

constexpr auto kInt64Max = std::numeric_limits<std::int64_t>::max();
constexpr auto kInt64Min = std::numeric_limits<std::int64_t>::min();

GpsTime gps(std::int64_t seconds, Duration more = {}) {
  return GpsTime::from_seconds(seconds) + more;
}
UnixTime unix_time(std::int64_t seconds, Duration more = {}) {
  return UnixTime(std::chrono::seconds(seconds) + more);
}

TEST(GpsTime, ArithmeticSaturatesAtItsEnds) {
  EXPECT_EQ(GpsTime::max() + 1ns, GpsTime::max());
  EXPECT_EQ(GpsTime::min() - 1ns, GpsTime::min());
  EXPECT_EQ(GpsTime::min() + Duration::min(), GpsTime::min());
  EXPECT_EQ(GpsTime::from_ns(0) - Duration::min(), GpsTime::max());
  EXPECT_EQ(GpsTime::max() - GpsTime::min(), Duration::max());
  EXPECT_EQ(GpsTime::min() - GpsTime::max(), Duration::min());
}

TEST(GpsTime, WholeSecondsSaturate) {
  EXPECT_EQ(GpsTime::from_seconds(1'126'259'462).ns(), 1'126'259'462'000'000'000);
  EXPECT_EQ(GpsTime::from_seconds(-2).ns(), -2'000'000'000);
  EXPECT_EQ(GpsTime::from_seconds(kInt64Max), GpsTime::max());
  EXPECT_EQ(GpsTime::from_seconds(kInt64Min), GpsTime::min());
  EXPECT_EQ(GpsTime::from_seconds(std::numeric_limits<std::uint64_t>::max()), GpsTime::max());
}

TEST(GpsTime, GridRoundsTowardsThePastAndTheFutureAlsoBeforeTheEpoch) {
  EXPECT_EQ(GpsTime::from_ns(7).floor_to(5ns).ns(), 5);
  EXPECT_EQ(GpsTime::from_ns(7).ceil_to(5ns).ns(), 10);
  EXPECT_EQ(GpsTime::from_ns(10).ceil_to(5ns).ns(), 10);
  EXPECT_EQ(GpsTime::from_ns(-7).floor_to(5ns).ns(), -10);
  EXPECT_EQ(GpsTime::from_ns(-7).ceil_to(5ns).ns(), -5);
  EXPECT_TRUE(GpsTime::from_ns(-10).is_multiple_of(5ns));
  EXPECT_FALSE(GpsTime::from_ns(-9).is_multiple_of(5ns));
  EXPECT_EQ(GpsTime::min().floor_to(1s), GpsTime::min());
  EXPECT_EQ(GpsTime::max().ceil_to(1s), GpsTime::max());
}

TEST(GpsTime, DoubleMeansItsShortestDecimal) {
  EXPECT_EQ(GpsTime::from_seconds(1400000000.1).ns(), 1'400'000'000'100'000'000);
  EXPECT_EQ(GpsTime::from_seconds(1126259640.413).ns(), 1'126'259'640'413'000'000);
  EXPECT_EQ(GpsTime::from_seconds(1400000000.0078125).ns(), 1'400'000'000'007'812'500);
  EXPECT_EQ(GpsTime::from_seconds(0.1).ns(), 100'000'000);
  EXPECT_EQ(GpsTime::from_seconds(3.14).ns(), 3'140'000'000);
  EXPECT_EQ(GpsTime::from_seconds(-1.5).ns(), -1'500'000'000);
  EXPECT_EQ(GpsTime::from_seconds(-0.25).ns(), -250'000'000);
  EXPECT_EQ(GpsTime::from_seconds(-0.0).ns(), 0);
}

TEST(GpsTime, DigitsOfADoubleBelowANanosecondAreRounded) {
  EXPECT_EQ(GpsTime::from_seconds(0.9999999999).ns(), 1'000'000'000);
  EXPECT_EQ(GpsTime::from_seconds(1.0 / 3).ns(), 333'333'333);
  EXPECT_EQ(GpsTime::from_seconds(2.0 / 3).ns(), 666'666'667);
  EXPECT_EQ(GpsTime::from_seconds(-2.0 / 3).ns(), -666'666'667);
  EXPECT_EQ(GpsTime::from_seconds(std::numeric_limits<double>::denorm_min()).ns(), 0);
}

TEST(GpsTime, EveryTickOfA128thSecondSurvivesTheDouble) {
  for (std::int64_t i = 0; i < 128; ++i) {
    const GpsTime t = gps(1'400'000'000, Duration(i * 7'812'500));
    EXPECT_EQ(GpsTime::from_seconds(t.seconds()), t);
  }
}

TEST(GpsTime, DoublesThatAreNoTimeAreRefused) {
  const double bad[] = {std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity(),
                        1e10,
                        -1e300,
                        9223372037.0};
  for (const double seconds : bad) {
    try {
      GpsTime::from_seconds(seconds);
      ADD_FAILURE() << seconds;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::invalid_argument);
    }
    EXPECT_THROW(from_seconds(seconds), Error);
  }
  EXPECT_EQ(from_seconds(0.0625), 62'500us);
}

TEST(UnixTime, EpochsAndKnownInstants) {
  EXPECT_EQ(to_unix(gps(0)), unix_time(315'964'800));
  EXPECT_EQ(to_unix(gps(-5)), unix_time(315'964'795));
  EXPECT_EQ(to_unix(gps(1'126'259'462, 391ms)), unix_time(1'442'224'245, 391ms));
  EXPECT_EQ(from_unix(unix_time(0)), gps(-315'964'800));
  EXPECT_EQ(from_unix(unix_time(1'700'000'000)), gps(1'384'035'218));
}

TEST(UnixTime, TheSecondBeforeALeapSecondComesTwice) {
  EXPECT_EQ(to_unix(gps(1'167'264'016, 500ms)), unix_time(1'483'228'799, 500ms));
  EXPECT_EQ(to_unix(gps(1'167'264'017)), unix_time(1'483'228'799));
  EXPECT_EQ(to_unix(gps(1'167'264'017, 999'999'999ns)), unix_time(1'483'228'799, 999'999'999ns));
  EXPECT_EQ(to_unix(gps(1'167'264'018)), unix_time(1'483'228'800));
  EXPECT_EQ(from_unix(unix_time(1'483'228'799, 999'999'999ns)), gps(1'167'264'016, 999'999'999ns));
  EXPECT_EQ(from_unix(unix_time(1'483'228'800)), gps(1'167'264'018));
}

TEST(UnixTime, ConversionsSaturate) {
  EXPECT_EQ(to_unix(GpsTime::max()).time_since_epoch(), Duration::max());
  EXPECT_EQ(from_unix(UnixTime(Duration::min())), GpsTime::min());
  EXPECT_EQ(from_unix(to_unix(gps(1'480'000'000))), gps(1'480'000'000));
}

TEST(SystemClock, TellsGpsTime) {
  const auto unix_now = std::chrono::system_clock::now();
  const GpsTime now = system_clock().now();
  EXPECT_LT(now - from_unix(std::chrono::time_point_cast<Duration>(unix_now)), 10s);
  EXPECT_GT(now, gps(1'400'000'000));
  const Duration before = system_clock().monotonic();
  EXPECT_LE(before, system_clock().monotonic());
}

TEST(ManualClock, StandsStillUntilSet) {
  ManualClock clock(gps(100), 5s);
  EXPECT_EQ(clock.now(), gps(100));
  clock.advance(2s);
  EXPECT_EQ(clock.now(), gps(102));
  EXPECT_EQ(clock.monotonic(), 7s);
  clock.set_now(gps(50));
  EXPECT_EQ(clock.now(), gps(50));
  EXPECT_EQ(clock.monotonic(), 7s);
}

}  // namespace
}  // namespace arrakis::inline v1
