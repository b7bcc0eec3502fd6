#include "flight/server_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "arrakis/error.hpp"

namespace arrakis::inline v1 {
namespace {

using ::testing::HasSubstr;

const char* nothing_set(const char* /*name*/) { return nullptr; }

ServerUrl parse(std::string_view text) { return parse_server_url(text, nothing_set); }

std::string refusal_of(std::string_view text) {
  try {
    const ServerUrl url = parse(text);
    ADD_FAILURE() << text << " became " << url.text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    return error.what();
  }
  return "";
}

TEST(ServerUrl, WhatIsLeftOutIsCompleted) {
  struct Case {
    const char* text;
    const char* complete;
  };
  for (const Case& c : {
           Case{"", "grpc://localhost:31206"},
           Case{"host", "grpc://host:31206"},
           Case{"host:1234", "grpc://host:1234"},
           Case{":1234", "grpc://localhost:1234"},
           Case{"grpc://:1234", "grpc://localhost:1234"},
           Case{"grpc://", "grpc://localhost:31206"},
           Case{"GRPC+TLS://host", "grpc+tls://host:31206"},
           Case{"grpc+tls://host:443", "grpc+tls://host:443"},
           Case{"10.0.0.1", "grpc://10.0.0.1:31206"},
           Case{"host/path?a=b", "grpc://host:31206/path?a=b"},
           Case{"grpc://user@host", "grpc://user@host:31206"},
           Case{"[::1]", "grpc://[::1]:31206"},
           Case{"grpc://[fe80::1%eth0]:5000", "grpc://[fe80::1%eth0]:5000"},
           Case{"user@[2001:db8::1]:7", "grpc://user@[2001:db8::1]:7"},
           Case{"grpc+unix:///run/arrakis.sock", "grpc+unix:///run/arrakis.sock"},
       }) {
    EXPECT_EQ(parse(c.text).text, c.complete) << c.text;
  }
}

TEST(ServerUrl, PartsAreThoseOfTheText) {
  const ServerUrl url = parse("grpc+tls://user@[2001:db8::1]:443/x");
  EXPECT_EQ(url.scheme, "grpc+tls");
  EXPECT_EQ(url.host, "2001:db8::1");
  EXPECT_EQ(url.port, 443);
  EXPECT_TRUE(url.is_tls());
  EXPECT_FALSE(parse("host").is_tls());
  EXPECT_EQ(parse("grpc+unix:///run/a").host, "");
}

TEST(ServerUrl, EnvironmentIsAskedOnlyWhenNothingIsGiven) {
  const auto environment = [](const char* name) {
    return std::strcmp(name, "ARRAKIS_SERVER") == 0 ? "other:9" : nullptr;
  };
  EXPECT_EQ(parse_server_url("", environment).text, "grpc://other:9");
  EXPECT_EQ(parse_server_url("host", environment).text, "grpc://host:31206");
  EXPECT_EQ(parse_server_url("", [](const char*) { return ""; }).text, "grpc://localhost:31206");
}

TEST(ServerUrl, FaultOfTheEnvironmentNamesTheVariable) {
  try {
    (void)parse_server_url("", [](const char*) { return "http://host"; });
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'http://host'"));
    EXPECT_THAT(error.what(), HasSubstr("ARRAKIS_SERVER"));
  }
}

TEST(ServerUrl, WhatCantBeReadIsQuotedWithTheReason) {
  struct Case {
    const char* text;
    const char* reason;
  };
  for (const Case& c : {
           Case{"http://host", "scheme"},
           Case{"ssh://host", "scheme"},
           Case{"://host", "scheme"},
           Case{"host:", "port"},
           Case{"host:0", "port"},
           Case{"host:65536", "port"},
           Case{"host:12x", "port"},
           Case{"host:-1", "port"},
           Case{"::1", "brackets"},
           Case{"fe80::1:31206", "brackets"},
           Case{"[::1", "not closed"},
           Case{"[::1]31206", "after the bracket"},
           Case{"[host]", "no IPv6 address"},
           Case{"my host", "odd character"},
           Case{"host\n", "odd character"},
           Case{"grpc+unix://socket", "path"},
       }) {
    const std::string refusal = refusal_of(c.text);
    EXPECT_THAT(refusal, HasSubstr(c.reason)) << c.text;
    EXPECT_EQ(refusal.find('\n'), std::string::npos);
  }
  EXPECT_THAT(refusal_of("http://host"), HasSubstr("'http://host'"));
}

TEST(ServerUrl, LocalIsWhatNeverLeavesTheMachine) {
  for (const char* const text : {"", "LOCALHOST", "db.localhost", "127.0.0.1", "127.8.9.10",
                                 "[::1]", "[::ffff:127.0.0.1]", "grpc+unix:///run/a"}) {
    EXPECT_TRUE(parse(text).is_local()) << text;
  }
  for (const char* const text : {"host", "10.0.0.1", "128.0.0.1", "[fe80::1]", "127.0.0.1.org",
                                 "localhost.org", "[::ffff:10.0.0.1]"}) {
    EXPECT_FALSE(parse(text).is_local()) << text;
  }
}

TEST(KafkaLocations, BrokersAreListedAndOthersPassedOver) {
  EXPECT_EQ(kafka_bootstrap({"kafka://K1:9092", "grpc://h:31206", "KAFKA://[::1]:9093"}),
            "k1:9092,[::1]:9093");
  EXPECT_EQ(kafka_bootstrap({"grpc://h:31206", "arrow-flight-reuse-connection://?"}), "");
  EXPECT_TRUE(is_kafka_location("kafka://k:1"));
  EXPECT_FALSE(is_kafka_location("kafka"));
}

TEST(KafkaLocations, BrokerWithoutAPortIsRefusedByName) {
  try {
    (void)kafka_bootstrap({"kafka://k1"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("broker 'kafka://k1'"));
  }
}

}  // namespace
}  // namespace arrakis::inline v1
