#pragma once

/// Which channel is read from where: Kafka itself where a server names brokers, Flight elsewhere.

#include <string>
#include <vector>

#include "arrakis/channel.hpp"
#include "client/server_calls.hpp"
#include "flight/flight_reader.hpp"

namespace arrakis::inline v1 {

/// Channels to be read from one set of brokers.
struct DirectRead {
  std::string bootstrap;  ///< "host:port[,host:port…]"
  ChannelSet channels;
};

struct TransportPlan {
  std::vector<DirectRead> direct;
  std::vector<StreamEndpoint> relayed;
};

/// Every channel once at every time. Of two endpoints that offer the same for the same time the
/// first one has it; where endpoints share the channels differently at different times, tickets are
/// narrowed until those of all times are for the same sets, which are then streams of their own.
/// Brokers are read directly unless `avoid_direct`, or the request is split over time, and there is
/// another way. Throws Error(not_found) that names channels which nobody offers, Error(protocol)
/// for a ticket that can't be read.
TransportPlan plan_transport(const FlightEndpoints& offers, const ChannelSet& channels,
                             bool avoid_direct);

}  // namespace arrakis::inline v1
