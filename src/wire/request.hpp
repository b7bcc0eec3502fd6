#pragma once

/// Requests of clients to servers: the JSON text in a Flight command or ticket (wire 5.1, 6).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

/// The version of the request schema that is spoken here.
inline constexpr std::string_view kSchemaVersion = "0.5.0";

struct FindArgs {
  std::string pattern = ".*";
  std::vector<std::string> data_type;
  std::int64_t min_rate = 0;
  std::int64_t max_rate = 4294967295;
  std::vector<std::string> publisher;
  std::optional<GpsTime> time;
  std::optional<std::string> replay_id;
};
struct FindRequest : FindArgs {};
struct CountRequest : FindArgs {};
struct DescribeRequest {
  std::vector<std::string> channels;
  std::optional<GpsTime> time;
  std::optional<std::string> replay_id;
};
struct StreamTicket {
  std::vector<std::string> channels;
  std::optional<GpsTime> start, end;
  std::optional<GpsTime> replay_start, replay_end;
  std::optional<std::string> replay_id;
};
struct PublishRequest {
  std::string publisher_id;
  std::optional<std::string> replay_id;
};
struct PartitionRequest {
  std::string publisher_id;
  std::optional<std::string> replay_id;
};
using Request = std::variant<FindRequest, CountRequest, DescribeRequest, StreamTicket,
                             PublishRequest, PartitionRequest>;

/// The command's bytes, as the Python client writes them.
std::string to_command(const Request& request);

/// A request that was read, and the sender's schema version where it gave one.
struct ReceivedRequest {
  Request request;
  std::optional<std::string> version;
};
/// Reads a command as strictly as the schema says. Throws Error(protocol) for what is no JSON
/// object of a request, Error(invalid_argument) that names the argument that is missing, wrong or
/// unknown.
ReceivedRequest parse_command(std::string_view command);

}  // namespace arrakis::inline v1
