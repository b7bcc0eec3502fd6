#pragma once

/// URLs of Arrakis servers.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace arrakis::inline v1 {

/// A server's URL in its parts.
struct ServerUrl {
  std::string scheme;  ///< "grpc", "grpc+tcp", "grpc+tls", "grpc+unix", …
  std::string host;    ///< without brackets
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

}  // namespace arrakis::inline v1
