#include "flight/connector.hpp"

#include <arrow/util/uri.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string_view>
#include <utility>

#include "arrakis/error.hpp"
#include "core/logging.hpp"
#include "core/quote.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr std::string_view kLog = "client";
constexpr std::string_view kReuseLocation = "arrow-flight-reuse-connection://";

// A gRPC server with default rules takes pings on a quiet stream at most every 300 s for well
// meant, and drops the connection after the third.
constexpr int kKeepaliveMs = 315'000;
constexpr int kKeepaliveTimeoutMs = 10'000;
// How long gRPC waits for a host that does not answer; a call that it is needed for can't be
// cancelled meanwhile.
constexpr int kConnectTimeoutMs = 10'000;

const char* environment(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets variables
}
const char* no_environment(const char* /*name*/) { return nullptr; }

std::string read_pem(const std::string& file, const char* what) {
  if (file.empty()) return {};
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (!stream || !(text << stream.rdbuf())) {
    throw Error(Errc::io, fmt::format("can't read the {} in {}", what, quoted(file)));
  }
  return text.str();
}

template <typename T>
T connected(arrow::Result<T> result, const ServerUrl& url) {
  if (result.ok()) return *std::move(result);
  throw Error(Errc::invalid_argument,
              fmt::format("can't connect to {}: {}", quoted(url.text), result.status().message()));
}

std::vector<ServerUrl> parse_urls(const std::vector<std::string>& texts) {
  std::vector<ServerUrl> urls;
  urls.reserve(texts.size());
  for (const std::string& text : texts) urls.push_back(parse_server_url(text, environment));
  if (urls.empty()) urls.push_back(parse_server_url("", environment));
  return urls;
}

TokenSource::Settings token_settings(const ClientOptions& options, const ServerUrl& home,
                                     std::string scope) {
  TokenSource::Settings settings;
  settings.options = options.token;
  settings.scope = std::move(scope);
  settings.audience = "https://" + home.host;
  settings.environment = environment;
  settings.clock = options.clock;
  return settings;
}

}  // namespace

arrow::flight::FlightClientOptions connection_options(const TlsOptions& tls) {
  auto options = arrow::flight::FlightClientOptions::Defaults();
  options.generic_options = {{"grpc.keepalive_time_ms", kKeepaliveMs},
                             {"grpc.keepalive_timeout_ms", kKeepaliveTimeoutMs},
                             {"grpc.min_reconnect_backoff_ms", kConnectTimeoutMs}};
  options.tls_root_certs = read_pem(tls.root_certificates, "root certificates");
  options.cert_chain = read_pem(tls.client_certificate, "client certificate");
  options.private_key = read_pem(tls.client_key, "client key");
  options.disable_server_verification = !tls.verify;
  options.override_hostname = tls.override_hostname;
  return options;
}

Connector::Connector(ClientOptions options, std::string scope)
    : options_(std::move(options)),
      connection_options_(connection_options(options_.tls)),
      home_(parse_urls(options_.urls)),
      tokens_(token_settings(options_, home_.front(), std::move(scope))),
      request_prefix_(fmt::format("{:08x}", std::random_device()())) {}

ServerUrl Connector::resolve(const std::string& location, const ServerUrl& asked) {
  if (location.starts_with(kReuseLocation)) return asked;
  if (location.empty()) throw Error(Errc::invalid_argument, "a location without a URL");
  return parse_server_url(location, no_environment);
}

Connection Connector::connect(const std::string& location, const ServerUrl& asked) {
  return connect(resolve(location, asked));
}

Connection Connector::connect(const ServerUrl& url) {
  const std::unique_lock lock(mutex_);
  return {url, peer(url).client};
}

Connector::Peer& Connector::peer(const ServerUrl& url) {
  const auto it = peers_.find(url.text);
  if (it != peers_.end()) return it->second;
  const auto location = connected(arrow::flight::Location::Parse(url.text), url);
  Peer made;
  made.client = connected(arrow::flight::FlightClient::Connect(location, connection_options_), url);
  return peers_.emplace(url.text, std::move(made)).first->second;
}

std::shared_ptr<StreamTransport> Connector::stream_transport(const ServerUrl& url) {
  const std::unique_lock lock(mutex_);
  Peer& its = peer(url);  // which also registers Arrow's transports
  if (its.transport != nullptr) return its.transport;
  std::unique_ptr<StreamTransport> made = connected(
      arrow::flight::internal::GetDefaultTransportRegistry()->MakeClient(url.scheme), url);
  const auto location = connected(arrow::flight::Location::Parse(url.text), url);
  const auto uri = connected(arrow::util::Uri::FromString(url.text), url);
  if (const arrow::Status status = made->Init(connection_options_, location, uri); !status.ok()) {
    connected(arrow::Result<bool>(status), url);
  }
  // Arrow's transport waits for ever when it is destroyed without having been closed.
  its.transport = {made.release(), [](StreamTransport* transport) {
                     static_cast<void>(transport->Close());
                     const std::unique_ptr<StreamTransport> owner(transport);
                   }};
  return its.transport;
}

void Connector::forget(const ServerUrl& url) {
  Peer forgotten;  // destroyed without the lock, for that may take a moment
  const std::unique_lock lock(mutex_);
  const auto it = peers_.find(url.text);
  if (it == peers_.end()) return;
  forgotten = std::move(it->second);
  peers_.erase(it);
}

bool Connector::may_have_token(const ServerUrl& url) const {
  const auto is_url = [&](const ServerUrl& home) {
    return home.host == url.host || (home.is_local() && url.is_local());
  };
  const std::vector<std::string>& allowed = options_.token.allowed_hosts;
  return std::any_of(home_.begin(), home_.end(), is_url) ||
         std::find(allowed.begin(), allowed.end(), url.host) != allowed.end();
}

void Connector::warn_of_plaintext(const ServerUrl& url) {
  if (url.is_tls() || url.is_local() || has_warned_.exchange(true)) return;
  log::warning(
      kLog,
      "the token goes to {} without encryption, where others may read it: use grpc+tls, or "
      "no token",
      url.text);
}

std::string Connector::next_request_id() {
  return fmt::format("{}-{}", request_prefix_, ++requests_);
}

arrow::flight::FlightCallOptions Connector::call_options(const ServerUrl& url,
                                                         std::optional<Duration> timeout) {
  arrow::flight::FlightCallOptions options;
  if (timeout) options.timeout = std::chrono::duration<double>(*timeout);
  options.headers.emplace_back("x-request-id", next_request_id());
  if (!may_have_token(url)) return options;
  if (const std::optional<std::string> token = tokens_.token()) {
    warn_of_plaintext(url);
    options.headers.emplace_back("authorization", "Bearer " + *token);
  }
  return options;
}

bool Connector::renew_token() { return tokens_.renew(); }

}  // namespace arrakis::inline v1
