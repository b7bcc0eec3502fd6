#include "info_commands.hpp"

#include <gtest/gtest.h>

#include "arrakis/error.hpp"

namespace arrakis::cli {
namespace {

TEST(ServerInfoText, HasALineAKeyInTheServersOrder) {
  EXPECT_EQ(server_info_text(R"({"server_version": "0.17.2", "auth": false, "auth_mode": null,)"
                             R"( "capabilities": ["find", "count"], "n": 3})",
                             {"grpc://a:1", "grpc://b:2"}),
            "server_version: 0.17.2\nauth: False\nauth_mode: None\ncapabilities: find, count\n"
            "n: 3\nendpoints: grpc://a:1, grpc://b:2\n");
}

TEST(ServerInfoText, RefusesWhatIsNoObject) {
  EXPECT_THROW(server_info_text("[]", {}), Error);
  EXPECT_THROW(server_info_text("{", {}), Error);
}

TEST(ServerInfoText, LetsNoControlCharactersThrough) {
  EXPECT_EQ(server_info_text(R"({"a": "\u001b[2J"})", {}).find('\x1b'), std::string::npos);
}

TEST(ReplaysText, HasALineAReplay) {
  EXPECT_EQ(replays_text({{"b", {GpsTime::from_seconds(100), GpsTime::from_seconds(200.5)}},
                          {"a", {GpsTime::from_seconds(1), GpsTime::from_seconds(2)}}}),
            "a: start=1, end=2\nb: start=100, end=200.5\n");
}

}  // namespace
}
