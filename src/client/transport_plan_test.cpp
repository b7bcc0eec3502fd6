#include "client/transport_plan.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "arrakis/error.hpp"
#include "testing/channels.hpp"
#include "wire/request.hpp"

namespace arrakis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::join;
using testing::make_partition;
using ::testing::SizeIs;
using Names = std::vector<std::string>;

constexpr GpsTime kSplit = GpsTime::from_seconds(1'400'000'000);

std::string ticket(const Names& channels, std::optional<GpsTime> start = {},
                   std::optional<GpsTime> end = {}) {
  StreamTicket made;
  made.channels = channels;
  made.start = start;
  made.end = end;
  return to_command(made);
}

FlightEndpoint offer(const std::string& ticket, Names locations = {}) {
  return {ticket, std::move(locations)};
}

TransportPlan plan_of(std::vector<FlightEndpoint> offers, const ChannelSet& channels,
                      bool avoid_direct) {
  const ServerUrl asked{"grpc", "info", 31206, "grpc://info:31206"};
  return plan_transport({asked, std::move(offers)}, channels, avoid_direct);
}

Names names_of(const ChannelSet& set) {
  Names names;
  for (const Channel& channel : set) names.push_back(channel.name());
  return names;
}

const ChannelSet kTwo(make_partition("P", 2));
const Names kBoth = {"X1:P-0", "X1:P-1"};

TEST(TransportPlan, AnEndpointIsReadWithItsOwnTicketFromItsLocations) {
  const std::string text = ticket(kBoth);
  const TransportPlan plan = plan_of({offer(text, {"grpc://a:1", "grpc://b:2"})}, kTwo, false);
  ASSERT_THAT(plan.relayed, SizeIs(1));
  EXPECT_THAT(plan.direct, IsEmpty());
  EXPECT_EQ(plan.relayed[0].ticket, text);
  EXPECT_THAT(plan.relayed[0].locations, ElementsAre("grpc://a:1", "grpc://b:2"));
  EXPECT_EQ(plan.relayed[0].asked.text, "grpc://info:31206");
  EXPECT_EQ(names_of(plan.relayed[0].channels), kBoth);
}

TEST(TransportPlan, BrokersThatComeFirstAreReadDirectlyAsOneList) {
  const TransportPlan plan =
      plan_of({offer(ticket({"X1:P-1"}), {"kafka://k1:9092", "kafka://k2:9092", "grpc://a:1"}),
               offer(ticket({"X1:P-0"}), {"kafka://k1:9092", "kafka://k2:9092", "grpc://a:1"})},
              kTwo, false);
  EXPECT_THAT(plan.relayed, IsEmpty());
  ASSERT_THAT(plan.direct, SizeIs(1));
  EXPECT_EQ(plan.direct[0].bootstrap, "k1:9092,k2:9092");
  EXPECT_EQ(names_of(plan.direct[0].channels), kBoth);
}

TEST(TransportPlan, BrokersThatAreToBeAvoidedAreReadThroughTheServerWhereThereIsOne) {
  const std::vector<FlightEndpoint> offers = {
      offer(ticket({"X1:P-0"}), {"kafka://k1:9092", "grpc://a:1"}),
      offer(ticket({"X1:P-1"}), {"kafka://k2:9092"})};
  const TransportPlan plan = plan_of(offers, kTwo, true);
  ASSERT_THAT(plan.relayed, SizeIs(1));
  EXPECT_THAT(plan.relayed[0].locations, ElementsAre("grpc://a:1"));
  ASSERT_THAT(plan.direct, SizeIs(1));
  EXPECT_EQ(plan.direct[0].bootstrap, "k2:9092");
}

TEST(TransportPlan, SlicesOfTimeWithTheSameChannelsAreLeftAsTheyAre) {
  const TransportPlan plan = plan_of({offer(ticket(kBoth, {}, {}), {"grpc://live:1"}),
                                      offer(ticket(kBoth, kSplit, kSplit), {"grpc://old:1"})},
                                     kTwo, false);
  ASSERT_THAT(plan.relayed, SizeIs(2));
  EXPECT_EQ(plan.relayed[0].channels.size(), 2U);
  EXPECT_TRUE(plan.relayed[0].channels.same_table(plan.relayed[1].channels));
  EXPECT_EQ(plan.relayed[1].start, kSplit);
}

TEST(TransportPlan, SlicesThatShareTheChannelsDifferentlyAreNarrowedToWhatTheyHaveInCommon) {
  const TransportPlan plan = plan_of(
      {offer(ticket(kBoth, kSplit, kSplit), {"grpc://old:1"}),
       offer(ticket({"X1:P-0"}), {"grpc://a:1"}), offer(ticket({"X1:P-1"}), {"grpc://b:1"})},
      kTwo, false);
  ASSERT_THAT(plan.relayed, SizeIs(4));
  for (const StreamEndpoint& endpoint : plan.relayed) {
    const auto received = parse_command(endpoint.ticket);
    EXPECT_EQ(std::get<StreamTicket>(received.request).channels, names_of(endpoint.channels));
    EXPECT_THAT(endpoint.channels, SizeIs(1));
  }
}

TEST(TransportPlan, ASplitRequestUsesServersWhereItCould) {
  const TransportPlan plan = plan_of({offer(ticket(kBoth, kSplit, kSplit), {"grpc://old:1"}),
                                      offer(ticket(kBoth), {"kafka://k1:9092", "grpc://a:1"})},
                                     kTwo, false);
  EXPECT_THAT(plan.direct, IsEmpty());
  EXPECT_THAT(plan.relayed, SizeIs(2));
}

TEST(TransportPlan, AChannelOfferedTwiceForOneTimeIsReadOnce) {
  const TransportPlan plan = plan_of(
      {offer(ticket(kBoth), {"grpc://a:1"}), offer(ticket(kBoth), {"grpc://b:1"})}, kTwo, false);
  ASSERT_THAT(plan.relayed, SizeIs(1));
  EXPECT_THAT(plan.relayed[0].locations, ElementsAre("grpc://a:1"));
}

template <typename F>
std::string refusal(Errc code, F call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(TransportPlan, ChannelsThatNobodyOffersAreNamed) {
  EXPECT_THAT(
      refusal(Errc::not_found, [] { (void)plan_of({offer(ticket({"X1:P-0"}))}, kTwo, false); }),
      HasSubstr("no valid endpoints for X1:P-1"));
  EXPECT_THAT(refusal(Errc::not_found, [] { (void)plan_of({}, kTwo, false); }),
              HasSubstr("no valid endpoints for X1:P-0, X1:P-1"));
}

TEST(TransportPlan, TicketsThatCanNotBeReadAreRefused) {
  EXPECT_THAT(refusal(Errc::protocol,
                      [] {
                        (void)plan_of({offer(to_command(PublishRequest{"X", {}}))}, kTwo, false);
                      }),
              HasSubstr("grpc://info:31206 answers a stream request with a ticket for Publish"));
  EXPECT_THROW((void)plan_of({offer("opaque")}, kTwo, false), Error);
}

}
}
