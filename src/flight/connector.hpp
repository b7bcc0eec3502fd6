#pragma once

/// Connections to Arrakis servers: one a location, with keepalive, TLS, token and request id.

#include <arrow/flight/client.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "arrakis/client_options.hpp"
#include "arrakis/time.hpp"
#include "flight/server_url.hpp"
#include "flight/token_source.hpp"

namespace arrakis::inline v1 {

/// A server to call, and what goes with every call. Safe from any thread.
struct Connection {
  ServerUrl url;
  std::shared_ptr<arrow::flight::FlightClient> client;
};

/// Makes and keeps the connections of one Client. Safe from any thread.
class Connector {
 public:
  /// `scope` is the right that a token must give.
  explicit Connector(ClientOptions options, std::string scope = "arrakis.read");

  /// The servers of the options, complete, in order.
  [[nodiscard]] const std::vector<ServerUrl>& home_urls() const { return home_; }
  [[nodiscard]] const Clock& clock() const { return *options_.clock; }
  [[nodiscard]] Duration timeout() const { return options_.timeout; }

  /// The connection for a location of an endpoint; "arrow-flight-reuse-connection://?" means
  /// `asked`. Does not wait for the server. Throws Error(invalid_argument) for a location that
  /// can't be read.
  Connection connect(const std::string& location, const ServerUrl& asked);
  Connection connect(const ServerUrl& url);
  /// Forgets a connection that failed, so that the next one is made anew.
  void forget(const ServerUrl& url);

  /// Headers and limit for one call: token (as TokenOptions say for this host), a request id that
  /// is new for each call. None: without a limit, for streams.
  [[nodiscard]] arrow::flight::FlightCallOptions call_options(const ServerUrl& url,
                                                              std::optional<Duration> timeout);
  /// After an answer that says unauthenticated: looks for another token. Whether there is one.
  bool renew_token();

 private:
  [[nodiscard]] bool may_have_token(const ServerUrl& url) const;
  void warn_of_plaintext(const ServerUrl& url);

  ClientOptions options_;
  std::vector<ServerUrl> home_;
  TokenSource tokens_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<arrow::flight::FlightClient>> clients_;
  std::unordered_set<std::string> warned_;  // hosts that got a token in plain text
};

}  // namespace arrakis::inline v1
