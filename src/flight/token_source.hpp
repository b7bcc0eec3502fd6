#pragma once

/// Finds the bearer token.

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arrakis/client_options.hpp"
#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

/// What a token (a JWT) says of itself. Nobody has verified it: only the server can.
struct TokenClaims {
  std::vector<std::string> audiences;
  std::vector<std::string> scopes;
  std::optional<GpsTime> expiry;      ///< none: never
  std::optional<GpsTime> not_before;  ///< none: always
};
/// Nothing when `token` is no JWT.
std::optional<TokenClaims> parse_token(std::string_view token);
/// Whether a scope that a token grants ("arrakis.read:/", "arrakis.read") covers the one wanted:
/// the same right, for the same path or one above it. No path means "/".
bool covers(std::string_view granted, std::string_view wanted);

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
  /// Throws Error(unauthenticated), which says where it looked, when one is required and not found;
  /// Error(invalid_argument), which does not repeat it, when the one given can't go into a header.
  explicit TokenSource(Settings settings);

  /// The token for a call; looked for again when the one known is about to expire. None: call
  /// without.
  std::optional<std::string> token();
  /// The one known was refused: look again. Whether another was found.
  bool renew();

 private:
  struct Found {
    std::string token;
    std::optional<GpsTime> expiry;
  };
  [[nodiscard]] std::optional<Found> discover() const;
  [[nodiscard]] bool fits(const TokenClaims& claims) const;

  Settings settings_;
  std::mutex mutex_;
  std::optional<Found> found_;
};

}  // namespace arrakis::inline v1
