#pragma once

/// How a client reaches its servers: URLs, token, TLS, limits. Values. @since 0.2

#include <string>
#include <vector>

#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

/// Which bearer token goes with the calls. It is never written to a log or into an error.
struct TokenOptions {
  enum class Mode {
    discover,  ///< what is found in the usual places; none: unauthenticated
    required,  ///< the same, but Error(unauthenticated) when nothing is found
    off,       ///< none
  };
  Mode mode = Mode::discover;
  /// Not empty: this one, as it is, whatever the mode.
  std::string token;
  /// Hosts other than those of the client's own URLs that may get it, although a server named them.
  /// Without TLS no host but those of the URLs and these gets it.
  std::vector<std::string> allowed_hosts;
};

/// For URLs of the scheme grpc+tls. Files are PEM.
struct TlsOptions {
  std::string root_certificates;   ///< file of the authorities to trust; empty: the system's
  std::string client_certificate;  ///< file; empty: none
  std::string client_key;          ///< file of its key
  bool verify = true;              ///< false: any certificate will do
  std::string override_hostname;   ///< the name expected in the certificate; empty: the URL's
};

struct ClientOptions {
  /// Servers that know the same, tried in order. Empty: the environment's ARRAKIS_SERVER, else
  /// grpc://localhost:31206. Forms: "[SCHEME://]HOST[:PORT]", "[::1]:31206", ":31206".
  std::vector<std::string> urls;
  TokenOptions token;
  TlsOptions tls;
  /// Limit of each call that is not a stream, over all servers tried.
  Duration timeout = std::chrono::seconds(30);
  /// Must outlive the client and its streams.
  const Clock* clock = &system_clock();
};

}  // namespace arrakis::inline v1
