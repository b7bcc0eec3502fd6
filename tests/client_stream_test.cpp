/// Streams and fetches of our Client from the reference's servers: the reference's client gets the
/// same, and servers that die or hang cost nothing that they still have.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "arrakis/client.hpp"
#include "arrakis/publish.hpp"
#include "testing/channels.hpp"
#include "testing/deadlines.hpp"
#include "testing/eventually.hpp"
#include "testing/live_publisher.hpp"
#include "testing/log_lines.hpp"
#include "testing/python_server.hpp"
#include "testing/real_broker.hpp"
#include "testing/temporary_folder.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::eventually;
using ::testing::HasSubstr;
using testing::kStride;
using testing::make_block;
using testing::on_grid;
using testing::Outcome;
using testing::outcome_of;
using testing::PublisherConfig;
using testing::PythonServer;
using testing::RealBroker;
using Names = std::vector<std::string>;

constexpr GpsTime kPast = GpsTime::from_seconds(1'000'000'000);
const Names kMixed = {"H1:TEST-CHANNEL_COS", "H1:TEST-STATE_ONES", "H1:TEST-CHANNEL_SIN"};

/// Starts a mock server of three channels.
void start_mock(PythonServer& server, const PythonServer::Arguments& options = {}) {
  PythonServer::Arguments arguments = {"mock"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.push_back(server.write(
      "channels.toml",
      "[\"common\"]\nstride = 62_500_000\nmax_latency = 1_000_000_000\n"
      "[\"H1:TEST-CHANNEL_SIN\"]\nsample_rate = 512\ndata_type = \"float32\"\nfunc = \"sin(t)\"\n"
      "[\"H1:TEST-CHANNEL_COS\"]\nsample_rate = 2048\ndata_type = \"float64\"\nfunc = \"cos(t)\"\n"
      "[\"H1:TEST-STATE_ONES\"]\nsample_rate = 16\ndata_type = \"int32\"\nfunc = \"1\"\n"));
  server.start(arguments);
}

/// The mock server that the tests which harm none share.
PythonServer& mock_server() {
  static PythonServer server;
  [[maybe_unused]] static const bool started = (start_mock(server), true);
  return server;
}

/// What the reference's client fetches.
json python_fetch(const std::string& url, const json& args) {
  const testing::TemporaryFolder folder;
  const std::string input =
      folder.write("calls", json({{"url", url}, {"args", args}}).dump() + '\n');
  return json::parse(testing::run(fmt::format(
      "env -u ARRAKIS_SERVER PYTHONDONTWRITEBYTECODE=1 HOME='{}' '{}' '{}/tests/client_stream.py' "
      "<'{}' 2>'{}/log'",
      folder.path().string(), testing::python(), ARRAKIS_SOURCE_DIR, input,
      folder.path().string())));
}

json samples_of(const Series& series) {
  json list = json::array();
  visit_type(series.channel().data_type(), [&](auto zero) {
    const auto values = series.values<decltype(zero)>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      list.push_back(series.is_gap(i) ? json() : json(values[i]));
    }
  });
  return list;
}

json json_of(const SeriesBlock& block) {
  json data = json::object();
  for (std::size_t c = 0; c < block.size(); ++c) {
    const Series series = block.at(c);
    data[series.channel().name()] = samples_of(series);
  }
  return {
      {"time_ns", block.time().ns()}, {"duration_ns", block.duration().count()}, {"data", data}};
}

Client client_of(const std::string& url) {
  return Client({.urls = {url}, .token = {.mode = TokenOptions::Mode::off}});
}

TEST(ClientStream, AFetchIsWhatTheReferenceFetches) {
  const std::string url = mock_server().url();
  const Names names = {"H1:TEST-STATE_ONES", "H1:TEST-CHANNEL_SIN"};
  const SeriesBlock block =
      client_of(url).fetch({.channels = names, .start = kPast, .duration = 10s});
  const json expected =
      python_fetch(url, {{"channels", names}, {"start", 1'000'000'000}, {"duration", 10}});
  EXPECT_EQ(json_of(block), expected);
  EXPECT_EQ(block.duration(), 10s);
}

TEST(ClientStream, AStartAloneFetchesOneStride) {
  const SeriesBlock block =
      client_of(mock_server().url()).fetch({.channels = kMixed, .start = kPast});
  EXPECT_EQ(block.time(), kPast);
  EXPECT_EQ(block.duration(), 62500us);
  EXPECT_EQ(block.size(), 3U);
}

TEST(ClientStream, NothingFetchesABlockOfNow) {
  const GpsTime before = system_clock().now();
  const SeriesBlock block = client_of(mock_server().url()).fetch({.channels = {kMixed[1]}});
  EXPECT_GT(block.time(), before - 10s);
  EXPECT_EQ(block.duration(), 62500us);
}

TEST(ClientStream, ALiveStreamIsContiguousAndOnTheGrid) {
  BlockStream stream = client_of(mock_server().url()).stream({.channels = kMixed});
  std::optional<GpsTime> expected;
  for (int i = 0; i < 32; ++i) {
    const BlockStream::Next next = stream.next(60s);
    ASSERT_TRUE(next) << "block " << i;
    EXPECT_TRUE(next.block.time().is_multiple_of(62500us));
    EXPECT_EQ(next.block.time(), expected.value_or(next.block.time()));
    EXPECT_FALSE(next.block.has_gaps());
    expected = next.block.end();
  }
}

TEST(ClientStream, ALiveStreamEndsAfterItsDuration) {
  const SeriesBlock block =
      client_of(mock_server().url()).fetch({.channels = {kMixed[1]}, .duration = 500ms});
  EXPECT_EQ(block.duration(), 500ms);
}

TEST(ClientStream, AFutureStartIsWaitedForAndExact) {
  const GpsTime start = on_grid(system_clock().now()) + 1s;
  const SeriesBlock block =
      client_of(mock_server().url())
          .fetch({.channels = {kMixed[1]}, .start = start, .duration = 250ms});
  EXPECT_EQ(block.time(), start);
  EXPECT_EQ(block.duration(), 250ms);
}

TEST(ClientStream, FaultsOfTheServerAreGapsOfTheStreamAndNothingComesTwice) {
  for (const char* const fault : {"full-gaps", "partial-gaps", "duplicates"}) {
    PythonServer server;
    start_mock(server, {"--with-faults", fault, "--fault-interval", "4"});
    BlockStream stream =
        client_of(server.url()).stream({.channels = kMixed, .start = kPast, .duration = 2s});
    GpsTime expected = kPast;
    bool has_gaps = false;
    for (const SeriesBlock& block : stream) {
      EXPECT_EQ(block.time(), expected) << fault;
      expected = block.end();
      has_gaps |= block.has_gaps();
    }
    EXPECT_EQ(expected, kPast + 2s) << fault;
    EXPECT_EQ(has_gaps, std::string(fault) != "duplicates") << fault;
  }
}

TEST(ClientStream, WhatTheServerRefusesIsThrownAndNotAskedForAgain) {
  const Client client = client_of(mock_server().url());
  const Outcome outcome = outcome_of([&] { (void)client.stream({.channels = {"H1:NO-SUCH"}}); });
  EXPECT_EQ(outcome.code, Errc::not_found);
  EXPECT_THAT(outcome.text, HasSubstr("H1:NO-SUCH"));
}

TEST(ClientStream, AStreamIsCancelledAndClosedInTimeWhileItsServerHangs) {
  PythonServer server;
  start_mock(server);
  BlockStream stream = client_of(server.url()).stream({.channels = {kMixed[1]}});
  ASSERT_TRUE(stream.next(60s));
  server.freeze();
  std::atomic<bool> waits{false};
  std::thread other([&] {
    EXPECT_TRUE(eventually([&] { return waits.load(); }));
    stream.cancel();
  });
  waits = true;
  while (stream.next({}).status != BlockStream::Status::end) {
  }
  other.join();
  const Outcome closed = outcome_of([&] { stream.close(); });
  EXPECT_LE(closed.took, testing::kCloseLimit + testing::kSlack);
  server.thaw();
}

/// Takes blocks until one ends after `time`; each must begin where the one before it ended.
void follow(BlockStream& stream, GpsTime time, std::optional<GpsTime>& expected) {
  for (;;) {
    const BlockStream::Next next = stream.next(120s);
    ASSERT_TRUE(next) << "waiting for GPS " << format_time(time);
    EXPECT_EQ(format_time(next.block.time()), format_time(expected.value_or(next.block.time())));
    EXPECT_FALSE(next.block.has_gaps()) << format_time(next.block.time());
    expected = next.block.end();
    if (*expected > time) return;
  }
}

TEST(ClientStream, AServerThatIsKilledTwentyTimesCostsNothing) {
  constexpr int kKills = 20;
  PythonServer server;
  start_mock(server);
  const testing::LogLines log;
  BlockStream stream = client_of(server.url()).stream({.channels = {kMixed[1], kMixed[2]}});
  std::optional<GpsTime> expected;
  follow(stream, GpsTime::min(), expected);
  for (int i = 0; i < kKills; ++i) {
    server.kill();
    server.restart();
    follow(stream, system_clock().now(), expected);
  }
  EXPECT_GE(stream.stats().reconnects, static_cast<std::uint64_t>(kKills));
  EXPECT_EQ(log.of(LogLevel::warning, {"interrupted"}).size(),
            log.of(LogLevel::info, {"goes on"}).size());
}

TEST(ClientStream, WithoutReconnectTheFirstFailureIsThrown) {
  PythonServer server;
  start_mock(server);
  BlockStream stream =
      client_of(server.url()).stream({.channels = {kMixed[1]}, .reconnect = false});
  ASSERT_TRUE(stream.next(60s));
  server.kill();
  const Outcome outcome = outcome_of([&] {
    while (stream.next(60s)) {
    }
  });
  EXPECT_EQ(outcome.code, Errc::unavailable);
  EXPECT_THAT(outcome.text, HasSubstr(server.url()));
}

TEST(ClientStream, AnotherServerOfTheListTakesOver) {
  PythonServer first;
  PythonServer second;
  start_mock(first);
  start_mock(second);
  BlockStream stream =
      Client({.urls = {first.url(), second.url()}}).stream({.channels = {kMixed[1]}});
  std::optional<GpsTime> expected;
  follow(stream, GpsTime::min(), expected);
  first.kill();
  follow(stream, system_clock().now() + 1s, expected);
}

TEST(ClientStream, AServerThatHangsPastItsBoundIsLeftForAnother) {
  PythonServer first;
  PythonServer second;
  start_mock(first);
  start_mock(second);
  const Client client({.urls = {first.url(), second.url()},
                       .token = {.mode = TokenOptions::Mode::off},
                       .tls = {},
                       .timeout = 4s});
  const testing::LogLines log;
  BlockStream stream = client.stream({.channels = {kMixed[1]}});
  std::optional<GpsTime> expected;
  follow(stream, GpsTime::min(), expected);
  first.freeze();
  // A live stream waits for nobody: it goes on in gaps, and after a second of latency, a stride and
  // thirty seconds with the other server.
  bool has_gaps = true;
  for (int i = 0; i < 16 * 120 && has_gaps; ++i) {
    const BlockStream::Next next = stream.next(120s);
    ASSERT_TRUE(next);
    EXPECT_EQ(format_time(next.block.time()), format_time(*expected));
    expected = next.block.end();
    has_gaps = next.block.has_gaps() || stream.stats().reconnects == 0;
  }
  EXPECT_FALSE(has_gaps);
  EXPECT_EQ(log.of(LogLevel::warning, {"interrupted", "silent for more than"}).size(), 1U);
  first.thaw();
}

TEST(ClientStream, AStreamMovesToTheOtherLocationOfItsEndpoint) {
  PythonServer replicas[2];
  PythonServer info;
  std::string map;
  for (PythonServer& replica : replicas) {
    start_mock(replica);
    map += fmt::format("{}:\n  retention: {{newest: 0}}\n  scopes:\n    H1: [{{all: true}}]\n",
                       replica.url());
  }
  info.start({"--scope-map", info.write("scopes.yaml", map)});
  BlockStream stream = client_of(info.url()).stream({.channels = {kMixed[1], kMixed[2]}});
  std::optional<GpsTime> expected;
  follow(stream, GpsTime::min(), expected);
  for (PythonServer& replica : replicas) {
    replica.kill();
    follow(stream, system_clock().now() + 1s, expected);
    replica.restart();
  }
}

TEST(ClientStream, AResumeTokenGoesOnWhereItWasTaken) {
  const Client client = client_of(mock_server().url());
  StreamRequest request{.channels = kMixed, .start = kPast, .end = kPast + 2s};
  GpsTime stopped;
  {
    BlockStream stream = client.stream(request);
    for (int i = 0; i < 10; ++i) stopped = stream.next(60s).block.end();
    request.resume = stream.resume_token();
  }
  const SeriesBlock rest = client.fetch(request);
  EXPECT_EQ(rest.time(), stopped);
  EXPECT_EQ(rest.end(), kPast + 2s);
  request.channels = {kMixed[0]};
  EXPECT_EQ(outcome_of([&] { (void)client.stream(request); }).code, Errc::invalid_argument);
}

/// A broker, a server with a publisher of two partitions' channels, and our Publisher.
class KafkaServer : public ::testing::Test {
 protected:
  static PublisherConfig config() {
    PublisherConfig made;
    made.publisher_id = "PUB";
    made.is_dynamic = true;
    made.channels = {{"X1:AAA-F", "float32", 64}, {"X1:BBB-I", "int32", 16}};
    return made;
  }
  void start(const std::string& scope_map = {}) {
    PythonServer::Arguments arguments;
    if (!scope_map.empty()) {
      arguments = {"--scope-map", server_.write("scopes.yaml", scope_map)};
    }
    for (const std::string& argument :
         {std::string("kafka"), std::string("--kafka-url"), broker_.bootstrap(),
          std::string("--publisher-config"), server_.write("publisher.toml", config().toml())}) {
      arguments.push_back(argument);
    }
    server_.start(arguments);
  }
  ClientOptions options() const {
    return {.urls = {server_.url()}, .token = {.mode = TokenOptions::Mode::off}};
  }
  /// A block of every channel of the publisher for each stride up to `end`.
  static void publish_up_to(Publisher& publisher, GpsTime& next, GpsTime end) {
    for (; next + kStride <= end; next += kStride) {
      publisher.publish(make_block(next, publisher.channels(), seed(next)));
    }
  }
  static int seed(GpsTime time) { return static_cast<int>(time.ns() / kStride.count() % 1000); }

  static Names names_of(const ChannelSet& channels) {
    Names names;
    for (const Channel& channel : channels) names.push_back(channel.name());
    return names;
  }

  RealBroker broker_{RealBroker::Options{}};
  PythonServer server_;
};

TEST_F(KafkaServer, WhatIsPublishedComesBackThroughTheServerAndFromTheBrokerAlike) {
  start();
  Publisher publisher("PUB", options());
  publisher.register_channels();
  ASSERT_EQ(publisher.channels().size(), 2U);
  // What is of now the server may count as late.
  GpsTime next = on_grid(system_clock().now()) - 12s;
  const GpsTime begin = next;
  publish_up_to(publisher, next, begin + 5s);
  const Client client(options());
  StreamRequest request{.channels = names_of(publisher.channels()), .start = begin, .end = next};
  for (const bool direct : {false, true}) {
    if (direct) request.kafka_url = broker_.bootstrap();
    GpsTime expected = begin;
    for (const SeriesBlock& block : client.stream(request)) {
      SCOPED_TRACE(fmt::format("direct {} {}", direct, (block.time() - begin) / kStride));
      ASSERT_EQ(block.time(), expected);
      EXPECT_FALSE(block.has_gaps());
      const SeriesBlock same = make_block(expected, publisher.channels(), seed(expected));
      for (const Channel& channel : publisher.channels()) {
        EXPECT_EQ(samples_of(block[channel.name()]), samples_of(same[channel.name()]));
      }
      expected = block.end();
    }
    EXPECT_EQ(expected, next);
  }
  // A span off the grid is served exactly.
  request.kafka_url.reset();
  request.start = begin + 20ms;
  request.end = begin + 520ms;
  const SeriesBlock cut = client.fetch(request);
  EXPECT_EQ(cut.time(), *request.start);
  EXPECT_EQ(cut.end(), *request.end);
  EXPECT_FALSE(cut.has_gaps());
}

TEST_F(KafkaServer, ANewChannelIsRegisteredOnceAndGetsAPartition) {
  start();
  Publisher publisher("PUB", options());
  const ChannelSet wanted({Channel("X1:CCC-NEW", DataType::float64, SampleRate(32))});
  publisher.register_channels(wanted);
  EXPECT_EQ(publisher.channels().size(), 3U);
  const Channel added = publisher.channels().at("X1:CCC-NEW");
  EXPECT_TRUE(added.partition_id);
  Publisher again("PUB", options());
  again.register_channels(wanted);
  EXPECT_EQ(again.channels().at("X1:CCC-NEW").partition_id, added.partition_id);
}

TEST_F(KafkaServer, PublishersThatTheServerDoesNotKnowAreRefusedByName) {
  start();
  Publisher stranger("NOBODY", options());
  const Outcome none = outcome_of([&] { stranger.register_channels(); });
  EXPECT_EQ(none.code, Errc::not_found);
  EXPECT_THAT(none.text, HasSubstr("no channels registered for publisher ID 'NOBODY'"));
  const ChannelSet channels({Channel("X1:Q-A", DataType::float64, SampleRate(32))});
  const Outcome refused = outcome_of([&] { stranger.register_channels(channels); });
  EXPECT_EQ(refused.code, Errc::permission_denied);
  EXPECT_THAT(refused.text, HasSubstr("publisher 'NOBODY' is not recognized by this server"));
  EXPECT_EQ(outcome_of([&] { stranger.publish(SeriesBlock()); }).code, Errc::failed_precondition);
}

TEST_F(KafkaServer, AServerThatIsRestartedUnderALiveStreamCostsNothingThatTheBrokerHas) {
  start();
  Publisher publisher("PUB", options());
  publisher.register_channels();
  std::atomic<bool> stop{false};
  std::thread publishing([&] {
    GpsTime next = on_grid(system_clock().now());
    while (!stop) {
      publish_up_to(publisher, next, system_clock().now());
      std::this_thread::sleep_for(10ms);
    }
  });
  {
    BlockStream stream = Client(options()).stream({.channels = names_of(publisher.channels())});
    std::optional<GpsTime> expected;
    follow(stream, GpsTime::min(), expected);
    for (int i = 0; i < 3; ++i) {
      server_.kill();
      server_.restart();
      follow(stream, system_clock().now(), expected);
    }
  }
  stop = true;
  publishing.join();
}

TEST_F(KafkaServer, ChannelsThatTheServerOffersFromTheBrokerAreReadThereAndFromTheServerWithoutIt) {
  start(
      fmt::format("{}:\n  retention: {{newest: 0, oldest: 900}}\n  scopes:\n    X1:\n"
                  "      - {{subsystem: AAA, direct_read: \"kafka://{}\"}}\n"
                  "      - {{subsystem: BBB}}\n",
                  server_.url(), broker_.bootstrap()));
  Publisher publisher("PUB", options());
  publisher.register_channels();
  GpsTime next = on_grid(system_clock().now()) - 12s;
  const GpsTime begin = next;
  publish_up_to(publisher, next, begin + 5s);
  const SeriesBlock block = Client(options()).fetch(
      {.channels = names_of(publisher.channels()), .start = begin, .end = next});
  EXPECT_EQ(block.time(), begin);
  EXPECT_EQ(block.end(), next);
  EXPECT_FALSE(block.has_gaps());
}

}
}
