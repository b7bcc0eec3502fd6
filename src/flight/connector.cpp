#include "flight/connector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "arrakis/error.hpp"
#include "core/logging.hpp"
#include "flight/flight_error.hpp"

namespace arrakis::inline v1 {

namespace {

namespace flight = arrow::flight;

constexpr std::string_view kLog = "client";
constexpr std::string_view kReuseConnection = "arrow-flight-reuse-connection://";

// Just above the five minutes that a gRPC server by default wants between pings of a quiet stream.
constexpr int kKeepaliveTimeMs = 315'000;
constexpr int kKeepaliveTimeoutMs = 10'000;

const char* environment(const char* name) { return std::getenv(name); }

std::vector<ServerUrl> parse_all(const std::vector<std::string>& texts) {
  std::vector<ServerUrl> urls;
  if (texts.empty()) urls.push_back(parse_server_url("", environment));
  for (const std::string& text : texts) urls.push_back(parse_server_url(text, environment));
  return urls;
}

std::string read_file(const std::string& path, std::string_view what) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    throw Error(Errc::io, fmt::format("the {} can't be read from {}: {}", what, path,
                                      std::generic_category().message(errno)));
  }
  return std::move(text).str();
}

flight::FlightClientOptions client_options(const TlsOptions& tls) {
  flight::FlightClientOptions options = flight::FlightClientOptions::Defaults();
  options.generic_options.emplace_back("grpc.keepalive_time_ms", kKeepaliveTimeMs);
  options.generic_options.emplace_back("grpc.keepalive_timeout_ms", kKeepaliveTimeoutMs);
  options.override_hostname = tls.override_hostname;
  options.disable_server_verification = !tls.verify;
  if (!tls.root_certificates.empty()) {
    options.tls_root_certs = read_file(tls.root_certificates, "certificates to trust");
  }
  if (!tls.client_certificate.empty()) {
    options.cert_chain = read_file(tls.client_certificate, "client's certificate");
  }
  if (!tls.client_key.empty()) options.private_key = read_file(tls.client_key, "client's key");
  return options;
}

/// Eight hexadecimal digits, as servers make them where a client sends none.
std::string new_request_id() {
  thread_local std::mt19937 random{std::random_device{}()};
  return fmt::format("{:08x}", static_cast<std::uint32_t>(random()));
}

}

Connector::Connector(ClientOptions options, std::string scope)
    : options_(std::move(options)),
      home_(parse_all(options_.urls)),
      tokens_({.options = options_.token,
               .audience = "https://" + home_.front().host,
               .scope = std::move(scope),
               .environment = environment,
               .clock = options_.clock}) {}

Connection Connector::connect(const std::string& location, const ServerUrl& asked) {
  if (location.starts_with(kReuseConnection)) return connect(asked);
  return connect(parse_server_url(location, environment));
}

Connection Connector::connect(const ServerUrl& url) {
  const std::unique_lock lock(mutex_);
  std::shared_ptr<flight::FlightClient>& client = clients_[url.text];
  if (client) return {url, client};
  const std::string what = "connecting to " + url.text;
  const auto location = flight::Location::Parse(url.text);
  if (!location.ok()) throw to_error(location.status(), what);
  auto made = flight::FlightClient::Connect(*location, client_options(options_.tls));
  if (!made.ok()) throw to_error(made.status(), what);
  client = *std::move(made);
  return {url, client};
}

void Connector::forget(const ServerUrl& url) {
  const std::unique_lock lock(mutex_);
  clients_.erase(url.text);
}

flight::FlightCallOptions Connector::call_options(const ServerUrl& url,
                                                  std::optional<Duration> timeout) {
  flight::FlightCallOptions options;
  if (timeout) options.timeout = std::chrono::duration<double>(*timeout);
  options.headers.emplace_back("x-request-id", new_request_id());
  if (may_have_token(url)) {
    if (const std::optional<std::string> token = tokens_.token()) {
      warn_of_plaintext(url);
      options.headers.emplace_back("authorization", "Bearer " + *token);
    }
  }
  return options;
}

bool Connector::renew_token() { return tokens_.renew(); }

/// Whether the user has said that this host may have it: by its URL, or by name.
bool Connector::may_have_token(const ServerUrl& url) const {
  const std::vector<std::string>& allowed = options_.token.allowed_hosts;
  return std::any_of(home_.begin(), home_.end(),
                     [&](const ServerUrl& home) { return home.host == url.host; }) ||
         std::find(allowed.begin(), allowed.end(), url.host) != allowed.end();
}

void Connector::warn_of_plaintext(const ServerUrl& url) {
  if (url.is_tls() || url.is_local()) return;
  const std::unique_lock lock(mutex_);
  if (!warned_.insert(url.host).second) return;
  log::warning(kLog,
               "the token goes to {} without encryption, where others may read it; grpc+tls:// "
               "would encrypt it",
               url.text);
}

}
