#pragma once

/// Connections to Arrakis servers: one a location, with keepalive, TLS, token and request id.

#include <arrow/flight/client.h>
#include <arrow/flight/transport.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "arrakis/client_options.hpp"
#include "arrakis/time.hpp"
#include "flight/server_url.hpp"
#include "flight/token_source.hpp"

namespace arrakis::inline v1 {

/// What every connection is made with: keepalive, TLS. Throws Error(io) for a file that can't be
/// read.
arrow::flight::FlightClientOptions connection_options(const TlsOptions& tls);

/// A server to call. Safe from any thread.
struct Connection {
  ServerUrl url;
  std::shared_ptr<arrow::flight::FlightClient> client;
};

/// Arrow's way to the server without its decoding: DoGet by it returns before the server answers,
/// so that it can be cancelled, and gives messages as they came. It has a connection of its own.
using StreamTransport = arrow::flight::internal::ClientTransport;

/// Makes and keeps the connections of one Client. Safe from any thread.
class Connector {
 public:
  /// Throws what parse_server_url, connection_options and TokenSource throw.
  /// `scope` is the right that a token must give.
  explicit Connector(ClientOptions options, std::string scope = "arrakis.read");

  /// The servers of the options, complete, in order.
  [[nodiscard]] const std::vector<ServerUrl>& home_urls() const { return home_; }
  [[nodiscard]] const Clock& clock() const { return *options_.clock; }
  [[nodiscard]] Duration timeout() const { return options_.timeout; }

  /// The server that a location of an endpoint names; `asked` where that is
  /// "arrow-flight-reuse-connection://?". Throws Error(invalid_argument) for a location that can't
  /// be read.
  [[nodiscard]] static ServerUrl resolve(const std::string& location, const ServerUrl& asked);
  /// The connection for a location of an endpoint, as resolve() reads it. Does not wait for the
  /// server.
  Connection connect(const std::string& location, const ServerUrl& asked);
  Connection connect(const ServerUrl& url);
  /// For DoGet.
  std::shared_ptr<StreamTransport> stream_transport(const ServerUrl& url);
  /// Forgets a connection that failed, so that the next one is made anew.
  void forget(const ServerUrl& url);

  /// Headers and limit for one call: token (as TokenOptions say for this host), a request id that
  /// is new for each call. None: without a limit, for streams.
  [[nodiscard]] arrow::flight::FlightCallOptions call_options(const ServerUrl& url,
                                                              std::optional<Duration> timeout);
  /// After an answer that says unauthenticated: looks for another token. Whether there is one.
  bool renew_token();

 private:
  struct Peer {
    std::shared_ptr<arrow::flight::FlightClient> client;
    std::shared_ptr<StreamTransport> transport;  // none before the first stream
  };
  Peer& peer(const ServerUrl& url);
  [[nodiscard]] bool may_have_token(const ServerUrl& url) const;
  void warn_of_plaintext(const ServerUrl& url);
  std::string next_request_id();

  ClientOptions options_;
  arrow::flight::FlightClientOptions connection_options_;
  std::vector<ServerUrl> home_;
  TokenSource tokens_;
  std::string request_prefix_;
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<bool> has_warned_{false};
  std::mutex mutex_;
  std::unordered_map<std::string, Peer> peers_;
};

}  // namespace arrakis::inline v1
