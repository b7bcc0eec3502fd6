#pragma once

/// URLs of Arrakis servers, and of the brokers that they name.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace arrakis::inline v1 {

/// A server's URL in its parts.
struct ServerUrl {
  std::string scheme;  ///< "grpc", "grpc+tcp", "grpc+tls" or "grpc+unix"
  std::string host;    ///< without brackets; empty for a UNIX socket
  std::uint16_t port = 0;
  std::string text;  ///< complete, with scheme and port; what connections are kept by

  [[nodiscard]] bool is_tls() const { return scheme == "grpc+tls"; }
  /// Whether it never leaves this machine: a loopback address, localhost, a UNIX socket.
  [[nodiscard]] bool is_local() const;
  friend bool operator==(const ServerUrl& a, const ServerUrl& b) { return a.text == b.text; }
};

/// Completes what a user wrote: scheme grpc, host localhost, port 31206 where they are left out;
/// IPv6 addresses in brackets. Empty: the environment's ARRAKIS_SERVER, else the default. Throws
/// Error(invalid_argument) that quotes the text.
ServerUrl parse_server_url(std::string_view text,
                           const std::function<const char*(const char*)>& environment);

/// Whether a location of an endpoint is a Kafka broker ("kafka://HOST:PORT").
bool is_kafka_location(std::string_view location);
/// The Kafka brokers among the locations of an endpoint as a list for librdkafka,
/// "HOST:PORT,HOST:PORT"; empty when there is none. Throws Error(invalid_argument) that quotes a
/// broker without a port.
std::string kafka_bootstrap(const std::vector<std::string>& locations);

}  // namespace arrakis::inline v1
