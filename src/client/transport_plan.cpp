#include "client/transport_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "arrakis/error.hpp"
#include "flight/server_url.hpp"
#include "wire/request.hpp"

namespace arrakis::inline v1 {

namespace {

constexpr std::size_t kMostNamed = 5;

/// An offer whose ticket has been read.
struct Offer {
  StreamTicket ticket;
  std::string ticket_text;
  std::string brokers;                 // of its kafka locations; empty: none
  std::vector<std::string> locations;  // the others
  bool prefers_brokers = false;
  ServerUrl asked;
};

Offer read_offer(const FlightEndpoint& endpoint, const ServerUrl& asked) {
  Offer offer;
  offer.ticket_text = endpoint.ticket;
  offer.asked = asked;
  const ReceivedRequest received = parse_command(endpoint.ticket);
  const auto* ticket = std::get_if<StreamTicket>(&received.request);
  if (ticket == nullptr) {
    throw Error(Errc::protocol, fmt::format("{} answers a stream request with a ticket for {}",
                                            asked.text, name_of(received.request)));
  }
  offer.ticket = *ticket;
  offer.brokers = kafka_bootstrap(endpoint.locations);
  std::copy_if(endpoint.locations.begin(), endpoint.locations.end(),
               std::back_inserter(offer.locations),
               [](const std::string& location) { return !is_kafka_location(location); });
  offer.prefers_brokers =
      !endpoint.locations.empty() && is_kafka_location(endpoint.locations.front());
  return offer;
}

bool is_split_over_time(const std::vector<Offer>& offers) {
  return std::any_of(offers.begin(), offers.end(), [&](const Offer& offer) {
    return offer.ticket.start != offers.front().ticket.start;
  });
}

/// Makes the plan, channel by channel.
class Planner {
 public:
  Planner(std::vector<Offer> offers, const ChannelSet& channels, bool avoid_direct)
      : offers_(std::move(offers)), channels_(channels) {
    const bool is_split = is_split_over_time(offers_);
    for (const Offer& offer : offers_) {
      const bool has_other_way = !offer.locations.empty();
      is_direct_.push_back(offer.prefers_brokers && !(has_other_way && (avoid_direct || is_split)));
      if (is_direct_.back() && is_split) {
        throw Error(Errc::unsupported,
                    fmt::format("{} splits the request over time and offers part of it from "
                                "brokers ({}) alone: ask for one side of the split",
                                offer.asked.text, offer.brokers));
      }
    }
  }

  TransportPlan plan() {
    find_offers();
    for (std::size_t c = 0; c < channels_.size(); ++c) assign(c);
    require_all_offered();
    TransportPlan plan;
    for (auto& [brokers, members] : direct_) {
      plan.direct.push_back({brokers, ChannelSet(std::move(members))});
    }
    for (auto& [signature, members] : relayed_) {
      const ChannelSet set(std::move(members));
      for (const std::size_t o : signature) plan.relayed.push_back(endpoint_for(o, set));
    }
    return plan;
  }

 private:
  /// By channel, the offers that have it.
  void find_offers() {
    offers_of_.resize(channels_.size());
    for (std::size_t o = 0; o < offers_.size(); ++o) {
      for (const std::string& name : offers_[o].ticket.channels) {
        if (const auto c = channels_.find(name)) offers_of_[*c].push_back(o);
      }
    }
  }

  void assign(std::size_t c) {
    const Channel& channel = channels_[c];
    const std::vector<std::size_t>& offers = offers_of_[c];
    const auto direct =
        std::find_if(offers.begin(), offers.end(), [&](std::size_t o) { return is_direct_[o]; });
    if (direct != offers.end()) {
      direct_[offers_[*direct].brokers].push_back(channel);
      return;
    }
    // Of those for the same time, the first.
    std::vector<std::size_t> signature;
    for (const std::size_t o : offers) {
      if (std::none_of(signature.begin(), signature.end(), [&](std::size_t other) {
            return offers_[other].ticket.start == offers_[o].ticket.start;
          })) {
        signature.push_back(o);
      }
    }
    if (signature.empty()) {
      missing_.push_back(channel.name());
    } else {
      relayed_[signature].push_back(channel);
    }
  }

  void require_all_offered() const {
    if (missing_.empty()) return;
    std::vector<std::string> named = missing_;
    if (named.size() > kMostNamed) named.resize(kMostNamed);
    const std::string more = missing_.size() > named.size()
                                 ? fmt::format(" and {} more", missing_.size() - named.size())
                                 : "";
    throw Error(Errc::not_found,
                fmt::format("no valid endpoints for {}{}", fmt::join(named, ", "), more));
  }

  [[nodiscard]] StreamEndpoint endpoint_for(std::size_t o, const ChannelSet& set) const {
    const Offer& offer = offers_[o];
    StreamEndpoint endpoint{offer.ticket_text,  offer.locations, offer.asked, set,
                            offer.ticket.start, offer.ticket.end};
    if (set.size() == offer.ticket.channels.size()) return endpoint;
    StreamTicket narrowed = offer.ticket;
    narrowed.channels.clear();
    for (const Channel& channel : set) narrowed.channels.push_back(channel.name());
    endpoint.ticket = to_command(narrowed);
    return endpoint;
  }

  std::vector<Offer> offers_;
  const ChannelSet& channels_;
  std::vector<bool> is_direct_;                      // by offer
  std::vector<std::vector<std::size_t>> offers_of_;  // by channel
  std::map<std::string, std::vector<Channel>> direct_;
  std::map<std::vector<std::size_t>, std::vector<Channel>> relayed_;
  std::vector<std::string> missing_;
};

}

TransportPlan plan_transport(const FlightEndpoints& offers, const ChannelSet& channels,
                             bool avoid_direct) {
  std::vector<Offer> read;
  read.reserve(offers.endpoints.size());
  for (const FlightEndpoint& offer : offers.endpoints) {
    read.push_back(read_offer(offer, offers.asked));
  }
  return Planner(std::move(read), channels, avoid_direct).plan();
}

}
