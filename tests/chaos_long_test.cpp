/// Brokers that stay away for long, see chaos_test.cpp.

#include <gtest/gtest.h>

#include "arrakis/arrakis.hpp"
#include "testing/chaos.hpp"
#include "testing/real_broker.hpp"

namespace arrakis {
namespace {

using testing::make_topics;
using testing::RealCluster;
using testing::Traffic;

TEST(Chaos, ANodeThatStaysAwayIsToldOnceWhileTheOthersCarryOn) {
  RealCluster cluster({.fast_fencing = true, .settings = {}});
  Traffic traffic(cluster.bootstrap(), make_topics(cluster, 6));
  ASSERT_TRUE(traffic.goes_on(16));
  cluster.kill(2);
  ASSERT_TRUE(traffic.goes_on(45 * 16));  // seconds of traffic, each ends the outage it finds
  traffic.expect_everything_came();
  EXPECT_EQ(traffic.reader.events_of<events::OutageBegan>().size(), 1U);
}

}
}
