#include "common/stop_signals.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <future>

namespace arrakis::console {
namespace {

using std::chrono::seconds;

TEST(StopSignals, CallsTheActionAndRemembersTheSignal) {
  std::promise<void> called;
  StopSignals signals([&] { called.set_value(); });
  EXPECT_FALSE(signals.received());
  std::raise(SIGTERM);
  ASSERT_EQ(called.get_future().wait_for(seconds(10)), std::future_status::ready);
  EXPECT_EQ(signals.received(), SIGTERM);
}

TEST(StopSignals, AnActionThatComesAfterTheSignalIsCalledAtOnce) {
  std::promise<void> called;
  StopSignals signals([&] { called.set_value(); });
  std::raise(SIGINT);
  ASSERT_EQ(called.get_future().wait_for(seconds(10)), std::future_status::ready);
  bool stopped = false;
  {
    const ScopedStopAction scoped(signals, [&] { stopped = true; });
    EXPECT_TRUE(stopped);
  }
}

/// Tests of how a process ends. They run it anew, because a fork has no watching thread.
class StopSignalsDeathTest : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(StopSignalsDeathTest, WithoutAnActionTheProcessEnds) {
  EXPECT_EXIT(
      {
        const StopSignals signals;
        std::raise(SIGINT);
        ::sleep(10);
      },
      testing::ExitedWithCode(130), "");
}

TEST_F(StopSignalsDeathTest, ASecondCtrlCEndsAProcessThatDoesNotStop) {
  EXPECT_EXIT(
      {
        const StopSignals signals([] {});
        std::raise(SIGINT);
        std::raise(SIGINT);
        ::sleep(10);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST_F(StopSignalsDeathTest, GivesTheSignalsBack) {
  {
    const StopSignals signals([] {});
  }
  EXPECT_EXIT(std::raise(SIGTERM), testing::KilledBySignal(SIGTERM), "");
}

TEST(StopSignals, StatusIsTheOneOfShells) {
  EXPECT_EQ(StopSignals::status(SIGINT), 130);
  EXPECT_EQ(StopSignals::status(SIGTERM), 143);
}

}  // namespace
}
