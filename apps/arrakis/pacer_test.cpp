#include "pacer.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace arrakis::cli {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

const GpsTime kStart = GpsTime::from_seconds(1'400'000'000);

class FixedClock final : public Clock {
 public:
  explicit FixedClock(GpsTime time) : time_(time) {}
  [[nodiscard]] GpsTime now() const override { return time_; }
  [[nodiscard]] Duration monotonic() const override { return time_.since_epoch(); }
  void set(GpsTime time) { time_ = time; }

 private:
  GpsTime time_;
};

TEST(Pacer, DoesNotWaitWithoutARate) {
  FixedClock clock(kStart - hours(1));
  Pacer pacer(0, clock);
  EXPECT_TRUE(pacer.wait(kStart, kStart + hours(1)));
}

TEST(Pacer, LetsABlockInWhenItsTimeHasCome) {
  FixedClock clock(kStart);
  Pacer pacer(1, clock);
  EXPECT_EQ(pacer.left(kStart, kStart + milliseconds(100)), milliseconds(100));
  clock.set(kStart + milliseconds(100));
  EXPECT_TRUE(pacer.wait(kStart, kStart + milliseconds(100)));
  EXPECT_EQ(pacer.left(kStart + milliseconds(100), kStart + hours(1)),
            hours(1) - milliseconds(100));
}

TEST(Pacer, CountsOldBlocksFromTheMomentOfTheFirst) {
  FixedClock clock(kStart + hours(1000));
  Pacer pacer(1, clock);
  EXPECT_EQ(pacer.left(kStart, kStart + hours(1)), hours(1));
  clock.set(kStart + hours(1001));
  EXPECT_TRUE(pacer.wait(kStart, kStart + hours(1)));
  EXPECT_EQ(pacer.left(kStart + hours(1), kStart + hours(3)), hours(2));
}

TEST(Pacer, ARateShortensTheWait) {
  FixedClock clock(kStart);
  Pacer pacer(10, clock);
  EXPECT_EQ(pacer.left(kStart, kStart + hours(10)), hours(1));
  EXPECT_EQ(Pacer(0.5, clock).left(kStart, kStart + hours(1)), hours(2));
}

TEST(Pacer, WaitsForAStartToCome) {
  FixedClock clock(kStart - hours(1));
  Pacer pacer(1, clock);
  EXPECT_EQ(pacer.left(kStart, kStart + milliseconds(100)), hours(1) + milliseconds(100));
}

TEST(Pacer, StopEndsTheWait) {
  FixedClock clock(kStart - hours(1));
  Pacer pacer(1, clock);
  bool let_in = true;
  std::thread waiting([&] { let_in = pacer.wait(kStart, kStart); });
  pacer.stop();
  waiting.join();
  EXPECT_FALSE(let_in);
  EXPECT_TRUE(pacer.stopped());
}

}  // namespace
}
