#pragma once

/// Requests of clients to servers: the JSON text in a Flight command or ticket (wire 5.1, 6).

#include <compare>
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

/// The sample types that Find and Count can ask for, by name; others travel but can't be asked for.
inline constexpr std::string_view kQueryDataTypes[] = {"uint32", "uint64",  "int32",
                                                       "int64",  "float32", "float64"};

/// What tells two request schemas apart: the first two numbers of "0.5.0".
struct SchemaVersion {
  int major_number = 0;
  int minor_number = 0;
  friend auto operator<=>(const SchemaVersion&, const SchemaVersion&) = default;
};
/// Nothing when the text does not begin with two numbers: an unknown version.
std::optional<SchemaVersion> parse_schema_version(std::string_view text);
/// Whether a peer that advertises `version` knows what came with `least`; nothing when it can't be
/// told.
std::optional<bool> supports(const std::optional<std::string>& version, SchemaVersion least);

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

/// "Find", "Count", "Describe", "Stream", "Publish" or "Partition".
std::string_view name_of(const Request& request);

/// The command's bytes, as the Python client writes them.
std::string to_command(const Request& request);

/// A request that was read, and the sender's schema version where it gave one.
struct ReceivedRequest {
  Request request;
  std::optional<std::string> version;
};
/// Reads a command as strictly as the schema says. Throws Error(protocol) for what is no JSON
/// object of a request, Error(invalid_argument) that names the argument that is missing, wrong or
/// unknown; for unknown ones both schema versions, too.
ReceivedRequest parse_command(std::string_view command);

}  // namespace arrakis::inline v1
