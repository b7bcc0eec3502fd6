#pragma once

/// Finds the bearer token.

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "arrakis/client.hpp"
#include "arrakis/time.hpp"
#include "flight/server_url.hpp"

namespace arrakis::inline v1 {

/// Looks where the token may be: ARRAKIS_TOKEN, SCITOKEN, SCITOKEN_FILE, the *.use files of
/// $_CONDOR_CREDS, BEARER_TOKEN, BEARER_TOKEN_FILE, $XDG_RUNTIME_DIR/bt_u<uid> or else that in the
/// directory for temporary files. Of these (but ARRAKIS_TOKEN) the first that parses, is valid for
/// another minute, and has the audience and the scope. Safe from any thread.
class TokenSource {
 public:
  struct Settings {
    TokenOptions options;
    std::string audience;                ///< "https://<host>"
    std::string scope = "arrakis.read";  ///< "arrakis.create:/<publisher id>" for a publisher
    std::function<const char*(const char*)> environment;
    const Clock* clock = &system_clock();
  };
  /// Throws Error(unauthenticated), which says where it looked, when one is required and not found.
  explicit TokenSource(Settings settings);

  /// The token for a call; looked for again when the one known is about to expire. None: call
  /// without.
  std::optional<std::string> token();
  /// The one known was refused: look again. Whether another was found.
  bool renew();

 private:
  Settings settings_;
  std::mutex mutex_;
  std::optional<std::string> token_;
  std::optional<GpsTime> expiry_;
};

}  // namespace arrakis::inline v1
