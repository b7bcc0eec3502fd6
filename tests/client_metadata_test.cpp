/// The metadata calls of our Client against the reference's servers: what they answer is what the
/// reference's client makes of the same arguments, and their errors are those of the one table.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "arrakis/client.hpp"
#include "arrakis/json.hpp"
#include "client/pattern_check.hpp"
#include "testing/deadlines.hpp"
#include "testing/peers.hpp"
#include "testing/python_server.hpp"
#include "testing/real_broker.hpp"
#include "testing/temporary_folder.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Outcome;
using testing::outcome_of;
using testing::PythonServer;
using testing::RealBroker;

/// What the reference's client answers to calls, one after the other.
std::vector<json> python_answers(const std::vector<json>& calls) {
  const testing::TemporaryFolder folder;
  std::string text;
  for (const json& call : calls) text += call.dump() + '\n';
  const std::string input = folder.write("calls", text);
  std::istringstream output(
      testing::run(fmt::format("env -u ARRAKIS_SERVER PYTHONDONTWRITEBYTECODE=1 HOME='{}' '{}' "
                               "'{}/tests/client_metadata.py' <'{}' 2>'{}/log'",
                               folder.path().string(), testing::python(), ARRAKIS_SOURCE_DIR, input,
                               folder.path().string())));
  std::vector<json> answers;
  for (std::string line; std::getline(output, line);) answers.push_back(json::parse(line));
  EXPECT_EQ(answers.size(), calls.size());
  answers.resize(calls.size());
  return answers;
}

json sorted(json list) {
  std::sort(list.begin(), list.end(),
            [](const json& a, const json& b) { return a.dump() < b.dump(); });
  return list;
}

json json_of(const Channel& channel) { return json::parse(to_json(channel)); }

json find_json(const Client& client, const Query& query) {
  json list = json::array();
  for (const Channel& channel : client.find(query)) list.push_back(json_of(channel));
  return sorted(list);
}

/// A query, and the reference's arguments for it.
struct Asked {
  Query query;
  json args;
};

std::vector<Asked> queries() {
  return {
      {{}, json::object()},
      {{.pattern = "H1"}, {{"pattern", "H1"}}},
      {{.pattern = "H1:.*STRAIN$"}, {{"pattern", "H1:.*STRAIN$"}}},
      {{.pattern = "STRAIN"}, {{"pattern", "STRAIN"}}},
      {{.pattern = "(?i)h1:(GDS|cal)"}, {{"pattern", "(?i)h1:(GDS|cal)"}}},
      {{.data_types = {DataType::float64}}, {{"data_type", "float64"}}},
      {{.data_types = {DataType::int32, DataType::uint64}}, {{"data_type", {"int32", "uint64"}}}},
      {{.min_rate = 512}, {{"min_rate", 512}}},
      {{.max_rate = 16}, {{"max_rate", 16}}},
      {{.pattern = "L1", .min_rate = 16, .max_rate = 256},
       {{"pattern", "L1"}, {"min_rate", 16}, {"max_rate", 256}}},
      {{.publishers = {"FAKE_H1", "none"}}, {{"publisher", {"FAKE_H1", "none"}}}},
      {{.publishers = {"none"}}, {{"publisher", "none"}}},
      {{.time = GpsTime::from_seconds(1400000000)}, {{"time", 1400000000}}},
      {{.replay_id = "O4R"}, {{"replay_id", "O4R"}}},
  };
}

/// What our client makes of one of the calls.
json our_answer(const Client& client, const std::string& call, const Query& query) {
  if (call == "count") return client.count(query);
  return find_json(client, query);
}

/// The server's own words in the reference's error: without what Arrow and the request id add.
std::string server_text(const json& error) {
  std::string text = error.at("text");
  for (const char* const mark : {" [request:", ". Detail:"}) {
    text = text.substr(0, text.find(mark));
  }
  constexpr std::string_view kPrefix = "Flight error: ";
  return text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text;
}

void expect_equal(const Client& client, const std::string& call, const Asked& asked, json answer) {
  SCOPED_TRACE(call + ' ' + asked.args.dump());
  if (answer.contains("result")) {
    if (call == "find") answer["result"] = sorted(answer["result"]);
    EXPECT_EQ(our_answer(client, call, asked.query), answer.at("result"));
    return;
  }
  const Outcome outcome = outcome_of([&] { (void)our_answer(client, call, asked.query); });
  EXPECT_THAT(outcome.code, AnyOf(Errc::server, Errc::not_found)) << answer;
  EXPECT_THAT(outcome.text, HasSubstr(server_text(answer)));
}

void expect_equal_listings(const std::string& url, const std::vector<Asked>& all) {
  std::vector<json> calls;
  for (const Asked& asked : all) {
    for (const char* const call : {"find", "count"}) {
      calls.push_back({{"url", url}, {"call", call}, {"args", asked.args}});
    }
  }
  const std::vector<json> answers = python_answers(calls);
  const Client client(url);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    expect_equal(client, calls[i].at("call"), all[i / 2], answers[i]);
  }
}

/// The mock server that the tests which harm none share.
PythonServer& mock_server() {
  static PythonServer server({"mock"});
  return server;
}

ClientOptions options_for(const std::vector<std::string>& urls, Duration timeout = 60s) {
  return {.urls = urls, .timeout = timeout};
}

/// Every call that asks a server.
std::map<std::string, std::function<void(const Client&)>> all_calls() {
  return {
      {"find", [](const Client& client) { (void)client.find().next(); }},
      {"count", [](const Client& client) { (void)client.count(); }},
      {"describe", [](const Client& client) { (void)client.describe({"H1:GDS-CALIB_STRAIN"}); }},
      {"server-info", [](const Client& client) { (void)client.server_info(); }},
      {"scope-map", [](const Client& client) { (void)client.scope_map(); }},
      {"replays", [](const Client& client) { (void)client.replays(); }},
      {"domains", [](const Client& client) { (void)client.domains(); }},
      {"endpoints", [](const Client& client) { (void)client.endpoints(); }},
  };
}

TEST(ClientMetadata, ListingsAndCountsAreThoseOfTheReferencesClient) {
  const Client client(mock_server().url());
  EXPECT_GT(client.count(), 100U);
  expect_equal_listings(mock_server().url(), queries());
}

TEST(ClientMetadata, DescriptionsAreThoseOfTheReferencesClientAndInTheOrderAsked) {
  const std::string url = mock_server().url();
  const std::vector<std::string> names = {"L1:GDS-CALIB_STRAIN", "H1:LSC-DARM_IN1_DQ",
                                          "H1:GDS-CALIB_STRAIN", "L1:GDS-CALIB_STRAIN"};
  const json answer =
      python_answers({{{"url", url}, {"call", "describe"}, {"args", {{"channels", names}}}}})[0];
  ASSERT_TRUE(answer.contains("result")) << answer;

  const ChannelSet channels = Client(url).describe(names);
  json list = json::array();
  std::vector<std::string> order;
  for (const Channel& channel : channels) {
    list.push_back(json_of(channel));
    order.push_back(channel.name());
  }
  EXPECT_THAT(order, ElementsAre(names[0], names[1], names[2]));
  EXPECT_EQ(sorted(list), sorted(answer.at("result")));
}

TEST(ClientMetadata, UnknownChannelsAreNamed) {
  const Client client(mock_server().url());
  const Outcome outcome = outcome_of([&] {
    (void)client.describe({"H1:GDS-CALIB_STRAIN", "H1:NO-SUCH", "X1:NO-DOMAIN"});
  });
  EXPECT_EQ(outcome.code, Errc::not_found) << outcome.text;
  EXPECT_THAT(outcome.text, AllOf(HasSubstr("H1:NO-SUCH"), Not(HasSubstr("CALIB"))));
}

TEST(ClientMetadata, WhatServersSayOfThemselvesIsWhatTheReferencesClientSays) {
  const std::string url = mock_server().url();
  std::vector<json> calls;
  for (const char* const call : {"server_info", "scope_map", "replays", "domains", "endpoints"}) {
    calls.push_back({{"url", url}, {"call", call}, {"args", json::object()}});
  }
  const std::vector<json> answers = python_answers(calls);
  const Client client(url);
  const ServerInfo info = client.server_info();
  EXPECT_EQ(json::parse(info.json), answers[0].at("result"));
  EXPECT_EQ(info.backend, "mock");
  EXPECT_EQ(info.schema_version, "0.5.0");
  EXPECT_THAT(info.domains, ElementsAre("H1", "L1"));
  EXPECT_THAT(info.capabilities, ElementsAre("find", "count", "describe", "stream"));
  EXPECT_FALSE(info.auth);
  EXPECT_EQ(json::parse(client.scope_map()), answers[1].at("result"));
  EXPECT_TRUE(client.replays().empty());
  EXPECT_EQ(json(client.domains()), answers[3].at("result"));
  EXPECT_EQ(json(client.endpoints()), answers[4].at("result"));
  EXPECT_EQ(client.url(), url);
}

constexpr const char* kCommon =
    "[\"common\"]\npublisher = \"P\"\nsample_rate = 16\ndata_type = \"float32\"\n"
    "stride = 62_500_000\nmax_latency = 1_000_000_000\n";

/// Two replicas for H1 and one server for L1 behind one that answers questions only.
class SeveralServers : public ::testing::Test {
 protected:
  SeveralServers() {
    const std::string h1 = std::string(kCommon) + "[\"H1:A-x\"]\n[\"H1:A-y\"]\n";
    first_.start({"mock", first_.write("h1.toml", h1)});
    second_.start({"mock", second_.write("h1.toml", h1)});
    other_.start({"mock", other_.write("l1.toml", std::string(kCommon) + "[\"L1:B-z\"]\n")});
    const std::string map = fmt::format(
        "replays:\n  O4R: {{start: 1000000000, end: 1000086400.5}}\n"
        "{}:\n  retention: {{newest: 0}}\n  scopes:\n    H1: [{{all: true}}]\n"
        "{}:\n  retention: {{newest: 0}}\n  scopes:\n    H1: [{{all: true}}]\n"
        "{}:\n  retention: {{newest: 0}}\n  scopes:\n    L1: [{{all: true}}]\n",
        first_.url(), second_.url(), other_.url());
    info_.start({"--scope-map", info_.write("scopes.yaml", map)});
  }

  PythonServer first_;
  PythonServer second_;
  PythonServer other_;
  PythonServer info_;
};

TEST_F(SeveralServers, AnswersOfAllOfThemArePutTogether) {
  expect_equal_listings(info_.url(),
                        {queries()[0], queries()[1], {{.pattern = "L1"}, {{"pattern", "L1"}}}});
  const Client client(info_.url());
  EXPECT_EQ(client.count(), 3U);
  EXPECT_EQ(client.describe({"L1:B-z", "H1:A-y"}).size(), 2U);
  EXPECT_THAT(client.domains(), ElementsAre("H1", "L1"));
  std::vector<std::string> urls = {first_.url(), second_.url(), other_.url()};
  std::ranges::sort(urls);
  EXPECT_EQ(client.endpoints(), urls);
  EXPECT_EQ(client.server_info().backend, std::nullopt);
  const auto replays = client.replays();
  ASSERT_EQ(replays.size(), 1U);
  EXPECT_EQ(replays.at("O4R").start, GpsTime::from_seconds(1000000000));
  EXPECT_EQ(replays.at("O4R").end, GpsTime::from_seconds(1000086400) + 500ms);
}

TEST_F(SeveralServers, ReplicaThatIsDownIsPassedOver) {
  for (PythonServer* const replica : {&first_, &second_}) {
    replica->kill();
    const Client client(info_.url());
    EXPECT_EQ(client.count(), 3U);
    EXPECT_EQ(find_json(client, {}).size(), 3U);
    EXPECT_EQ(client.describe({"H1:A-x"}).size(), 1U);
    replica->restart();
  }
  first_.kill();
  second_.kill();
  const Client client(info_.url());
  for (const char* const call : {"find", "count", "describe"}) {
    const Outcome outcome = outcome_of([&] {
      if (call == std::string("describe")) {
        (void)client.describe({"H1:A-x"});
      } else {
        all_calls().at(call)(client);
      }
    });
    EXPECT_EQ(outcome.code, Errc::unavailable) << call << ' ' << outcome.text;
    EXPECT_THAT(outcome.text, AllOf(HasSubstr(first_.url()), HasSubstr(second_.url())));
  }
}

TEST(ClientMetadata, ServerThatIsDownIsUnavailableToEveryCallAndNamed) {
  const testing::Peer refusing(testing::Peer::Kind::dead);
  const Client client(options_for({refusing.address()}));
  for (const auto& [name, call] : all_calls()) {
    const Outcome outcome = outcome_of([&, &ask = call] { ask(client); });
    EXPECT_EQ(outcome.code, Errc::unavailable) << name << ": " << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr(" at grpc://" + refusing.address()));
  }
}

/// A server that takes connections and never answers.
void expect_in_time(const std::string& url) {
  constexpr Duration kTimeout = 500ms;
  const Client client(options_for({url}, kTimeout));
  for (const auto& [name, call] : all_calls()) {
    const auto attempt = [&, &ask = call] { return outcome_of([&] { ask(client); }); };
    const Outcome outcome = testing::within(kTimeout + testing::kSlack, attempt);
    EXPECT_THAT(outcome.code, AnyOf(Errc::timeout, Errc::unavailable))
        << name << ": " << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr(url.substr(url.find("127."))));
  }
}

TEST(ClientMetadata, ServerThatNeverAnswersIsGivenUpInTime) {
  const testing::Peer mute(testing::Peer::Kind::mute);
  expect_in_time(mute.address());
}

TEST(ClientMetadata, ServerThatStopsAnsweringIsGivenUpInTime) {
  PythonServer server({"mock"});
  const Client client(options_for({server.url()}));
  EXPECT_GT(client.count(), 0U);
  server.freeze();
  expect_in_time(server.url());
  server.thaw();
  EXPECT_GT(client.count(), 0U);
}

TEST(ClientMetadata, NextUrlIsAskedWhenOneCantBeReachedOrDoesNotAnswer) {
  const testing::Peer dead(testing::Peer::Kind::dead);
  const testing::Peer mute(testing::Peer::Kind::mute);
  const Client client(options_for({dead.address(), mute.address(), mock_server().url()}, 20s));
  for (const auto& [name, call] : all_calls()) {
    const Outcome outcome = outcome_of([&, &ask = call] { ask(client); });
    EXPECT_EQ(outcome.code, std::nullopt) << name << ": " << outcome.text;
  }
  EXPECT_EQ(client.url(), "grpc://" + dead.address());
}

TEST(ClientMetadata, NextUrlIsNotAskedForWhatWouldBeRefusedThereToo) {
  const testing::Peer dead(testing::Peer::Kind::dead);
  const Client client(options_for({mock_server().url(), dead.address()}));
  const Outcome outcome = outcome_of([&] { (void)client.describe({"H1:NO-SUCH"}); });
  EXPECT_EQ(outcome.code, Errc::not_found);
  EXPECT_THAT(outcome.text, Not(HasSubstr(dead.address())));
}

TEST(ClientMetadata, UrlsThatAllFailAreAllNamed) {
  const testing::Peer one(testing::Peer::Kind::dead);
  const testing::Peer two(testing::Peer::Kind::dead);
  const Client client(options_for({one.address(), two.address()}));
  const Outcome outcome = outcome_of([&] { (void)client.count(); });
  EXPECT_EQ(outcome.code, Errc::unavailable);
  EXPECT_THAT(outcome.text, AllOf(HasSubstr(one.address()), HasSubstr(two.address())));
}

TEST(ClientMetadata, ServerThatCameBackIsReachedAgain) {
  PythonServer server({"mock"});
  const Client client(options_for({server.url()}));
  const std::uint64_t count = client.count();
  server.kill();
  EXPECT_EQ(outcome_of([&] { (void)client.count(); }).code, Errc::unavailable);
  server.restart();
  EXPECT_EQ(client.count(), count);
  server.terminate();
}

class WithTokens : public ::testing::Test {
 protected:
  void SetUp() override { unsetenv("ARRAKIS_TOKEN"); }
  void TearDown() override { unsetenv("ARRAKIS_TOKEN"); }

  static PythonServer& server() {
    static PythonServer server({"--auth", "full", "--static-token", "P=secret", "mock"});
    return server;
  }
  static ClientOptions options(TokenOptions token) {
    ClientOptions options = options_for({server().url()});
    options.token = std::move(token);
    return options;
  }
};

TEST_F(WithTokens, CallWithoutAValidOneIsRefusedAndTheTokenIsNotRepeated) {
  for (const char* const token : {"", "wrong-one"}) {
    const Client client(options({.mode = TokenOptions::Mode::off, .token = token}));
    for (const char* const call : {"find", "count", "describe", "scope-map", "replays"}) {
      const Outcome outcome = outcome_of([&] { all_calls().at(call)(client); });
      EXPECT_EQ(outcome.code, Errc::unauthenticated) << call << ": " << outcome.text;
      EXPECT_THAT(outcome.text, AllOf(HasSubstr("token"), Not(HasSubstr("wrong-one"))));
    }
    EXPECT_TRUE(client.server_info().auth);
  }
}

TEST_F(WithTokens, CallWithTheRightOneIsAnswered) {
  EXPECT_GT(Client(options({.token = "secret"})).count(), 0U);
}

TEST_F(WithTokens, OneThatWasRefusedIsLookedForAgainOnce) {
  setenv("ARRAKIS_TOKEN", "old", 1);
  const Client client(options({}));
  EXPECT_EQ(outcome_of([&] { (void)client.count(); }).code, Errc::unauthenticated);
  setenv("ARRAKIS_TOKEN", "secret", 1);
  EXPECT_GT(find_json(client, {}).size(), 0U);
  unsetenv("ARRAKIS_TOKEN");
  EXPECT_GT(client.count(), 0U);
}

TEST(ClientMetadata, WithAKafkaBackendEverythingIsAsWithTheReferencesClientToo) {
  const testing::PublisherConfig live{.publisher_id = "LIVE",
                                      .channels = {{"X1:A-i8", "int8", 16},
                                                   {"X1:A-f32", "float32", 256},
                                                   {"X1:B_u32", "uint32", 16384},
                                                   {"X1:B_f64", "float64", 1}}};
  const testing::PublisherConfig replay{
      .publisher_id = "DERIVED", .replay_id = "O4R", .channels = {{"X1:A-f32", "float64", 512}}};
  PythonServer server;
  const std::string map = fmt::format(
      "replays:\n  O4R: {{start: 1000000000, end: 1000086400}}\n{}:\n"
      "  retention: {{newest: 0, oldest: 900}}\n  replay_ids: [O4R]\n"
      "  scopes:\n    X1: [{{all: true}}]\n",
      server.url());
  server.start({"--scope-map", server.write("scopes.yaml", map), "kafka", "--kafka-url",
                RealBroker::get().bootstrap(), "--publisher-config",
                server.write("live.toml", live.toml()), "--publisher-config",
                server.write("replay.toml", replay.toml())});
  std::vector<Asked> all = queries();
  all.push_back({{.publishers = {"LIVE"}}, {{"publisher", "LIVE"}}});
  expect_equal_listings(server.url(), all);

  const Client client(server.url());
  EXPECT_EQ(client.count(), 4U);
  EXPECT_EQ(client.count({.replay_id = "O4R"}), 1U);
  const ChannelSet channels = client.describe({"X1:A-f32"}, {}, "O4R");
  EXPECT_EQ(channels.at("X1:A-f32").sample_rate(), SampleRate(512));
  EXPECT_EQ(channels.at("X1:A-f32").replay_id, "O4R");
  EXPECT_EQ(client.describe({"X1:A-i8"}).at("X1:A-i8").data_type(), DataType::int8);
  EXPECT_EQ(outcome_of([&] { (void)client.describe({"X1:A-i8"}, {}, "O4R"); }).code,
            Errc::not_found);
}

/// Texts of few characters, most of which mean something in a pattern.
std::vector<std::string> random_patterns(std::size_t count) {
  constexpr std::string_view kPieces = "ab2,()[]{}*+?|\\^$-:<>=!#.iPx";
  std::mt19937 random(20151);
  std::vector<std::string> patterns;
  for (std::size_t i = 0; i < count; ++i) {
    std::string pattern(1 + random() % 8, ' ');
    for (char& c : pattern) c = kPieces[random() % kPieces.size()];
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

TEST(ClientMetadata, PatternThatIsFaultedHereIsFaultedByPython) {
  const std::vector<std::string> patterns = random_patterns(50'000);
  std::string text;
  for (const std::string& pattern : patterns) text += pattern + '\n';
  const testing::TemporaryFolder folder;
  const std::string verdicts = testing::run(fmt::format(
      "'{}' -W ignore -c \"\nimport re, sys\nfor line in sys.stdin:\n  try: re.compile(line[:-1]); "
      "v = '1'\n  except re.error: v = '0'\n  sys.stdout.write(v)\n\" <'{}'",
      testing::python(), folder.write("patterns", text)));
  ASSERT_EQ(verdicts.size(), patterns.size());
  std::size_t refused = 0;
  std::size_t told = 0;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    refused += verdicts[i] == '0' ? 1U : 0U;
    if (const auto fault = pattern_fault(patterns[i])) {
      ++told;
      EXPECT_EQ(verdicts[i], '0') << patterns[i] << ": " << *fault;
    }
  }
  // Most of what is wrong is told.
  EXPECT_GT(told, refused * 3 / 4);
}

}  // namespace
}  // namespace arrakis
