#pragma once

/// What a publisher asks of its server: a partition for its channels, and where to publish.

#include <map>
#include <string>
#include <vector>

#include "arrakis/channel.hpp"
#include "client/server_calls.hpp"
#include "wire/request.hpp"

namespace arrakis::inline v1 {

/// Registers the channels: the server puts each into a partition. Throws Error, of which
/// permission_denied is the server's refusal, and invalid_argument names a channel whose rate its
/// column can't hold.
void exchange_partitions(ServerCalls& calls, const PartitionRequest& publisher,
                         const std::vector<Channel>& channels);

/// The properties that a publisher's Kafka client needs, of all servers that answer.
std::map<std::string, std::string> publish_properties(ServerCalls& calls,
                                                      const PublishRequest& publisher);

}  // namespace arrakis::inline v1
