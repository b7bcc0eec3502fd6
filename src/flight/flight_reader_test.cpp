#include "flight/flight_reader.hpp"

#include <arrow/flight/types.h>
#include <arrow/record_batch.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arrakis/arrow.hpp"
#include "testing/channels.hpp"
#include "testing/deadlines.hpp"
#include "testing/eventually.hpp"
#include "testing/flight_server.hpp"
#include "testing/log_lines.hpp"
#include "testing/peers.hpp"
#include "wire/column_part.hpp"
#include "wire/part.hpp"

namespace arrakis::inline v1 {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals
using arrow::flight::FlightStatusCode;
using arrow::flight::MakeFlightError;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::flight_answer;
using testing::FlightAnswer;
using testing::FlightServer;
using testing::FlightStep;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kStride;
using testing::make_partition;
using ::testing::Not;
namespace steps = testing::flight_steps;

const ChannelSet& channels() {
  static const ChannelSet kChannels(make_partition("FLT", 3));
  return kChannels;
}

/// Block `i` after an hour ago.
GpsTime first_time() {
  static const GpsTime kFirst = testing::on_grid(system_clock().now()) - 1h;
  return kFirst;
}
GpsTime time_of(int i) { return first_time() + i * kStride; }

FlightStep block(int i, const ChannelSet& its_channels = channels()) {
  return steps::Send{to_column_batch(testing::make_block(time_of(i), its_channels, i),
                                     column_schema(its_channels))};
}
std::vector<FlightStep> blocks(int first, int end) {
  std::vector<FlightStep> made;
  for (int i = first; i < end; ++i) made.push_back(block(i));
  return made;
}
std::vector<FlightStep> operator+(std::vector<FlightStep> some, FlightStep more) {
  some.push_back(std::move(more));
  return some;
}
steps::End failure(FlightStatusCode code, const std::string& text) {
  return steps::End{MakeFlightError(code, text)};
}

/// A server that answers every ticket with these steps.
FlightServer::Functions gives(std::vector<FlightStep> its_steps,
                              const ChannelSet& its_channels = channels()) {
  FlightServer::Functions functions;
  functions.do_get = [its_steps = std::move(its_steps),
                      its_channels](const FlightServer::Call&) -> arrow::Result<FlightAnswer> {
    return flight_answer(column_schema(its_channels), its_steps);
  };
  return functions;
}

std::shared_ptr<Connector> connector_to(const std::string& url) {
  ClientOptions options;
  options.urls = {url};
  options.token.mode = TokenOptions::Mode::off;
  return std::make_shared<Connector>(options);
}

StreamEndpoint endpoint(const std::string& url, std::optional<GpsTime> start = {},
                        std::optional<GpsTime> end = {}) {
  StreamEndpoint made;
  made.ticket = "ticket";
  made.asked = Connector::resolve(url, {});
  made.channels = channels();
  made.start = start;
  made.end = end;
  return made;
}

/// Drives a reader and keeps what it hands over.
class Driver final : Source::Sink {
 public:
  explicit Driver(std::vector<StreamEndpoint> endpoints, FlightReaderOptions options = {},
                  std::shared_ptr<Connector> connector = nullptr)
      : reader(connector != nullptr ? std::move(connector)
                                    : connector_to(endpoints.front().asked.text),
               endpoints, options) {
    reader.set_wakeup([this] {
      const std::unique_lock lock(mutex_);
      is_woken_ = true;
      woken_.notify_all();
    });
  }
  ~Driver() override { reader.set_wakeup({}); }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  void open(std::optional<GpsTime> start = {}) {
    OpenOptions options;
    options.start = start;
    reader.open(options);
  }
  /// Polls, each time it is woken, until the condition holds; false after `limit`. Ends with a
  /// failure, which is then in `error`.
  bool poll_until(const std::function<bool()>& condition, Duration limit = 60s) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
      {
        std::unique_lock lock(mutex_);
        if (!woken_.wait_until(lock, deadline, [this] { return is_woken_; })) return condition();
        is_woken_ = false;
      }
      poll();
      if (error) return condition();
    }
    return true;
  }
  void poll() {
    try {
      reader.poll(*this);
    } catch (const Error& thrown) {
      error = thrown;
    }
  }
  /// Everything up to the end, or to a failure.
  void read_all() {
    open();
    EXPECT_TRUE(poll_until([this] { return error || reader.done(); }));
  }
  [[nodiscard]] std::vector<int> numbers(std::size_t stream = 0) const {
    std::vector<int> found;
    for (const auto& [its_stream, part] : parts) {
      if (its_stream == stream) {
        found.push_back(static_cast<int>((part->time() - first_time()) / kStride));
      }
    }
    return found;
  }

  std::vector<std::pair<std::size_t, BlockPartPtr>> parts;
  std::optional<Error> error;
  std::size_t at_most = 1'000'000;  // parts a poll
  FlightReader reader;

 private:
  bool on_part(std::size_t stream, BlockPartPtr part) override {
    parts.emplace_back(stream, std::move(part));
    return parts.size() % at_most != 0;
  }
  void on_event(const Event& /*event*/) override {}

  std::mutex mutex_;
  std::condition_variable woken_;
  bool is_woken_ = true;
};

TEST(FlightReader, BlocksComeInOrderWithTheirSamplesUntilTheEndIsReached) {
  FlightServer server(gives(blocks(0, 5)));
  Driver driver({endpoint(server.url(), time_of(0), time_of(5))});
  driver.read_all();
  ASSERT_FALSE(driver.error) << driver.error->what();
  ASSERT_THAT(driver.numbers(), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(driver.parts[0].second->duration(), kStride);
  const SeriesBlock third = block_of(channels(), driver.parts[3].second);
  const SeriesBlock expected = testing::make_block(time_of(3), channels(), 3);
  for (const Channel& channel : channels()) {
    EXPECT_THAT(third[channel.name()].values<float>(),
                ::testing::ElementsAreArray(expected[channel.name()].values<float>()));
  }
  const FlightReaderStats stats = driver.reader.stats();
  EXPECT_EQ(stats.batches, 5U);
  EXPECT_EQ(stats.parts, 5U);
  EXPECT_GT(stats.bytes, 5U * 3 * 16);
  EXPECT_EQ(stats.attempts, 1U);
}

TEST(FlightReader, EndpointIsCompleteAtItsEndAlthoughTheServerGoesOn) {
  FlightServer server(gives(blocks(0, 9) + steps::Wait{}));
  Driver driver({endpoint(server.url(), time_of(0), time_of(5))});
  driver.read_all();
  EXPECT_FALSE(driver.error);
  EXPECT_THAT(driver.numbers(), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_TRUE(driver.reader.exhausted());
  // The call is given up, not left behind.
  EXPECT_TRUE(testing::eventually([&] { return server.open_answers() == 0; }));
}

TEST(FlightReader, PartsWhollyBeforeTheStartOrFromTheEndOnAreNotDelivered) {
  FlightServer server(gives(blocks(0, 4) + block(7) + block(9)));
  Driver driver({endpoint(server.url(), time_of(1) + kStride / 2, time_of(8))});
  driver.open(time_of(2) + kStride / 2);
  EXPECT_TRUE(driver.poll_until([&] { return driver.reader.done(); }));
  EXPECT_FALSE(driver.error);
  EXPECT_THAT(driver.numbers(), ElementsAre(2, 3, 7));
  EXPECT_EQ(driver.reader.stats().outside, 2U);
}

TEST(FlightReader, BlockBeyondTheEndCompletesAnEndpointWhoseLastStridesAreMissing) {
  FlightServer server(gives(blocks(0, 2) + block(9) + steps::Wait{}));
  Driver driver({endpoint(server.url(), time_of(0), time_of(5))});
  driver.read_all();
  EXPECT_FALSE(driver.error);
  EXPECT_THAT(driver.numbers(), ElementsAre(0, 1));
}

TEST(FlightReader, TimeFarInTheFutureDoesNotCompleteAnEndpoint) {
  const GpsTime future = system_clock().now() + 24h;
  const FlightStep odd = steps::Send{to_column_batch(
      testing::make_block(testing::on_grid(future), channels(), 0), column_schema(channels()))};
  FlightServer server(gives(std::vector<FlightStep>{block(0), odd, block(1)}));
  Driver driver({endpoint(server.url(), time_of(0), time_of(2))});
  driver.read_all();
  EXPECT_FALSE(driver.error);
  EXPECT_THAT(driver.numbers(), ElementsAre(0, 1));
  EXPECT_EQ(driver.reader.stats().bad_batches, 1U);
}

TEST(FlightReader, EndOfAStreamWithoutAnEndIsAnErrorThatSaysWhere) {
  FlightServer server(gives(blocks(0, 3)));
  Driver driver({endpoint(server.url())});
  driver.read_all();
  EXPECT_THAT(driver.numbers(), ElementsAre(0, 1, 2));
  ASSERT_TRUE(driver.error);
  EXPECT_EQ(driver.error->code(), Errc::unavailable);
  EXPECT_THAT(driver.error->what(),
              AllOf(HasSubstr(server.url()),
                    HasSubstr("ended the stream at GPS " + format_time(time_of(3)))));
  EXPECT_TRUE(driver.reader.done());
}

TEST(FlightReader, EndBeforeTheEndOfARangeIsAnError) {
  FlightServer server(gives(blocks(0, 3)));
  Driver driver({endpoint(server.url(), time_of(0), time_of(5))});
  driver.read_all();
  EXPECT_THAT(driver.numbers(), ElementsAre(0, 1, 2));
  ASSERT_TRUE(driver.error);
  EXPECT_EQ(driver.error->code(), Errc::unavailable);
  EXPECT_THAT(driver.error->what(), HasSubstr("before GPS " + format_time(time_of(5))));
}

TEST(FlightReader, OldRangeInWhichTwoAnswersHaveNothingIsComplete) {
  FlightServer server(gives({}));
  Driver driver({endpoint(server.url(), time_of(3), time_of(5))});
  driver.read_all();
  EXPECT_FALSE(driver.error);
  EXPECT_THAT(driver.parts, IsEmpty());
  EXPECT_EQ(server.calls("DoGet").size(), 2U);
}

TEST(FlightReader, RangeOfNowInWhichThereIsNothingIsAnError) {
  FlightServer server(gives({}));
  const GpsTime now = system_clock().now();
  Driver driver({endpoint(server.url(), now - 1s, now + 1h)});
  driver.read_all();
  ASSERT_TRUE(driver.error);
  EXPECT_EQ(driver.error->code(), Errc::unavailable);
  EXPECT_THAT(driver.error->what(), HasSubstr("before its first block"));
}

TEST(FlightReader, FailureInMidStreamIsThrownAfterThePartsBeforeIt) {
  FlightServer server(
      gives(blocks(0, 3) + failure(FlightStatusCode::Unavailable,
                                   "channel metadata changed [request: 0a1b2c3d]")));
  const testing::Peer other(testing::Peer::Kind::dead);
  StreamEndpoint its = endpoint(server.url());
  its.locations = {server.url(), "grpc://" + other.address()};
  Driver driver({its});
  driver.open();
  // Everything is there before the first poll.
  EXPECT_TRUE(testing::eventually([&] { return driver.reader.stats().batches == 3; }));
  EXPECT_TRUE(driver.poll_until([&] { return driver.error.has_value(); }));
  EXPECT_THAT(driver.numbers(), ElementsAre(0, 1, 2));
  EXPECT_EQ(driver.error->code(), Errc::unavailable);
  EXPECT_EQ(driver.error->request_id(), "0a1b2c3d");
  EXPECT_THAT(driver.error->what(),
              AllOf(HasSubstr("channel metadata changed"), Not(HasSubstr("Detail"))));
  driver.error.reset();
  driver.poll();
  EXPECT_FALSE(driver.error) << "thrown once";
}

TEST(FlightReader, PartsOfOtherStreamsThatHadArrivedComeBeforeAFailure) {
  const ChannelSet others(make_partition("OTH", 1));
  FlightServer failing(gives(blocks(0, 1) + failure(FlightStatusCode::Internal, "broken")));
  FlightServer good(gives({block(5, others), steps::Wait{}}, others));
  StreamEndpoint second = endpoint(good.url());
  second.channels = others;
  Driver driver({endpoint(failing.url()), second});
  driver.open();
  EXPECT_TRUE(testing::eventually(
      [&] { return driver.reader.stats().batches == 2 && failing.open_answers() == 0; }));
  EXPECT_TRUE(driver.poll_until([&] { return driver.error.has_value(); }));
  EXPECT_EQ(driver.numbers(0).size(), 1U);
  EXPECT_EQ(driver.numbers(1).size(), 1U);
  EXPECT_EQ(driver.error->code(), Errc::server);
}

TEST(FlightReader, LocationsAreTriedInTheirOrderUntilOneGivesABatch) {
  const testing::Peer dead(testing::Peer::Kind::dead);
  FlightServer lacking(gives(
      {failure(FlightStatusCode::Unavailable, "channel(s) {A} are not available on this server")}));
  FlightServer good(gives(blocks(0, 2)));
  StreamEndpoint its = endpoint("grpc://" + dead.address(), time_of(0), time_of(2));
  its.locations = {"kafka://127.0.0.1:1", "grpc://" + dead.address(), "no location", lacking.url(),
                   good.url()};
  Driver driver({its});
  driver.read_all();
  ASSERT_FALSE(driver.error) << driver.error->what();
  EXPECT_THAT(driver.numbers(), ElementsAre(0, 1));
  EXPECT_EQ(driver.reader.stats().attempts, 3U);
  EXPECT_EQ(lacking.calls("DoGet").size(), 1U);
}

TEST(FlightReader, ServerThatWasAskedIsTriedBeforeTheOthers) {
  FlightServer other(gives(blocks(0, 2)));
  FlightServer own(gives(blocks(0, 2)));
  for (const std::string& location :
       {own.url(), std::string("arrow-flight-reuse-connection://?")}) {
    StreamEndpoint its = endpoint(own.url(), time_of(0), time_of(2));
    its.locations = {other.url(), location};
    Driver driver({its});
    driver.read_all();
    EXPECT_FALSE(driver.error);
  }
  EXPECT_EQ(own.calls("DoGet").size(), 2U);
  EXPECT_TRUE(other.calls("DoGet").empty());
}

TEST(FlightReader, FailureAtEveryLocationNamesThemAll) {
  const testing::Peer dead(testing::Peer::Kind::dead);
  FlightServer lacking(gives({failure(FlightStatusCode::Unauthorized, "not yours [request: 77]")}));
  StreamEndpoint its = endpoint(lacking.url());
  its.locations = {lacking.url(), "grpc://" + dead.address()};
  Driver driver({its});
  driver.read_all();
  ASSERT_TRUE(driver.error);
  EXPECT_EQ(driver.error->code(), Errc::permission_denied);
  EXPECT_EQ(driver.error->request_id(), "77");
  EXPECT_THAT(driver.error->what(),
              AllOf(HasSubstr(lacking.url()), HasSubstr("not yours"), HasSubstr(dead.address())));
}

TEST(FlightReader, EndpointThatOnlyABrokerOffersIsAnError) {
  StreamEndpoint its = endpoint("grpc://localhost:1");
  its.locations = {"kafka://127.0.0.1:1"};
  Driver driver({its});
  driver.read_all();
  ASSERT_TRUE(driver.error);
  EXPECT_EQ(driver.error->code(), Errc::not_found);
  EXPECT_THAT(driver.error->what(), HasSubstr("kafka://127.0.0.1:1"));
}

TEST(FlightReader, LocationThatDoesNotAnswerInTimeIsPassedOver) {
  const testing::Peer mute(testing::Peer::Kind::mute);
  FlightServer::Functions silent = gives({});
  silent.do_get = [](const FlightServer::Call&) -> arrow::Result<FlightAnswer> {
    FlightAnswer answer = flight_answer(column_schema(channels()), {});
    answer.is_mute = true;
    return answer;
  };
  FlightServer without_schema(silent);
  FlightServer good(gives(blocks(0, 2)));
  StreamEndpoint its = endpoint("grpc://" + mute.address(), time_of(0), time_of(2));
  its.locations = {"grpc://" + mute.address(), without_schema.url(), good.url()};
  FlightReaderOptions options;
  options.connect_timeout = 300ms;
  Driver driver({its}, options);
  driver.read_all();
  EXPECT_FALSE(driver.error) << driver.error->what();
  EXPECT_THAT(driver.numbers(), ElementsAre(0, 1));
  EXPECT_TRUE(testing::eventually([&] { return without_schema.open_answers() == 0; }));

  its.locations.pop_back();
  Driver alone({its}, options);
  alone.read_all();
  ASSERT_TRUE(alone.error);
  EXPECT_EQ(alone.error->code(), Errc::timeout);
  EXPECT_THAT(alone.error->what(),
              AllOf(HasSubstr("no answer within 300 ms"), HasSubstr(mute.address()),
                    HasSubstr(without_schema.url())));
}

TEST(FlightReader, LiveEndpointThatFallsSilentIsStalledAfterThePartsBefore) {
  FlightServer server(gives(blocks(0, 2) + steps::Wait{}));
  FlightReaderOptions options;
  options.stall_grace = 200ms;
  Driver driver({endpoint(server.url())}, options);
  driver.read_all();
  EXPECT_THAT(driver.numbers(), ElementsAre(0, 1));
  ASSERT_TRUE(driver.error);
  EXPECT_EQ(driver.error->code(), Errc::stalled);
  EXPECT_THAT(driver.error->what(),
              AllOf(HasSubstr("more than 1.263 s"), HasSubstr("X1:FLT-0, X1:FLT-1, X1:FLT-2")));
  EXPECT_TRUE(testing::eventually([&] { return server.open_answers() == 0; }));
}

TEST(FlightReader, LiveEndpointThatNeverSaysAnythingIsStalled) {
  FlightServer server(gives({steps::Wait{}}));
  FlightReaderOptions options;
  options.stall_grace = 200ms;
  Driver driver({endpoint(server.url())}, options);
  driver.read_all();
  ASSERT_TRUE(driver.error);
  EXPECT_EQ(driver.error->code(), Errc::stalled);
}

TEST(FlightReader, SilenceOfARangeOrOfChannelsWithoutALatencyIsNoStall) {
  FlightServer server(gives(blocks(0, 2) + steps::Wait{}));
  FlightReaderOptions options;
  options.stall_grace = -1s;
  std::vector<Channel> patient(channels().begin(), channels().end());
  for (Channel& channel : patient) channel.max_latency.reset();
  StreamEndpoint without_latency = endpoint(server.url());
  without_latency.channels = ChannelSet(patient);
  for (const StreamEndpoint& its :
       {without_latency, endpoint(server.url(), time_of(0), time_of(5))}) {
    Driver driver({its}, options);
    driver.open();
    EXPECT_TRUE(driver.poll_until([&] { return driver.parts.size() == 2; }));
    EXPECT_FALSE(driver.poll_until([&] { return driver.error.has_value(); }, 300ms));
  }
}

TEST(FlightReader, TimeThatTheReaderKeepsAServerWaitingIsNoStall) {
  FlightServer server(gives(blocks(0, 50) + steps::Wait{}));
  FlightReaderOptions options;
  options.queue_blocks = 2;
  options.stall_grace = -900ms;  // 163 ms in all
  Driver driver({endpoint(server.url())}, options);
  driver.open();
  EXPECT_TRUE(testing::eventually([&] { return driver.reader.stats().batches >= 3; }));
  std::this_thread::sleep_for(500ms);
  EXPECT_TRUE(driver.poll_until([&] { return driver.parts.size() == 50; }));
  EXPECT_TRUE(driver.poll_until([&] { return driver.error.has_value(); }));
  EXPECT_EQ(driver.error->code(), Errc::stalled);
}

TEST(FlightReader, ServerWaitsForAReaderThatDoesNotPoll) {
  // Blocks of 256 KiB, of which all together would not fit into any window of a connection.
  constexpr int kBlocks = 400;
  Channel wide = channels()[0];
  wide = testing::make_channel(wide.name(), "FLT", 0, DataType::float32, 1 << 20);
  const ChannelSet one({wide});
  const FlightStep some = block(0, one);
  FlightServer::Functions functions;
  functions.do_get = [&](const FlightServer::Call&) -> arrow::Result<FlightAnswer> {
    return FlightAnswer{column_schema(one), [&](std::size_t i) -> FlightStep {
                          if (i < kBlocks) return block(static_cast<int>(i), one);
                          return steps::End{};
                        }};
  };
  FlightServer server(functions);
  StreamEndpoint its = endpoint(server.url(), time_of(0), time_of(kBlocks));
  its.channels = one;
  FlightReaderOptions options;
  options.queue_bytes = std::size_t{1} << 20U;
  Driver driver({its}, options);
  driver.open();
  EXPECT_TRUE(testing::eventually([&] { return driver.reader.stats().batches >= 4; }));
  EXPECT_FALSE(testing::eventually([&] { return server.steps() >= kBlocks; }, 500ms));
  EXPECT_LE(driver.reader.stats().batches, 6U);
  driver.poll();
  EXPECT_LE(driver.parts.size(), 4U);
  EXPECT_TRUE(driver.poll_until([&] { return driver.reader.done(); }));
  EXPECT_FALSE(driver.error);
  EXPECT_EQ(driver.numbers().size(), std::size_t{kBlocks});
}

TEST(FlightReader, SinkThatTakesNoMoreGetsTheRestLater) {
  FlightServer server(gives(blocks(0, 6)));
  Driver driver({endpoint(server.url(), time_of(0), time_of(6))});
  driver.at_most = 1;
  driver.read_all();
  EXPECT_FALSE(driver.error);
  EXPECT_THAT(driver.numbers(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(FlightReader, PausedStreamKeepsItsPartsAndTheOthersGoOn) {
  const ChannelSet others(make_partition("OTH", 1));
  FlightServer first(gives(blocks(0, 3)));
  FlightServer second(gives({block(0, others), block(1, others)}, others));
  StreamEndpoint other = endpoint(second.url(), time_of(0), time_of(2));
  other.channels = others;
  Driver driver({endpoint(first.url(), time_of(0), time_of(3)), other});
  ASSERT_EQ(driver.reader.streams().size(), 2U);
  driver.reader.pause(0);
  driver.open();
  EXPECT_TRUE(driver.poll_until([&] { return driver.numbers(1).size() == 2; }));
  EXPECT_TRUE(testing::eventually([&] { return driver.reader.stats().batches == 5; }));
  driver.poll();
  EXPECT_THAT(driver.numbers(0), IsEmpty());
  EXPECT_FALSE(driver.reader.done());
  driver.reader.resume(0);
  EXPECT_TRUE(driver.poll_until([&] { return driver.reader.done(); }));
  EXPECT_THAT(driver.numbers(0), ElementsAre(0, 1, 2));
}

TEST(FlightReader, StreamsOfOnePollComeSideBySideInTime) {
  const ChannelSet others(make_partition("OTH", 1));
  FlightServer first(gives(blocks(0, 3)));
  FlightServer second(gives({block(0, others), block(1, others), block(2, others)}, others));
  StreamEndpoint other = endpoint(second.url(), time_of(0), time_of(3));
  other.channels = others;
  Driver driver({endpoint(first.url(), time_of(0), time_of(3)), other});
  driver.open();
  EXPECT_TRUE(testing::eventually([&] { return driver.reader.stats().batches == 6; }));
  EXPECT_TRUE(driver.poll_until([&] { return driver.parts.size() == 6; }));
  for (std::size_t i = 1; i < driver.parts.size(); ++i) {
    EXPECT_LE(driver.parts[i - 1].second->time(), driver.parts[i].second->time());
  }
}

TEST(FlightReader, SlicesAreReadOneAfterTheOtherAndTheirOverlapOnce) {
  std::atomic<int> open{0};
  const auto slice = [&](std::vector<FlightStep> its_steps) {
    FlightServer::Functions functions = gives(std::move(its_steps));
    functions.do_get = [&open, inner = functions.do_get](const FlightServer::Call& call) {
      ++open;
      return inner(call);
    };
    return functions;
  };
  FlightServer old(slice(blocks(0, 4)));
  FlightServer recent(slice(blocks(3, 8)));
  FlightServer live(slice(blocks(7, 10)));
  // The end of the first is off the grid: its last block reaches into the second.
  Driver driver({endpoint(live.url()), endpoint(recent.url(), time_of(3) + kStride / 2, time_of(8)),
                 endpoint(old.url(), time_of(0), time_of(3) + kStride / 2)});
  ASSERT_EQ(driver.reader.streams().size(), 1U);
  driver.open(time_of(0));
  EXPECT_TRUE(driver.poll_until([&] { return driver.error.has_value(); }));
  EXPECT_EQ(driver.error->code(), Errc::unavailable) << "the live one has ended";
  EXPECT_THAT(driver.numbers(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_EQ(driver.reader.stats().repeats, 2U);
  EXPECT_EQ(open, 3);
}

TEST(FlightReader, NextSliceIsAskedForWhenTheOneBeforeIsComplete) {
  FlightServer first(gives(blocks(0, 2) + steps::Wait{}));
  FlightServer second(gives(blocks(3, 4)));
  Driver driver({endpoint(first.url(), time_of(0), time_of(3)),
                 endpoint(second.url(), time_of(3), time_of(4))});
  driver.open();
  EXPECT_TRUE(driver.poll_until([&] { return driver.parts.size() == 2; }));
  EXPECT_TRUE(second.calls("DoGet").empty());
  EXPECT_FALSE(driver.reader.caught_up(0));
}

TEST(FlightReader, BadBatchesAreCountedNamedOnceAndPassedOver) {
  const testing::LogLines log;
  const auto good = std::get<steps::Send>(block(1)).batch;
  const FlightStep two_rows = steps::Send{*arrow::ConcatenateRecordBatches({good, good})};
  FlightServer server(gives({block(0), two_rows, steps::SendBytes{"nonsense", ""},
                             steps::SendBytes{"nonsense", "in a body"}, block(2)}));
  Driver driver({endpoint(server.url(), time_of(0), time_of(3))});
  driver.read_all();
  EXPECT_FALSE(driver.error) << driver.error->what();
  EXPECT_THAT(driver.numbers(), ElementsAre(0, 2));
  EXPECT_EQ(driver.reader.stats().bad_batches, 3U);
  const auto warnings = log.of(LogLevel::warning);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0], AllOf(HasSubstr(server.url()), HasSubstr("2 rows")));
}

TEST(FlightReader, MessageThatIsNoFlightDataIsAnErrorAndTheServerIsLeft) {
  FlightServer server(gives({block(0), steps::SendBytes{"metadata", "odd", false}, steps::Wait{}}));
  Driver driver({endpoint(server.url())});
  driver.read_all();
  EXPECT_THAT(driver.numbers(), ElementsAre(0));
  ASSERT_TRUE(driver.error);
  EXPECT_EQ(driver.error->code(), Errc::protocol);
  EXPECT_THAT(driver.error->what(), HasSubstr("at GPS " + format_time(time_of(1))));
  EXPECT_TRUE(testing::eventually([&] { return server.open_answers() == 0; }));
}

TEST(FlightReader, SchemaOfOtherTypesMakesEveryBatchBadAndEndsNothing) {
  const ChannelSet odd({testing::make_channel("X1:FLT-0", "FLT", 0, DataType::int16)});
  FlightServer server(gives({block(0, odd), block(1, odd), steps::Wait{}}, odd));
  Driver driver({endpoint(server.url())});
  driver.open();
  EXPECT_TRUE(testing::eventually([&] { return driver.reader.stats().bad_batches == 2; }));
  driver.poll();
  EXPECT_FALSE(driver.error);
  EXPECT_THAT(driver.parts, IsEmpty());
}

TEST(FlightReader, TokenIsRenewedOnceAfterARefusal) {
  FlightServer::Functions functions;
  functions.do_get = [](const FlightServer::Call& call) -> arrow::Result<FlightAnswer> {
    if (call.header("authorization") == "Bearer new") {
      return flight_answer(column_schema(channels()), blocks(0, 2));
    }
    setenv("ARRAKIS_TOKEN", "new", 1);
    return MakeFlightError(FlightStatusCode::Unauthenticated, "authentication required");
  };
  FlightServer server(functions);
  setenv("ARRAKIS_TOKEN", "old", 1);
  ClientOptions options;
  options.urls = {server.url()};
  Driver driver({endpoint(server.url(), time_of(0), time_of(2))}, {},
                std::make_shared<Connector>(options));
  driver.read_all();
  unsetenv("ARRAKIS_TOKEN");
  EXPECT_FALSE(driver.error) << driver.error->what();
  EXPECT_THAT(driver.numbers(), ElementsAre(0, 1));
  EXPECT_EQ(server.calls("DoGet").size(), 2U);
}

TEST(FlightReader, IsCaughtUpAtOnceWhenLiveAndElseWithAPartOfNow) {
  FlightServer silent(gives({steps::Wait{}}));
  Driver live({endpoint(silent.url())});
  live.open();
  EXPECT_TRUE(live.reader.caught_up(0));
  Driver future({endpoint(silent.url(), system_clock().now() + 1h)});
  future.open();
  EXPECT_TRUE(future.reader.caught_up(0));

  const GpsTime now = testing::on_grid(system_clock().now());
  FlightServer server(gives({block(0),
                             steps::Send{to_column_batch(testing::make_block(now, channels(), 1),
                                                         column_schema(channels()))},
                             steps::Wait{}}));
  Driver past({endpoint(server.url(), time_of(0))});
  past.at_most = 1;
  past.open();
  EXPECT_TRUE(past.poll_until([&] { return past.parts.size() == 1; }));
  EXPECT_FALSE(past.reader.caught_up(0));
  EXPECT_TRUE(past.poll_until([&] { return past.parts.size() == 2; }));
  EXPECT_TRUE(past.reader.caught_up(0));
}

TEST(FlightReader, IsCaughtUpWhenARangeHasEndedAndBeenHandedOver) {
  FlightServer server(gives(blocks(0, 2)));
  Driver driver({endpoint(server.url(), time_of(0), time_of(2))});
  driver.open();
  EXPECT_TRUE(testing::eventually([&] { return driver.reader.stats().batches == 2; }));
  EXPECT_FALSE(driver.reader.caught_up(0));
  EXPECT_TRUE(driver.poll_until([&] { return driver.reader.done(); }));
  EXPECT_TRUE(driver.reader.caught_up(0));
}

/// Readers in every state that close() may find them in.
TEST(FlightReader, CloseTakesNoLongerThanItMayWhateverTheServerDoes) {
  const testing::Peer mute(testing::Peer::Kind::mute);
  FlightServer::Functions silent;
  silent.do_get = [](const FlightServer::Call&) -> arrow::Result<FlightAnswer> {
    FlightAnswer answer = flight_answer(column_schema(channels()), {});
    answer.is_mute = true;
    return answer;
  };
  FlightServer without_schema(silent);
  FlightServer without_batch(gives({steps::Wait{}}));
  FlightServer flowing(gives(blocks(0, 500)));
  FlightReaderOptions options;
  options.queue_blocks = 2;
  for (const std::string& url :
       {"grpc://" + mute.address(), without_schema.url(), without_batch.url(), flowing.url()}) {
    SCOPED_TRACE(url);
    testing::within(testing::kCloseLimit, [&] {
      Driver driver({endpoint(url)}, options);
      driver.open();
      const auto has_begun = [&] { return driver.reader.stats().attempts == 1; };
      EXPECT_TRUE(testing::eventually(has_begun));
      if (url == without_schema.url() || url == without_batch.url()) {
        EXPECT_TRUE(testing::eventually(
            [&] { return without_schema.open_answers() + without_batch.open_answers() > 0; }));
      }
      testing::Outcome outcome;
      std::thread closer([&] { outcome = testing::outcome_of([&] { driver.reader.close(); }); });
      closer.join();
      EXPECT_FALSE(outcome.code);
      EXPECT_TRUE(driver.reader.done());
      driver.poll();
      EXPECT_FALSE(driver.error);
      return outcome;
    });
  }
  EXPECT_TRUE(testing::eventually([&] {
    return without_schema.open_answers() + without_batch.open_answers() + flowing.open_answers() ==
           0;
  }));
}

TEST(FlightReader, PartsOutliveTheReaderAndTheServer) {
  std::vector<std::pair<std::size_t, BlockPartPtr>> parts;
  {
    FlightServer server(gives(blocks(0, 3)));
    Driver driver({endpoint(server.url(), time_of(0), time_of(3))});
    driver.read_all();
    parts = std::move(driver.parts);
  }
  ASSERT_EQ(parts.size(), 3U);
  const SeriesBlock last = block_of(channels(), parts[2].second);
  EXPECT_EQ(last["X1:FLT-1"].values<float>()[0], 1002.0F);
}

TEST(FlightReader, ReaderThatIsNeverOpenedClosesAndHasItsStreams) {
  FlightReader reader(connector_to("grpc://localhost:1"), {endpoint("grpc://localhost:1")});
  EXPECT_EQ(reader.streams().size(), 1U);
  reader.close();
  EXPECT_TRUE(reader.done());
}

}  // namespace
}  // namespace arrakis::inline v1
