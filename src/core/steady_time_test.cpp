#include "core/steady_time.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "core/manual_clock.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;

class SteadyTimeTest : public ::testing::Test {
 protected:
  static constexpr GpsTime kBase = GpsTime::from_ns(1'400'000'000'000'000'000);
  static constexpr Duration kWindow = 2s;

  /// The wall clock alone.
  void set_by(Duration step) { clock_.set_now(clock_.now() + step); }
  /// Time passes, with data of the true time, which is `off` from the wall clock.
  void pass(Duration time, Duration off) {
    for (Duration t{}; t < time; t += 1s) {
      clock_.advance(1s);
      steady_.now();
      steady_.saw(clock_.now() + off - 1s, kWindow);
    }
  }

  ManualClock clock_{kBase, 100s};
  SteadyTime steady_{clock_};
};

TEST_F(SteadyTimeTest, FollowsTheClockAndItsSmallCorrections) {
  clock_.advance(5s);
  EXPECT_EQ(steady_.now(), kBase + 5s);
  set_by(-900ms);
  EXPECT_EQ(steady_.now(), kBase + 5s - 900ms);
}

TEST_F(SteadyTimeTest, ClockSetWrongIsNotFollowedWhileDataTellsTheOldTime) {
  for (const Duration step : {Duration(1h), Duration(-2h)}) {
    set_by(step);
    pass(60s, -step);
    EXPECT_EQ(steady_.now(), clock_.now() - step);
    set_by(-step);
    EXPECT_EQ(steady_.now(), clock_.now());
  }
}

TEST_F(SteadyTimeTest, ClockSetRightIsFollowedWithTheFirstDataThatTells) {
  // The clock was an hour slow: the data was ahead of it.
  pass(5s, 1h);
  set_by(1h);
  EXPECT_EQ(steady_.now(), clock_.now() - 1h);
  pass(1s, 0s);
  EXPECT_EQ(steady_.now(), clock_.now());
}

TEST_F(SteadyTimeTest, WithoutDataTheClockIsFollowedAfterAWhile) {
  set_by(1h);
  steady_.now();
  clock_.advance(SteadyTime::kPatience - 1ns);
  EXPECT_EQ(steady_.now(), clock_.now() - 1h);
  clock_.advance(1ns);
  EXPECT_EQ(steady_.now(), clock_.now());
}

TEST_F(SteadyTimeTest, OldDataSpeaksForNeither) {
  set_by(1h);
  pass(SteadyTime::kPatience + 1s, -100h);
  EXPECT_EQ(steady_.now(), clock_.now());
}

}
}
