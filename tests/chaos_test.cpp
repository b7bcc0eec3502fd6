/// Brokers that die, hang and come back under readers and publishers: nothing that was confirmed is
/// lost, nothing comes twice or in another order, and everything flows again soon.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arrakis/arrakis.hpp"
#include "testing/channels.hpp"
#include "testing/chaos.hpp"
#include "testing/eventually.hpp"
#include "testing/real_broker.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using testing::eventually;
using testing::kPatience;
using testing::make_topics;
using testing::RealBroker;
using testing::RealCluster;
using testing::Traffic;
using Steady = std::chrono::steady_clock;

/// What the broker's return may cost.
constexpr Duration kRecovery = 5s;

TEST(Chaos, BrokerKilledTwentyTimesLosesNothingAndEveryPartitionFlowsAgainSoon) {
  constexpr int kTopics = 20;
  constexpr int kKills = 20;
  RealBroker broker({.fast_fencing = true, .settings = {}});
  Traffic traffic(broker.bootstrap(), make_topics(broker, kTopics));
  std::vector<double> recoveries;
  for (int i = 0; i < kKills; ++i) {
    // Not always at the same place of the traffic.
    ASSERT_TRUE(traffic.goes_on(2 + i * 7 % 11)) << "before kill " << i;
    broker.kill();
    broker.restart();
    recoveries.push_back(traffic.time_to_flow(Steady::now()));
  }
  EXPECT_THAT(recoveries,
              ::testing::Each(::testing::Le(std::chrono::duration<double>(kRecovery).count())));
  traffic.expect_everything_came();
  // Each outage is told once, and once that it is over.
  const auto began = traffic.reader.events_of<events::OutageBegan>().size();
  EXPECT_GE(began, 1U);
  EXPECT_LE(began, static_cast<std::size_t>(kKills));
  EXPECT_EQ(traffic.reader.events_of<events::OutageEnded>().size(), began);
}

TEST(Chaos, BrokerThatHangsForAMinuteLosesNothingAndEveryPartitionFlowsAgainSoon) {
  constexpr int kTopics = 20;
  constexpr Duration kHang = 60s;
  RealBroker broker({.fast_fencing = true, .settings = {}});
  Traffic traffic(broker.bootstrap(), make_topics(broker, kTopics));
  ASSERT_TRUE(traffic.goes_on(16));
  broker.freeze();
  std::this_thread::sleep_for(kHang);  // the length is what is tried
  broker.thaw();
  EXPECT_LE(traffic.time_to_flow(Steady::now()), std::chrono::duration<double>(kRecovery).count());
  ASSERT_TRUE(traffic.goes_on(16));
  traffic.expect_everything_came();
}

TEST(Chaos, ABrokerThatItsControllerGivesUpAgainAndAgainIsNeverGivenUpByItsClients) {
  // It calls its controller less often than that waits for it. Until the next call it leads
  // nothing, and tells its clients that there are topics but no broker at all.
  RealBroker broker({.fast_fencing = false,
                     .settings = {{"broker.session.timeout.ms", "1000"},
                                  {"broker.heartbeat.interval.ms", "2000"}}});
  std::vector<Channel> channels;
  for (const char* partition : {"A", "B", "C", "D"}) {
    ASSERT_TRUE(eventually(
        [&] {
          try {
            broker.create_topic(std::string("arrakis-") + partition);
            return true;
          } catch (const std::exception&) {
            return false;  // at the moment it has nowhere to put it
          }
        },
        kPatience));
    channels.push_back(testing::make_channel(std::string("X1:CHAOS-") + partition, partition, 0));
  }
  Traffic traffic(broker.bootstrap(), ChannelSet(std::move(channels)));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(traffic.goes_on(40)) << "part " << i;
  traffic.expect_everything_came();
}

TEST(Chaos, ANodeOfAClusterThatIsKilledStopsNothingAndLosesNothing) {
  constexpr int kTopics = 6;
  RealCluster cluster({.fast_fencing = true, .settings = {}});
  Traffic traffic(cluster.bootstrap(), make_topics(cluster, kTopics));
  // One of them is the controller, and each leads some of the topics.
  for (std::size_t node = 0; node < RealCluster::kNodes; ++node) {
    ASSERT_TRUE(traffic.goes_on(16)) << "before node " << node << " is killed";
    cluster.kill(node);
    ASSERT_TRUE(traffic.goes_on(16)) << "without node " << node;
    cluster.restart(node);
    ASSERT_TRUE(traffic.goes_on(16)) << "after node " << node << " has come back";
  }
  traffic.expect_everything_came();
}

TEST(Chaos, ANodeOfAClusterThatHangsStopsNothingAndLosesNothing) {
  constexpr int kTopics = 6;
  RealCluster cluster({.fast_fencing = true, .settings = {}});
  Traffic traffic(cluster.bootstrap(), make_topics(cluster, kTopics));
  ASSERT_TRUE(traffic.goes_on(16));
  cluster.freeze(0);
  EXPECT_TRUE(traffic.goes_on(64));
  cluster.thaw(0);
  ASSERT_TRUE(traffic.goes_on(16));
  traffic.expect_everything_came();
}

}
}
