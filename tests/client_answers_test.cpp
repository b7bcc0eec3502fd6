/// The Client's metadata calls against servers that answer oddly, much, slowly or not at all.

#include <arrow/array.h>
#include <arrow/builder.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrakis/client.hpp"
#include "arrakis/error.hpp"
#include "testing/deadlines.hpp"
#include "testing/eventually.hpp"
#include "testing/flight_server.hpp"
#include "testing/log_lines.hpp"
#include "wire/request.hpp"
#include "wire/schemas.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FlightAnswer;
using testing::FlightServer;
using testing::FlightStep;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Outcome;
using testing::outcome_of;

using Batch = std::shared_ptr<arrow::RecordBatch>;

constexpr const char* kReuse = "arrow-flight-reuse-connection://?";

template <typename Builder, typename T>
std::shared_ptr<arrow::Array> repeated(std::size_t count, const T& value) {
  Builder builder;
  for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(builder.Append(value).ok());
  return builder.Finish().ValueOrDie();
}

/// Rows of channels that differ in their names only.
Batch rows_of(const std::vector<std::string>& names, const std::string& type = "float32") {
  arrow::StringBuilder builder;
  EXPECT_TRUE(builder.AppendValues(names).ok());
  const std::size_t n = names.size();
  return arrow::RecordBatch::Make(
      schemas::metadata(), static_cast<std::int64_t>(n),
      {builder.Finish().ValueOrDie(), repeated<arrow::StringBuilder>(n, type),
       repeated<arrow::Int32Builder>(n, 16), repeated<arrow::StringBuilder>(n, "P_A_ABCDEF"),
       repeated<arrow::UInt32Builder>(n, 7U), repeated<arrow::StringBuilder>(n, "P"),
       repeated<arrow::UInt64Builder>(n, 62'500'000U),
       repeated<arrow::UInt64Builder>(n, 1'000'000'000U),
       arrow::MakeArrayOfNull(arrow::utf8(), static_cast<std::int64_t>(n)).ValueOrDie()});
}

Batch numbered_rows(std::size_t first, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    names.push_back(fmt::format("X1:SUB-CHANNEL_WITH_A_NAME_OF_USUAL_LENGTH_{}", first + i));
  }
  return rows_of(names);
}

/// An endpoint by its ticket and locations.
struct Endpoint {
  std::string ticket;
  std::vector<std::string> locations;
};

arrow::Result<arrow::flight::FlightInfo> info_of(const std::vector<Endpoint>& endpoints) {
  std::vector<arrow::flight::FlightEndpoint> made;
  for (const Endpoint& endpoint : endpoints) {
    arrow::flight::FlightEndpoint& added = made.emplace_back();
    added.ticket.ticket = endpoint.ticket;
    for (const std::string& text : endpoint.locations) {
      ARROW_ASSIGN_OR_RAISE(added.locations.emplace_back(), arrow::flight::Location::Parse(text));
    }
  }
  return arrow::flight::FlightInfo::Make(*arrow::schema({}), {}, made, -1, -1);
}

/// Rows of Find and Describe, and what comes after them.
FlightAnswer these(const std::vector<Batch>& batches,
                   FlightStep last = testing::flight_steps::End{}) {
  std::vector<FlightStep> steps;
  steps.reserve(batches.size() + 1);
  for (const Batch& batch : batches) steps.emplace_back(testing::flight_steps::Send{batch});
  steps.push_back(std::move(last));
  return testing::flight_answer(schemas::metadata(), std::move(steps));
}

/// A server with one endpoint at itself, unless a test says otherwise.
class ClientAnswers : public ::testing::Test {
 protected:
  ClientAnswers() { name({{"ticket", {kReuse}}}); }

  /// Answers every request with these endpoints.
  void name(const std::vector<Endpoint>& endpoints) {
    functions_.get_flight_info = [endpoints](const FlightServer::Call&) {
      return info_of(endpoints);
    };
  }
  /// Answers every ticket so.
  void give(const FlightAnswer& answer) {
    functions_.do_get = [answer](const FlightServer::Call&) { return answer; };
  }
  void start_server() { server_.emplace(functions_); }
  Client start(Duration timeout = 60s) {
    start_server();
    return Client(ClientOptions{.urls = {server_->url()}, .timeout = timeout});
  }

  FlightServer::Functions functions_;
  std::optional<FlightServer> server_;
};

std::vector<std::string> names_of(ChannelListing listing) {
  std::vector<std::string> names;
  for (const Channel& channel : listing) names.push_back(channel.name());
  return names;
}

TEST_F(ClientAnswers, WithoutEndpointsNothingIsFound) {
  name({});
  const Client client = start();
  EXPECT_THAT(names_of(client.find()), IsEmpty());
  EXPECT_EQ(client.count(), 0U);
  const Outcome outcome = outcome_of([&] { (void)client.describe({"X1:A", "X1:B"}); });
  EXPECT_EQ(outcome.code, Errc::not_found);
  EXPECT_THAT(outcome.text, AllOf(HasSubstr("'X1:A'"), HasSubstr("'X1:B'")));
}

TEST_F(ClientAnswers, EndpointWithoutALocationIsReadWhereItWasAskedFor) {
  name({{"ticket", {}}});
  give(these({rows_of({"X1:A"})}));
  EXPECT_THAT(names_of(start().find()), ElementsAre("X1:A"));
}

TEST_F(ClientAnswers, LocationThatCantBeReadIsPassedOver) {
  name({{"ticket", {"kafka://k:9092", "other://h:1", kReuse}}});
  give(these({rows_of({"X1:A"})}));
  EXPECT_THAT(names_of(start().find()), ElementsAre("X1:A"));
}

TEST_F(ClientAnswers, ServerThatAnsweredLastIsAskedFirst) {
  functions_.get_flight_info = [](const FlightServer::Call&) {
    return arrow::Result<arrow::flight::FlightInfo>(
        arrow::flight::MakeFlightError(arrow::flight::FlightStatusCode::Unavailable, "busy"));
  };
  start_server();
  name({});
  const FlightServer second(functions_);
  const Client client(ClientOptions{.urls = {server_->url(), second.url()}});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.count(), 0U);
  EXPECT_EQ(server_->calls("GetFlightInfo").size(), 1U);
  EXPECT_EQ(second.calls("GetFlightInfo").size(), 3U);
}

TEST_F(ClientAnswers, EndpointsAreReadOneAfterTheOtherAndTheirTicketsGoBackAsTheyCame) {
  functions_.get_flight_info = [](const FlightServer::Call& call) {
    return info_of({{call.argument + "1", {kReuse}}, {call.argument + "2", {kReuse}}});
  };
  functions_.do_get = [](const FlightServer::Call& call) {
    (void)parse_command(call.argument.substr(0, call.argument.size() - 1));
    return these({rows_of({"X1:SAME", "X1:" + call.argument.substr(call.argument.size() - 1)})});
  };
  const Client client = start();
  EXPECT_THAT(names_of(client.find()), ElementsAre("X1:SAME", "X1:1", "X1:SAME", "X1:2"));
  const ChannelSet channels = client.describe({"X1:2", "X1:SAME", "X1:1"});
  ASSERT_EQ(channels.size(), 3U);
  EXPECT_EQ(channels[0].name(), "X1:2");
}

TEST_F(ClientAnswers, GreatBatchIsHandedOutInPieces) {
  give(these({numbered_rows(0, 2500), rows_of({})}));
  const Client client = start();
  ChannelListing listing = client.find();
  std::vector<std::size_t> sizes;
  for (std::vector<Channel> some = listing.next(); !some.empty(); some = listing.next()) {
    sizes.push_back(some.size());
  }
  EXPECT_THAT(sizes, ElementsAre(1000U, 1000U, 500U));
  EXPECT_TRUE(listing.next().empty());
}

TEST_F(ClientAnswers, FailureInTheMiddleComesAfterWhatWasBeforeIt) {
  const Batch one = rows_of({"X1:A"});
  give(these({one, one}, testing::flight_steps::End{arrow::Status::IOError("disk gone")}));
  const Client client = start();
  ChannelListing listing = client.find();
  EXPECT_EQ(listing.next().size(), 1U);
  EXPECT_EQ(listing.next().size(), 1U);
  const Outcome outcome = outcome_of([&] { (void)listing.next(); });
  EXPECT_TRUE(outcome.code);
  EXPECT_THAT(outcome.text, AllOf(HasSubstr("disk gone"), HasSubstr(server_->url())));
}

TEST_F(ClientAnswers, ListingThatStallsIsGivenUpInTime) {
  constexpr Duration kTimeout = 300ms;
  give(these({rows_of({"X1:A"})}, testing::flight_steps::Wait{}));
  const Client client = start(kTimeout);
  const Outcome outcome = testing::within(kTimeout + testing::kSlack, [&] {
    ChannelListing listing = client.find();
    EXPECT_EQ(listing.next().size(), 1U);
    return outcome_of([&] { (void)listing.next(); });
  });
  EXPECT_EQ(outcome.code, Errc::timeout) << outcome.text;
}

TEST_F(ClientAnswers, ListingThatNeverBeginsIsGivenUpInTime) {
  constexpr Duration kTimeout = 300ms;
  give(these({}, testing::flight_steps::Wait{}));
  const Client client = start(kTimeout);
  for (const bool is_find : {true, false}) {
    const Outcome outcome = testing::within(kTimeout + testing::kSlack, [&] {
      return outcome_of([&] { is_find ? (void)client.find() : (void)client.count(); });
    });
    EXPECT_EQ(outcome.code, Errc::timeout) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr(server_->url()));
  }
}

TEST_F(ClientAnswers, ServerThatTakesATicketAndSaysNothingIsGivenUpInTime) {
  constexpr Duration kTimeout = 300ms;
  FlightAnswer answer = these({});
  answer.is_mute = true;
  give(answer);
  const Client client = start(kTimeout);
  const Outcome outcome = testing::within(kTimeout + testing::kSlack,
                                          [&] { return outcome_of([&] { (void)client.find(); }); });
  EXPECT_EQ(outcome.code, Errc::timeout) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr(server_->url()));
}

TEST_F(ClientAnswers, WhoReadsSlowerThanTheTimeoutLosesNothing) {
  constexpr Duration kTimeout = 200ms;
  std::vector<Batch> batches;
  for (std::size_t i = 0; i < 4; ++i) batches.push_back(numbered_rows(i * 1000, 1000));
  give(these(batches));
  // On a busy machine the timeout may be too short for a call that waits: another attempt then.
  std::size_t read = 0;
  const Client client = start(kTimeout);
  for (int attempt = 0; attempt < 3 && read < 4000; ++attempt) {
    read = 0;
    const Outcome outcome = outcome_of([&] {
      ChannelListing listing = client.find();
      for (auto some = listing.next(); !some.empty(); some = listing.next()) {
        read += some.size();
        const auto until = std::chrono::steady_clock::now() + 2 * kTimeout;
        (void)testing::eventually([&] { return std::chrono::steady_clock::now() > until; });
      }
    });
    EXPECT_TRUE(!outcome.code || outcome.code == Errc::timeout) << outcome.text;
  }
  EXPECT_EQ(read, 4000U);
}

TEST_F(ClientAnswers, CancelEndsAWaitingCallAndEveryLaterOne) {
  give(these({rows_of({"X1:A"})}, testing::flight_steps::Wait{}));
  const Client client = start();
  ChannelListing listing = client.find();
  EXPECT_EQ(listing.next().size(), 1U);
  auto waiting =
      std::async(std::launch::async, [&] { return outcome_of([&] { (void)listing.next(); }); });
  EXPECT_TRUE(testing::eventually([&] { return server_->steps() == 2; }));
  listing.cancel();
  EXPECT_EQ(waiting.get().code, Errc::cancelled);
  EXPECT_EQ(outcome_of([&] { (void)listing.next(); }).code, Errc::cancelled);
}

TEST_F(ClientAnswers, ListingThatIsLeftWaitsForNothing) {
  give(these({rows_of({"X1:A"})}, testing::flight_steps::Wait{}));
  const Client client = start();
  const Outcome outcome = testing::within(testing::kCloseLimit, [&] {
    return outcome_of([&] { EXPECT_EQ(client.find().next().size(), 1U); });
  });
  EXPECT_EQ(outcome.code, std::nullopt);
}

TEST_F(ClientAnswers, ListingOutlivesItsClient) {
  give(these({numbered_rows(0, 1000), numbered_rows(1000, 1000)}));
  std::optional<Client> client = start();
  ChannelListing listing = client->find();
  client.reset();
  EXPECT_EQ(names_of(std::move(listing)).size(), 2000U);
}

TEST_F(ClientAnswers, RowThatIsNoChannelIsLeftOutAndToldOnce) {
  give(these({rows_of({"X1:A", "nocolon", "alsonot", "X1:B"}), rows_of({"bad"})}));
  const testing::LogLines lines;
  const Client client = start();
  EXPECT_THAT(names_of(client.find()), ElementsAre("X1:A", "X1:B"));
  EXPECT_EQ(lines.of(LogLevel::warning, {"nocolon"}).size(), 1U);
  EXPECT_EQ(lines.of(LogLevel::warning).size(), 2U);
  EXPECT_EQ(lines.of(LogLevel::warning, {"3 channels"}).size(), 1U);
}

TEST_F(ClientAnswers, DescriptionOfATypeThatIsUnknownIsNamed) {
  give(these({rows_of({"X1:A"}, "halffloat")}));
  const Client client = start();
  const Outcome outcome = outcome_of([&] { (void)client.describe({"X1:A"}); });
  EXPECT_EQ(outcome.code, Errc::unsupported);
  EXPECT_THAT(outcome.text, AllOf(HasSubstr("'X1:A'"), HasSubstr("'halffloat'")));
}

TEST_F(ClientAnswers, RowsOfAnotherKindAreAProtocolErrorThatNamesTheServer) {
  give(these({rows_of({"X1:A"})}));
  const Client client = start();
  const Outcome outcome = outcome_of([&] { (void)client.count(); });
  EXPECT_EQ(outcome.code, Errc::protocol);
  EXPECT_THAT(outcome.text, AllOf(HasSubstr("'count'"), HasSubstr(server_->url())));
}

TEST_F(ClientAnswers, DamagedRowsAreRefused) {
  const Batch good = rows_of({"X1:A"});
  auto bytes = std::make_shared<arrow::Buffer>("\xFF\xFF\xFF\xFF");
  const std::int32_t offsets[] = {0, 4};
  auto data = arrow::ArrayData::Make(
      arrow::utf8(), 1,
      {nullptr, arrow::Buffer::FromString({reinterpret_cast<const char*>(offsets), 8}), bytes});
  give(these(
      {good->SetColumn(0, schemas::metadata()->field(0), arrow::MakeArray(data)).ValueOrDie()}));
  const Client client = start();
  EXPECT_EQ(outcome_of([&] { (void)names_of(client.find()); }).code, Errc::protocol);
}

TEST_F(ClientAnswers, AnswersToActionsThatAreNoneAreProtocolErrors) {
  for (const char* const answer : {"", "nonsense", "[]", "5", R"({"endpoints": 5})",
                                   R"({"O4R": {"start": 1}})", R"({"O4R": 7})"}) {
    functions_.do_action = [answer](const FlightServer::Call&) { return std::string(answer); };
    const Client client = start();
    const bool is_object = answer[0] == '{';
    EXPECT_EQ(outcome_of([&] { (void)client.server_info(); }).code,
              is_object ? std::nullopt : std::optional(Errc::protocol));
    const bool is_replay = is_object && answer[2] == 'O';
    EXPECT_EQ(outcome_of([&] { (void)client.domains(); }).code,
              is_replay ? std::nullopt : std::optional(Errc::protocol))
        << answer;
    EXPECT_EQ(outcome_of([&] { (void)client.replays(); }).code, Errc::protocol) << answer;
  }
}

TEST_F(ClientAnswers, FieldsThatAServerLeavesOutAreEmpty) {
  functions_.do_action = [](const FlightServer::Call&) {
    return std::string(R"({"domains": [1, "H1"]})");
  };
  const ServerInfo info = start().server_info();
  EXPECT_EQ(info.server_version, "");
  EXPECT_EQ(info.backend, std::nullopt);
  EXPECT_THAT(info.domains, ElementsAre("H1"));
}

std::int64_t resident_bytes() {
  std::int64_t total = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST_F(ClientAnswers, HalfAMillionChannelsAreListedInTheMemoryOfAFew) {
  constexpr std::size_t kBatches = 500;
  constexpr std::size_t kRows = 1000;
  [[maybe_unused]] constexpr std::int64_t kSlack = std::int64_t{16}
                                                   << 20U;  // the channels would be 100 MB
  give({.schema = schemas::metadata(), .step = [](std::size_t i) -> FlightStep {
          if (i == kBatches) return testing::flight_steps::End{};
          return testing::flight_steps::Send{numbered_rows(i * kRows, kRows)};
        }});
  const Client client = start();
  std::size_t count = 0;
  std::int64_t after_some = 0;
  std::int64_t most = 0;
  const auto begin = std::chrono::steady_clock::now();
  ChannelListing listing = client.find();
  for (auto some = listing.next(); !some.empty(); some = listing.next()) {
    count += some.size();
    if (count == kBatches * kRows / 10) after_some = resident_bytes();
    most = std::max(most, resident_bytes());
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(count, kBatches * kRows);
  fmt::print("500 000 channels in {:.2f} s; resident {} MiB after 50 000, {} MiB at most\n",
             took.count(), after_some >> 20U, most >> 20U);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LE(most - after_some, kSlack);
#endif
}

}  // namespace
}  // namespace arrakis
