#include "flight/server_url.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "arrakis/error.hpp"
#include "core/quote.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr std::string_view kDefaultHost = "localhost";
constexpr std::uint16_t kDefaultPort = 31206;
constexpr std::string_view kDefaultScheme = "grpc";
constexpr std::string_view kUnixScheme = "grpc+unix";
constexpr std::string_view kKafkaScheme = "kafka";
constexpr std::array<std::string_view, 4> kSchemes = {"grpc", "grpc+tcp", "grpc+tls", kUnixScheme};
constexpr std::string_view kVariable = "ARRAKIS_SERVER";

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

bool is_ipv6(std::string_view text) {
  in6_addr address{};
  const std::string without_zone(text.substr(0, text.find('%')));
  return inet_pton(AF_INET6, without_zone.c_str(), &address) == 1;
}

/// What an authority says of where to connect.
struct HostPort {
  std::string_view host;  ///< without brackets
  bool is_bracketed = false;
  std::optional<std::uint16_t> port;
};

/// A URL that is being read: what is wrong with it is said with the whole text.
class UrlReader {
 public:
  /// `origin` says where it came from, where that was not the caller.
  UrlReader(std::string_view text, std::string_view origin) : text_(text), origin_(origin) {
    const auto is_odd = [](char c) {
      return c <= ' ' || c == '\x7f' || c == '<' || c == '>' || c == '"' || c == '\\';
    };
    if (std::ranges::any_of(text, is_odd)) fail("it holds a blank or another odd character");
    const std::size_t mark = text.find("://");
    scheme_ = mark == std::string_view::npos ? "" : lower(text.substr(0, mark));
    if (mark == 0) fail("the scheme before '://' is empty");
    rest_ = mark == std::string_view::npos ? text : text.substr(mark + 3);
    const std::size_t end = std::min(rest_.find_first_of("/?#"), rest_.size());
    authority_ = rest_.substr(0, end);
    tail_ = rest_.substr(end);
  }

  [[nodiscard]] const std::string& scheme() const { return scheme_; }
  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[nodiscard]] std::string_view tail() const { return tail_; }
  /// "user@", or nothing.
  [[nodiscard]] std::string_view user() const {
    const std::size_t at = authority_.rfind('@');
    return at == std::string_view::npos ? "" : authority_.substr(0, at + 1);
  }

  [[nodiscard]] HostPort host_port() const {
    std::string_view where = authority_.substr(user().size());
    if (where.starts_with('[')) return bracketed(where);
    const std::size_t colon = where.find(':');
    if (colon == std::string_view::npos) return {.host = where};
    if (where.find(':', colon + 1) != std::string_view::npos) {
      fail("an IPv6 address stands in brackets, as in [::1]:31206");
    }
    return {.host = where.substr(0, colon), .port = port(where.substr(colon + 1))};
  }

  [[noreturn]] void fail(std::string_view why) const {
    throw Error(Errc::invalid_argument,
                fmt::format("{} {} can't be used{}: {}", kind_, quoted(text_), origin_, why));
  }
  void set_kind(std::string_view kind) { kind_ = kind; }

 private:
  [[nodiscard]] HostPort bracketed(std::string_view where) const {
    const std::size_t close = where.find(']');
    if (close == std::string_view::npos) fail("the bracket of the address is not closed");
    const std::string_view address = where.substr(1, close - 1);
    if (!is_ipv6(address)) fail("what stands in brackets is no IPv6 address");
    const std::string_view behind = where.substr(close + 1);
    if (behind.empty()) return {.host = address, .is_bracketed = true};
    if (!behind.starts_with(':')) fail("after the bracket comes ':' and a port, or nothing");
    return {.host = address, .is_bracketed = true, .port = port(behind.substr(1))};
  }
  [[nodiscard]] std::uint16_t port(std::string_view digits) const {
    std::uint16_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value == 0) {
      fail("the port must be a number from 1 to 65535");
    }
    return value;
  }

  std::string_view text_;
  std::string_view origin_;
  std::string_view kind_ = "server URL";
  std::string scheme_;
  std::string_view rest_;
  std::string_view authority_;
  std::string_view tail_;
};

ServerUrl unix_socket(const UrlReader& reader) {
  if (!reader.rest().starts_with('/')) reader.fail("a UNIX socket is named by a path from '/' on");
  return {.scheme = std::string(kUnixScheme),
          .text = fmt::format("{}://{}", kUnixScheme, reader.rest())};
}

ServerUrl complete(std::string_view text, std::string_view origin) {
  const UrlReader reader(text, origin);
  const std::string scheme =
      reader.scheme().empty() ? std::string(kDefaultScheme) : reader.scheme();
  if (std::ranges::find(kSchemes, scheme) == kSchemes.end()) {
    reader.fail("its scheme must be grpc, grpc+tcp, grpc+tls or grpc+unix");
  }
  if (scheme == kUnixScheme) return unix_socket(reader);
  const HostPort where = reader.host_port();
  const std::string_view host = where.host.empty() ? kDefaultHost : where.host;
  const std::uint16_t port = where.port.value_or(kDefaultPort);
  const std::string shown = where.is_bracketed ? fmt::format("[{}]", host) : std::string(host);
  return {.scheme = scheme,
          .host = std::string(host),
          .port = port,
          .text = fmt::format("{}://{}{}:{}{}", scheme, reader.user(), shown, port, reader.tail())};
}

bool is_loopback(const std::string& host) {
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) {
    constexpr std::uint32_t kLoopbackNet = 127;
    return ntohl(v4.s_addr) >> 24U == kLoopbackNet;
  }
  in6_addr v6{};
  if (inet_pton(AF_INET6, host.c_str(), &v6) != 1) return false;
  constexpr std::size_t kMappedAt = 12;  // the last four bytes are an IPv4 address
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[kMappedAt] == 127);
}

}  // namespace

bool ServerUrl::is_local() const {
  if (scheme == kUnixScheme) return true;
  const std::string name = lower(host);
  return name == kDefaultHost || name.ends_with(".localhost") || is_loopback(name);
}

ServerUrl parse_server_url(std::string_view text,
                           const std::function<const char*(const char*)>& environment) {
  if (!text.empty()) return complete(text, "");
  const char* const value = environment(kVariable.data());
  if (value == nullptr || *value == '\0') return complete(kDefaultHost, "");
  return complete(value, " (from the environment's ARRAKIS_SERVER)");
}

bool is_kafka_location(std::string_view location) {
  const std::size_t mark = location.find("://");
  return mark != std::string_view::npos && lower(location.substr(0, mark)) == kKafkaScheme;
}

std::string kafka_bootstrap(const std::vector<std::string>& locations) {
  std::string brokers;
  for (const std::string& location : locations) {
    if (!is_kafka_location(location)) continue;
    UrlReader reader(location, "");
    reader.set_kind("broker");
    const HostPort where = reader.host_port();
    if (where.host.empty() || !where.port) reader.fail("it needs a host and a port");
    if (!brokers.empty()) brokers += ',';
    brokers += where.is_bracketed ? fmt::format("[{}]", where.host) : lower(where.host);
    brokers += fmt::format(":{}", *where.port);
  }
  return brokers;
}

}  // namespace arrakis::inline v1
