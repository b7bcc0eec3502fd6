#include "flight/token_source.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "arrakis/error.hpp"
#include "core/manual_clock.hpp"
#include "testing/temporary_folder.hpp"

namespace arrakis::inline v1 {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const GpsTime kNow = GpsTime::from_seconds(1400000000);

std::string base64url(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  unsigned bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8U | static_cast<unsigned char>(c);
    for (count += 8; count >= 6;) {
      count -= 6;
      text += kDigits[bits >> static_cast<unsigned>(count) & 63U];
    }
  }
  if (count > 0) text += kDigits[bits << static_cast<unsigned>(6 - count) & 63U];
  return text;
}

std::string jwt(const std::string& claims) {
  return base64url(R"({"alg": "RS256"})") + '.' + base64url(claims) + ".c2lnbmF0dXJl";
}

std::int64_t unix_seconds(GpsTime time) {
  return std::chrono::floor<std::chrono::seconds>(to_unix(time)).time_since_epoch().count();
}

struct Claims {
  Duration left = std::chrono::hours(1);
  std::string audience = R"("https://server")";
  std::string scope = "arrakis.read:/";
};

std::string token(const Claims& claims, const std::string& mark) {
  return jwt(fmt::format(R"({{"exp": {}, "aud": {}, "scope": "{}", "jti": "{}"}})",
                         unix_seconds(kNow + claims.left), claims.audience, claims.scope, mark));
}
std::string token(const std::string& mark) { return token(Claims(), mark); }

class TokenSourceTest : public ::testing::Test {
 protected:
  TokenSourceTest() { environment_["XDG_RUNTIME_DIR"] = folder_.path(); }

  std::string file(const std::string& name, const std::string& content) const {
    return folder_.write(name, content);
  }
  TokenSource make(TokenOptions options = {}, const std::string& scope = "arrakis.read") {
    return TokenSource({.options = std::move(options),
                        .audience = "https://server",
                        .scope = scope,
                        .environment =
                            [this](const char* variable) {
                              const auto found = environment_.find(variable);
                              return found == environment_.end() ? nullptr : found->second.c_str();
                            },
                        .clock = &clock_});
  }
  std::optional<std::string> found(TokenOptions options = {}) {
    return make(std::move(options)).token();
  }

  testing::TemporaryFolder folder_;
  std::map<std::string, std::string> environment_;
  ManualClock clock_{kNow};
};

TEST_F(TokenSourceTest, PlacesAreTriedInOrder) {
  const std::string user_file = fmt::format("bt_u{}", geteuid());
  EXPECT_EQ(found(), std::nullopt);
  file(user_file, token("user") + "\n");
  EXPECT_EQ(found(), token("user"));
  environment_["BEARER_TOKEN_FILE"] = file("bearer", token("bearer-file"));
  EXPECT_EQ(found(), token("bearer-file"));
  environment_["BEARER_TOKEN"] = token("bearer");
  EXPECT_EQ(found(), token("bearer"));
  std::filesystem::create_directory(folder_.path() / "condor");
  file("condor/b.use", token("condor"));
  file("condor/a.other", token("other"));
  environment_["_CONDOR_CREDS"] = (folder_.path() / "condor").string();
  EXPECT_EQ(found(), token("condor"));
  environment_["SCITOKEN_FILE"] = file("scitoken", token("scitoken-file"));
  EXPECT_EQ(found(), token("scitoken-file"));
  environment_["SCITOKEN"] = token("scitoken");
  EXPECT_EQ(found(), token("scitoken"));
  environment_["ARRAKIS_TOKEN"] = "opaque";
  EXPECT_EQ(found(), "opaque");
  EXPECT_EQ(found({.token = "given"}), "given");
}

TEST_F(TokenSourceTest, TemporaryFolderIsLookedAtOnlyWithoutARuntimeFolder) {
  std::filesystem::create_directory(folder_.path() / "tmp");
  file(fmt::format("tmp/bt_u{}", geteuid()), token("temporary"));
  environment_["TMPDIR"] = (folder_.path() / "tmp").string();
  EXPECT_EQ(found(), std::nullopt);
  environment_.erase("XDG_RUNTIME_DIR");
  EXPECT_EQ(found(), token("temporary"));
}

TEST_F(TokenSourceTest, TokenThatDoesNotFitIsPassedOver) {
  using std::chrono::seconds;
  environment_["BEARER_TOKEN"] = token("good");
  for (const std::string& bad : {
           std::string("nonsense"),
           std::string("a.b.c"),
           token({.left = seconds(59)}, "ending"),
           token({.audience = R"("https://another")"}, "audience"),
           token({.audience = "[]"}, "no audience"),
           token({.scope = "arrakis.create:/"}, "scope"),
           token({.scope = "arrakis.read:/below"}, "path"),
           token({.scope = ""}, "no scope"),
           jwt(fmt::format(R"({{"aud": "ANY", "scope": "arrakis.read", "nbf": {}}})",
                           unix_seconds(kNow + seconds(5)))),
       }) {
    environment_["SCITOKEN"] = bad;
    EXPECT_EQ(found(), token("good")) << bad;
  }
  for (const std::string& good : {
           token({.left = seconds(61)}, "minute"),
           token({.audience = R"(["https://another", "ANY"])"}, "any"),
           token({.scope = "other arrakis.read"}, "bare"),
           jwt(R"({"aud": "ANY", "scope": "arrakis.read"})"),
       }) {
    environment_["SCITOKEN"] = good;
    EXPECT_EQ(found(), good);
  }
}

TEST_F(TokenSourceTest, OffFindsNothing) {
  environment_["ARRAKIS_TOKEN"] = "opaque";
  EXPECT_EQ(found({.mode = TokenOptions::Mode::off}), std::nullopt);
  EXPECT_EQ(found({.mode = TokenOptions::Mode::off, .token = "given"}), "given");
}

TEST_F(TokenSourceTest, RequiredOneThatIsNotFoundIsAnErrorThatSaysWhatWasWanted) {
  environment_["SCITOKEN"] = token({.scope = "other"}, "secret");
  try {
    (void)make({.mode = TokenOptions::Mode::required}, "arrakis.create:/P");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::unauthenticated);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("https://server"), HasSubstr("arrakis.create:/P"),
                                    HasSubstr("BEARER_TOKEN_FILE"), Not(HasSubstr("ey"))));
  }
}

TEST_F(TokenSourceTest, TokenAboutToExpireIsLookedForAgain) {
  environment_["BEARER_TOKEN"] = token("first");
  TokenSource source = make();
  environment_["BEARER_TOKEN"] = token({.left = std::chrono::hours(2)}, "second");
  EXPECT_EQ(source.token(), token("first"));
  clock_.advance(std::chrono::minutes(59) + std::chrono::seconds(1));
  EXPECT_EQ(source.token(), token({.left = std::chrono::hours(2)}, "second"));
  environment_.erase("BEARER_TOKEN");
  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(source.token(), token({.left = std::chrono::hours(2)}, "second"));
}

TEST_F(TokenSourceTest, RenewalSaysWhetherThereIsAnother) {
  environment_["BEARER_TOKEN"] = token("first");
  TokenSource source = make();
  EXPECT_FALSE(source.renew());
  environment_["BEARER_TOKEN"] = token("second");
  EXPECT_TRUE(source.renew());
  EXPECT_EQ(source.token(), token("second"));
  EXPECT_FALSE(make({.token = "given"}).renew());

  environment_.erase("BEARER_TOKEN");
  TokenSource none = make();
  EXPECT_FALSE(none.renew());
  environment_["BEARER_TOKEN"] = token("late");
  EXPECT_TRUE(none.renew());
}

TEST_F(TokenSourceTest, TokenThatNoHeaderCanHoldIsRefusedWithoutRepeatingIt) {
  for (const bool is_given : {true, false}) {
    environment_["ARRAKIS_TOKEN"] = "se\ncret";
    try {
      (void)make({.token = is_given ? "se\ncret" : ""});
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::invalid_argument);
      EXPECT_THAT(error.what(), Not(HasSubstr("cret")));
    }
  }
}

TEST_F(TokenSourceTest, FileThatWouldBeWaitedForIsPassedOver) {
  const std::string pipe = (folder_.path() / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  environment_["SCITOKEN_FILE"] = pipe;
  environment_["BEARER_TOKEN_FILE"] = folder_.path();
  EXPECT_EQ(found(), std::nullopt);
}

TEST(Token, ScopeCoversItselfAndWhatIsBelow) {
  struct Case {
    const char* granted;
    const char* wanted;
    bool covers;
  };
  for (const Case& c :
       {Case{"arrakis.read", "arrakis.read", true}, Case{"arrakis.read:/", "arrakis.read", true},
        Case{"arrakis.read:/x", "arrakis.read", false},
        Case{"arrakis.create:/", "arrakis.create:/P", true},
        Case{"arrakis.create:/P", "arrakis.create:/P", true},
        Case{"arrakis.create:/P/", "arrakis.create:/P/sub", true},
        Case{"arrakis.create:/P", "arrakis.create:/PUB", false},
        Case{"arrakis.create:/PUB", "arrakis.create:/P", false},
        Case{"arrakis.read:/", "arrakis.create:/P", false}}) {
    EXPECT_EQ(covers(c.granted, c.wanted), c.covers) << c.granted << ' ' << c.wanted;
  }
}

TEST(Token, ClaimsAreReadWithoutVerifying) {
  const std::optional<TokenClaims> claims = parse_token(
      jwt(R"({"exp": 1700000000.5, "aud": ["a", "b"], "scope": " x  y ", "nbf": -1e300})"));
  ASSERT_TRUE(claims);
  EXPECT_THAT(claims->audiences, ElementsAre("a", "b"));
  EXPECT_THAT(claims->scopes, ElementsAre("x", "y"));
  ASSERT_TRUE(claims->expiry);
  EXPECT_EQ(unix_seconds(*claims->expiry), 1700000000);
  EXPECT_TRUE(claims->not_before);
}

TEST(Token, WhatIsNoJwtIsNone) {
  const std::string good = jwt("{}");
  EXPECT_TRUE(parse_token(good));
  for (const std::string& bad :
       {std::string(), std::string(".."), good + ".", good.substr(0, good.rfind('.')), good + "!",
        jwt("[]"), jwt("{"), "." + good, std::string(100'000, 'a')}) {
    EXPECT_FALSE(parse_token(bad)) << bad.substr(0, 100);
  }
}

}  // namespace
}  // namespace arrakis::inline v1
