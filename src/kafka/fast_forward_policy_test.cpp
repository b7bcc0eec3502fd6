#include <gtest/gtest.h>

#include <chrono>

#include "arrakis/kafka.hpp"

namespace arrakis {
namespace {

using std::chrono::seconds;

class FastForwardPolicyTest : public ::testing::Test {
 protected:
  FastForwardPolicy make(double budgets = 1.0, double floor = 10.0) {
    FastForwardPolicy::Options options;
    options.grace_budgets = budgets;
    options.grace_floor = floor;
    options.clock = [this] {
      ++clock_reads;
      return now;
    };
    return FastForwardPolicy(options);
  }
  double now = 100.0;
  int clock_reads = 0;
};

TEST_F(FastForwardPolicyTest, GraceIsTheGreaterOfFloorAndBudgets) {
  const FastForwardPolicy policy = make();
  EXPECT_EQ(policy.grace(std::chrono::milliseconds(100)), 10.0);
  EXPECT_EQ(policy.grace(seconds(5)), 10.0);
  EXPECT_EQ(policy.grace(seconds(60)), 60.0);
}

TEST_F(FastForwardPolicyTest, ForwardsOnlyAfterGraceWithoutInterruption) {
  FastForwardPolicy policy = make();
  now = 0;
  EXPECT_EQ(policy.observe("a", seconds(100), seconds(20)), LagAction::ok);
  now = 10;
  EXPECT_EQ(policy.observe("a", seconds(100), seconds(20)), LagAction::ok);
  now = 20;
  EXPECT_EQ(policy.observe("a", seconds(100), seconds(20)), LagAction::forward);
  EXPECT_EQ(policy.observe("a", seconds(100), seconds(20)), LagAction::forward);
}

TEST_F(FastForwardPolicyTest, OneBlockWithinBudgetRestartsTheGraceOfItsStreamOnly) {
  FastForwardPolicy policy = make();
  policy.observe("a", seconds(2), seconds(1));
  policy.observe("b", seconds(2), seconds(1));
  now += 9;
  EXPECT_EQ(policy.observe("a", seconds(1), seconds(1)), LagAction::ok);
  now += 1;
  EXPECT_EQ(policy.observe("a", seconds(2), seconds(1)), LagAction::ok);
  EXPECT_EQ(policy.observe("b", seconds(2), seconds(1)), LagAction::forward);
}

TEST_F(FastForwardPolicyTest, RecoversOnceAfterASkip) {
  FastForwardPolicy policy = make();
  policy.observe("a", seconds(2), seconds(1));
  policy.forwarded();
  EXPECT_EQ(policy.observe("a", seconds(0), seconds(1)), LagAction::recovered);
  EXPECT_EQ(policy.observe("a", seconds(0), seconds(1)), LagAction::ok);
}

TEST_F(FastForwardPolicyTest, AStreamThatIsStillBehindHoldsRecoveryBack) {
  FastForwardPolicy policy = make();
  policy.forwarded();
  policy.observe("a", seconds(2), seconds(1));
  EXPECT_EQ(policy.observe("b", seconds(0), seconds(1)), LagAction::ok);
  EXPECT_EQ(policy.observe("a", seconds(1), seconds(1)), LagAction::recovered);
}

TEST_F(FastForwardPolicyTest, WithoutBudgetOrGraceItNeverForwardsNorReadsTheClock) {
  FastForwardPolicy disabled = make(0.0);
  FastForwardPolicy policy = make();
  for (int i = 0; i < 3; ++i) {
    now += 1000;
    EXPECT_EQ(disabled.observe("a", seconds(100), seconds(1)), LagAction::ok);
    EXPECT_EQ(policy.observe("a", seconds(100), Duration::zero()), LagAction::ok);
  }
  EXPECT_EQ(clock_reads, 0);
}

}
}
