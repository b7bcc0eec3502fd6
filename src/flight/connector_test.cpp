#include "flight/connector.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <variant>

#include "flight/flight_error.hpp"
#include "testing/flight_server.hpp"
#include "testing/log_lines.hpp"
#include "testing/peers.hpp"
#include "testing/temporary_folder.hpp"

namespace arrakis::inline v1 {
namespace {

using std::chrono::seconds;
using testing::FlightServer;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kToken = "a-token";

ClientOptions with_token(std::string url) {
  ClientOptions options;
  options.urls = {std::move(url)};
  options.token.token = kToken;
  return options;
}

std::optional<std::string> authorization(Connector& connector, const std::string& url) {
  const auto options =
      connector.call_options(connector.resolve(url, connector.home_urls()[0]), seconds(1));
  for (const auto& [name, value] : options.headers) {
    if (name == "authorization") return value;
  }
  return std::nullopt;
}

FlightServer::Functions answers_actions() {
  FlightServer::Functions functions;
  functions.do_action = [](const FlightServer::Call&) -> arrow::Result<std::string> {
    return "{}";
  };
  return functions;
}

arrow::Status act(Connector& connector, Duration timeout = seconds(60)) {
  const Connection connection = connector.connect(connector.home_urls()[0]);
  auto results = connection.client->DoAction(connector.call_options(connection.url, timeout),
                                             {"server-info", nullptr});
  return results.ok() ? (*results)->Next().status() : results.status();
}

TEST(Connector, KeepaliveIsJustSlowerThanServersTolerate) {
  const auto options = connection_options({});
  const auto value = [&](const std::string& name) {
    for (const auto& [its_name, its_value] : options.generic_options) {
      if (its_name == name) return std::get<int>(its_value);
    }
    return -1;
  };
  EXPECT_EQ(value("grpc.keepalive_time_ms"), 315'000);
  EXPECT_EQ(value("grpc.keepalive_timeout_ms"), 10'000);
}

TEST(Connector, CallsCarryTheTokenAndARequestIdOfTheirOwn) {
  FlightServer server(answers_actions());
  Connector connector(with_token(server.url()));
  constexpr int kCalls = 3;
  for (int i = 0; i < kCalls; ++i) ASSERT_TRUE(act(connector).ok());
  std::set<std::string> ids;
  for (const FlightServer::Call& call : server.calls("DoAction")) {
    EXPECT_EQ(call.header("authorization"), std::string("Bearer ") + kToken);
    const std::string id = call.header("x-request-id").value_or("");
    EXPECT_THAT(id, ::testing::MatchesRegex("[A-Za-z0-9._-]+"));
    EXPECT_LE(id.size(), 32U);
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), std::size_t{kCalls});
}

TEST(Connector, TokenGoesToTheHostsOfTheUrlsAndThoseAllowedAndToNoOther) {
  ClientOptions options = with_token("grpc+tls://home.example:1");
  options.urls.emplace_back("grpc+tls://second.example:1");
  options.token.allowed_hosts = {"friend.example"};
  Connector connector(options);
  const std::string bearer = std::string("Bearer ") + kToken;
  EXPECT_EQ(authorization(connector, "grpc+tls://home.example:1"), bearer);
  EXPECT_EQ(authorization(connector, "grpc+tls://home.example:2"), bearer);
  EXPECT_EQ(authorization(connector, "grpc+tls://second.example:1"), bearer);
  EXPECT_EQ(authorization(connector, "grpc+tls://friend.example:1"), bearer);
  EXPECT_EQ(authorization(connector, "arrow-flight-reuse-connection://?"), bearer);
  EXPECT_EQ(authorization(connector, "grpc+tls://other.example:1"), std::nullopt);
  EXPECT_EQ(authorization(connector, "grpc://localhost:1"), std::nullopt);
}

TEST(Connector, NamesOfThisMachineAreOneHost) {
  Connector connector(with_token("grpc://localhost:1"));
  EXPECT_TRUE(authorization(connector, "grpc://127.0.0.1:2"));
  EXPECT_TRUE(authorization(connector, "grpc://[::1]:2"));
  EXPECT_FALSE(authorization(connector, "grpc://other.example:2"));
}

TEST(Connector, TokenOverPlaintextToAnotherMachineIsWarnedOfOnceWithoutTheToken) {
  const testing::LogLines log(LogLevel::debug);
  Connector connector(with_token("grpc://home.example:1"));
  EXPECT_TRUE(authorization(connector, "grpc://home.example:1"));
  EXPECT_TRUE(authorization(connector, "grpc://home.example:1"));
  const auto warnings = log.of(LogLevel::warning, {"grpc://home.example:1"});
  ASSERT_EQ(warnings.size(), 1U);
  for (const LogLevel level : {LogLevel::debug, LogLevel::info, LogLevel::warning}) {
    EXPECT_TRUE(log.of(level, {kToken}).empty());
  }
}

TEST(Connector, NoTokenOrAnEncryptedOrLocalWayIsNotWarnedOf) {
  const testing::LogLines log;
  Connector local(with_token("grpc://127.0.0.1:1"));
  authorization(local, "grpc://127.0.0.1:1");
  Connector encrypted(with_token("grpc+tls://home.example:1"));
  authorization(encrypted, "grpc+tls://home.example:1");
  ClientOptions without;
  without.urls = {"grpc://home.example:1"};
  without.token.mode = TokenOptions::Mode::off;
  Connector bare(without);
  EXPECT_FALSE(authorization(bare, "grpc://home.example:1"));
  EXPECT_TRUE(log.of(LogLevel::warning).empty());
}

TEST(Connector, ErrorOfARefusedConnectionNamesNoToken) {
  const testing::Peer dead(testing::Peer::Kind::dead);
  Connector connector(with_token(dead.address()));
  const Error error = to_error(act(connector), "server_info at " + connector.home_urls()[0].text);
  EXPECT_EQ(error.code(), Errc::unavailable);
  EXPECT_THAT(error.what(), HasSubstr(dead.address()));
  EXPECT_THAT(error.what(), Not(HasSubstr(kToken)));
}

TEST(Connector, CallToAServerThatNeverAnswersEndsAtItsLimit) {
  const testing::Peer mute(testing::Peer::Kind::mute);
  Connector connector(with_token(mute.address()));
  const Error error = to_error(act(connector, std::chrono::milliseconds(200)), "server_info");
  EXPECT_EQ(error.code(), Errc::timeout);
}

TEST(Connector, ConnectionsAreKeptUntilTheyAreForgotten) {
  FlightServer server(answers_actions());
  Connector connector(with_token(server.url()));
  const ServerUrl& home = connector.home_urls()[0];
  const auto first = connector.connect(home).client;
  EXPECT_EQ(connector.connect("arrow-flight-reuse-connection://?", home).client, first);
  EXPECT_EQ(connector.stream_transport(home), connector.stream_transport(home));
  connector.forget(home);
  EXPECT_NE(connector.connect(home).client, first);
  EXPECT_TRUE(act(connector).ok());
}

/// A key and a certificate of this machine's loopback address, signed by itself.
class Certificate {
 public:
  Certificate() {
    const std::string command = fmt::format(
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=arrakis-test -addext "
        "subjectAltName=IP:127.0.0.1 -keyout '{}' -out '{}' 2>/dev/null",
        key_file(), file());
    if (std::system(command.c_str()) != 0) throw std::runtime_error("no certificate: " + command);
  }
  [[nodiscard]] std::string file() const { return folder_.path() / "cert.pem"; }
  [[nodiscard]] FlightServer::Options server_options() const {
    return {.certificate = read(file()), .key = read(key_file())};
  }

 private:
  [[nodiscard]] std::string key_file() const { return folder_.path() / "key.pem"; }
  static std::string read(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  testing::TemporaryFolder folder_;
};

TEST(Connector, CertificateIsTrustedWhenItsAuthorityIsOrWhenAnyIs) {
  const Certificate certificate;
  FlightServer server(answers_actions(), certificate.server_options());
  ClientOptions options = with_token(server.url());
  Connector stranger(options);
  EXPECT_EQ(to_error(act(stranger), "server_info").code(), Errc::unavailable);
  options.tls.root_certificates = certificate.file();
  Connector trusting(options);
  EXPECT_TRUE(act(trusting).ok());
  ASSERT_FALSE(server.calls("DoAction").empty());
  EXPECT_EQ(server.calls("DoAction").back().header("authorization"),
            std::string("Bearer ") + kToken);
  options.tls.root_certificates.clear();
  options.tls.verify = false;
  Connector careless(options);
  EXPECT_TRUE(act(careless).ok());
}

TEST(Connector, CertificateOfAnotherNameNeedsThatName) {
  const Certificate certificate;
  FlightServer server(answers_actions(), certificate.server_options());
  ClientOptions options = with_token(fmt::format("grpc+tls://localhost:{}", server.port()));
  options.tls.root_certificates = certificate.file();
  Connector strict(options);
  EXPECT_EQ(to_error(act(strict), "server_info").code(), Errc::unavailable);
  options.tls.override_hostname = "127.0.0.1";
  Connector told(options);
  EXPECT_TRUE(act(told).ok());
}

TEST(Connector, FileThatCantBeReadIsNamed) {
  ClientOptions options = with_token("grpc+tls://localhost:1");
  options.tls.root_certificates = "/no/such/file.pem";
  try {
    const Connector connector(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::io);
    EXPECT_THAT(error.what(), HasSubstr("/no/such/file.pem"));
  }
}

TEST(Connector, LocationsThatCantBeReadAreNamed) {
  Connector connector(with_token("grpc://localhost:1"));
  for (const char* location : {"kafka://a:1", "grpc://a:99999", ""}) {
    try {
      connector.connect(location, connector.home_urls()[0]);
      FAIL() << location;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::invalid_argument);
      EXPECT_THAT(error.what(), HasSubstr(*location == '\0' ? "location" : location));
    }
  }
}

}  // namespace
}  // namespace arrakis::inline v1
