/// Our FlightReader against the reference's mock server, through a BlockStream as programs use it.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/stream.hpp"
#include "flight/flight_reader.hpp"
#include "testing/channels.hpp"
#include "testing/python_server.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals
using ::testing::HasSubstr;
using testing::kStride;
using testing::PythonServer;

/// Three of the channels that the mock server has.
const ChannelSet& channels() {
  static const ChannelSet kChannels({
      testing::make_channel("H1:GDS-CALIB_STRAIN", "P", 0, DataType::float64, 16384),
      testing::make_channel("H1:LSC-DARM_IN1_DQ", "P", 1, DataType::float32, 16384),
      testing::make_channel("H1:CAL-DELTAL_EXTERNAL_DQ", "P", 2, DataType::float32, 16384),
  });
  return kChannels;
}

std::string number(std::optional<GpsTime> time) {
  return time ? std::to_string(time->ns()) : "null";
}

StreamEndpoint endpoint(const PythonServer& server, std::optional<GpsTime> start = {},
                        std::optional<GpsTime> end = {}, const ChannelSet& wanted = channels()) {
  std::vector<std::string> names;
  for (const Channel& channel : wanted) names.push_back('"' + channel.name() + '"');
  StreamEndpoint made;
  made.ticket =
      fmt::format(R"({{"request": "Stream", "args": {{"channels": [{}], "start": {}, "end": {}}}, )"
                  R"("version": "0.5.0"}})",
                  fmt::join(names, ", "), number(start), number(end));
  made.asked = Connector::resolve(server.url(), {});
  made.channels = wanted;
  made.start = start;
  made.end = end;
  return made;
}

ClientOptions options_for(const PythonServer& server) {
  ClientOptions options;
  options.urls = {server.url()};
  options.token.mode = TokenOptions::Mode::off;
  return options;
}

BlockStream stream_of(const StreamEndpoint& its, const ClientOptions& client,
                      const FlightReaderOptions& reader = {}) {
  StreamOptions options;
  options.start = its.start;
  options.end = its.end;
  // What a server sends may be as old as its own deadline.
  options.timeout = 3s;
  return BlockStream(
      std::make_unique<FlightReader>(std::make_shared<Connector>(client), std::vector{its}, reader),
      options);
}

/// The error that ends a stream.
std::optional<Error> error_of(BlockStream& stream) {
  try {
    while (stream.next(60s)) {
    }
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

TEST(FlightReaderPython, RangeComesWholeAndWithoutGaps) {
  const PythonServer server({"mock"});
  const GpsTime start = testing::on_grid(system_clock().now()) - 1h;
  constexpr int kBlocks = 32;
  BlockStream stream =
      stream_of(endpoint(server, start, start + kBlocks * kStride), options_for(server));
  int blocks = 0;
  for (const SeriesBlock& block : stream) {
    ASSERT_EQ(block.time(), start + blocks * kStride);
    EXPECT_FALSE(block.has_gaps());
    EXPECT_EQ(block["H1:GDS-CALIB_STRAIN"].values<double>().size(), 1024U);
    EXPECT_EQ(block["H1:LSC-DARM_IN1_DQ"].values<float>().size(), 1024U);
    ++blocks;
  }
  EXPECT_EQ(blocks, kBlocks);
  EXPECT_EQ(stream.stats().stride_mismatched + stream.stats().misaligned, 0U);
}

TEST(FlightReaderPython, GapsOfTheServerAreGapsOfTheBlocks) {
  const PythonServer server({"mock", "--with-faults", "partial-gaps", "--fault-interval", "2"});
  const GpsTime start = testing::on_grid(system_clock().now()) - 1h;
  BlockStream stream =
      stream_of(endpoint(server, start, start + 32 * kStride), options_for(server));
  int with_gaps = 0;
  int blocks = 0;
  for (const SeriesBlock& block : stream) {
    ++blocks;
    with_gaps += block.has_gaps() ? 1 : 0;
  }
  EXPECT_EQ(blocks, 32);
  EXPECT_GT(with_gaps, 0);
  EXPECT_LT(with_gaps, blocks);
}

TEST(FlightReaderPython, LiveBlocksComeUntilTheServerIsShutDownOrKilled) {
  PythonServer server({"mock"});
  for (const bool is_kill : {false, true}) {
    if (is_kill) server.restart();
    BlockStream stream = stream_of(endpoint(server), options_for(server));
    std::optional<GpsTime> next;
    for (int i = 0; i < 16; ++i) {
      const BlockStream::Next found = stream.next(60s);
      ASSERT_TRUE(found);
      EXPECT_EQ(found.block.time(), next.value_or(found.block.time()));
      next = found.block.end();
    }
    if (is_kill) {
      server.kill();
    } else {
      server.terminate();
    }
    const std::optional<Error> error = error_of(stream);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), Errc::unavailable) << error->what();
    EXPECT_THAT(error->what(), HasSubstr(server.url()));
  }
}

TEST(FlightReaderPython, ServerThatIsFrozenIsStalledAndCanBeReadAfterwards) {
  PythonServer server({"mock"});
  FlightReaderOptions options;
  options.stall_grace = 500ms;
  {
    BlockStream stream = stream_of(endpoint(server), options_for(server), options);
    ASSERT_TRUE(stream.next(60s));
    server.freeze();
    const std::optional<Error> error = error_of(stream);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), Errc::stalled);
    EXPECT_THAT(error->what(), HasSubstr("H1:LSC-DARM_IN1_DQ"));
  }
  server.thaw();
  BlockStream again = stream_of(endpoint(server), options_for(server));
  EXPECT_TRUE(again.next(60s));
}

TEST(FlightReaderPython, ServerThatIsFrozenFromTheBeginningDoesNotAnswerInTime) {
  PythonServer server({"mock"});
  const auto connector = std::make_shared<Connector>(options_for(server));
  server.freeze();
  FlightReaderOptions options;
  options.connect_timeout = 300ms;
  BlockStream stream(
      std::make_unique<FlightReader>(connector, std::vector{endpoint(server)}, options));
  const std::optional<Error> error = error_of(stream);
  server.thaw();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Errc::timeout);
}

TEST(FlightReaderPython, TokenIsAskedForAndTaken) {
  PythonServer server;
  const std::string tokens = server.write("tokens.toml", "PUB = \"open-sesame\"\n");
  server.start({"--auth", "full", "--static-token-file", tokens, "mock"});
  ClientOptions client = options_for(server);
  BlockStream refused = stream_of(endpoint(server), client);
  const std::optional<Error> error = error_of(refused);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Errc::unauthenticated) << error->what();
  EXPECT_TRUE(error->request_id());
  client.token.token = "open-sesame";
  BlockStream stream = stream_of(endpoint(server), client);
  EXPECT_TRUE(stream.next(60s));
}

TEST(FlightReaderPython, ChannelThatTheServerLacksIsNotFound) {
  const PythonServer server({"mock"});
  const ChannelSet unknown({testing::make_channel("H1:NO-SUCH", "P", 0)});
  BlockStream stream = stream_of(endpoint(server, {}, {}, unknown), options_for(server));
  const std::optional<Error> error = error_of(stream);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Errc::not_found) << error->what();
  EXPECT_THAT(error->what(), HasSubstr("H1:NO-SUCH"));
}

}  // namespace
}  // namespace arrakis
