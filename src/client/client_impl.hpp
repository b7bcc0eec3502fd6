#pragma once

/// What Client, Publisher and the planning of streams have in common.

#include <memory>
#include <utility>

#include "arrakis/client.hpp"
#include "client/server_calls.hpp"

namespace arrakis::inline v1 {

/// The servers of a Client. Shared by it and its listings and streams, which may outlive it. Safe
/// from any thread.
class Client::Impl final : public ServerCalls {
 public:
  using ServerCalls::ServerCalls;
};

/// Throws Error(invalid_argument) that quotes a name which is none of a channel; also for an empty
/// list. The names, each once, in their order.
std::vector<std::string> checked_channels(const std::vector<std::string>& names);

}  // namespace arrakis::inline v1
