#include "wire/request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "arrakis/error.hpp"
#include "testing/corpus.hpp"
#include "wire/request_exercise.hpp"

namespace arrakis::inline v1 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const GpsTime kTime = GpsTime::from_seconds(1400000000);

Error refusal_of(const std::string& command) {
  try {
    (void)parse_command(command);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "accepted: " << command;
  return {Errc::unsupported, ""};
}

std::string command_of(const std::string& request, const std::string& args) {
  return R"({"request": ")" + request + R"(", "args": )" + args + R"(, "version": "9.9.9"})";
}
std::string find_with(const std::string& fields) {
  return command_of("Find", R"({"pattern": ".*", "data_type": [], "min_rate": 0, "max_rate": 5, )"
                            R"("publisher": [], "time": null)" +
                                fields + "}");
}
/// A Find request of which one argument is other.
std::string find_but(const std::string& key, const std::string& value) {
  return find_with(", \"" + key + "\": " + value);
}

TEST(Request, CommandIsWhatPythonWrites) {
  EXPECT_EQ(to_command(FindRequest{}),
            R"({"request": "Find", "args": {"pattern": ".*", "data_type": [], "min_rate": 0, )"
            R"("max_rate": 4294967295, "publisher": [], "time": null, "replay_id": null}, )"
            R"("version": "0.5.0"})");
  CountRequest count;
  count.pattern = "H1:\xC3\x9C\"";
  count.data_type = {"float32", "int32"};
  count.publisher = {"PUB"};
  count.time = kTime;
  count.replay_id = "O4R";
  EXPECT_EQ(to_command(count),
            R"({"request": "Count", "args": {"pattern": "H1:\u00dc\"", )"
            R"("data_type": ["float32", "int32"], "min_rate": 0, "max_rate": 4294967295, )"
            R"("publisher": ["PUB"], "time": 1400000000000000000, "replay_id": "O4R"}, )"
            R"("version": "0.5.0"})");
  EXPECT_EQ(to_command(StreamTicket{.channels = {"H1:A-x", "L1:B-y"}, .end = kTime}),
            R"({"request": "Stream", "args": {"channels": ["H1:A-x", "L1:B-y"], "start": null, )"
            R"("end": 1400000000000000000, "replay_start": null, "replay_end": null, )"
            R"("replay_id": null}, "version": "0.5.0"})");
  EXPECT_EQ(to_command(PartitionRequest{.publisher_id = "PUB", .replay_id = {}}),
            R"({"request": "Partition", "args": {"publisher_id": "PUB", "replay_id": null}, )"
            R"("version": "0.5.0"})");
}

TEST(Request, EveryRequestReadsBack) {
  FindRequest find;
  find.data_type = {"int64"};
  find.time = GpsTime::max();
  const std::vector<Request> requests = {
      find,
      CountRequest{},
      DescribeRequest{.channels = {"H1:A"}, .time = GpsTime::min(), .replay_id = "R"},
      StreamTicket{.channels = {"H1:A"}, .start = kTime, .replay_start = kTime},
      PublishRequest{.publisher_id = "P", .replay_id = "R"},
      PartitionRequest{.publisher_id = "P", .replay_id = {}},
  };
  for (const Request& request : requests) {
    const std::string text = to_command(request);
    const ReceivedRequest received = parse_command(text);
    EXPECT_EQ(received.request.index(), request.index());
    EXPECT_EQ(to_command(received.request), text);
    EXPECT_EQ(received.version, "0.5.0");
  }
}

TEST(Request, OrderSpacingEscapesAndOtherTopLevelKeysDoNotMatter) {
  const ReceivedRequest received = parse_command(
      R"({"args":{"time":null,"channels":["H1:A-\u0078", "L1:B"]},"foo":[],"request":"Describe"})");
  EXPECT_EQ(received.version, std::nullopt);
  const auto& describe = std::get<DescribeRequest>(received.request);
  EXPECT_THAT(describe.channels, ElementsAre("H1:A-x", "L1:B"));
}

TEST(Request, WholeRealsCountAsIntegers) {
  const auto find = std::get<FindRequest>(parse_command(find_but("max_rate", "16.0")).request);
  EXPECT_EQ(find.max_rate, 16);
  EXPECT_EQ(std::get<FindRequest>(parse_command(find_but("max_rate", "-7")).request).max_rate, -7);
}

TEST(Request, WhatIsNoCommandIsAProtocolError) {
  struct Case {
    std::string command;
    const char* reason;
  };
  for (const Case& c : std::vector<Case>{
           {"", "at byte"},
           {"nonsense", "at byte"},
           {"[1, 2]", "not an array"},
           {"{}", "without 'request'"},
           {R"({"request": 5, "args": {}})", "not 5"},
           {R"({"request": "find", "args": {}})", "not \"find\""},
           {R"({"request": "Find"})", "without 'args'"},
           {R"({"request": "Find", "args": []})", "'args' must be an object"},
           {find_but("max_rate", "1e999"), "greater than any"},
           {std::string(100'000, '['), "at byte"},
       }) {
    const Error error = refusal_of(c.command);
    EXPECT_EQ(error.code(), Errc::protocol) << c.command;
    EXPECT_THAT(error.what(), HasSubstr(c.reason));
  }
}

TEST(Request, WrongArgumentIsNamedWithWhatItMustBe) {
  struct Case {
    std::string command;
    const char* reason;
  };
  for (const Case& c : std::vector<Case>{
           {command_of("Find", "{}"), "Find request: argument 'pattern' is missing"},
           {command_of("Stream", R"({"channels": [], "start": null})"), "'end' is missing"},
           {command_of("Publish", R"({"publisher_id": null})"), "'publisher_id' must be a string"},
           {find_but("pattern", "1"), "'pattern' must be a string, not 1"},
           {find_but("data_type", R"(["int16"])"), "uint32, uint64, int32, int64, float32, "},
           {find_but("data_type", R"(["int16"])"), "not \"int16\""},
           {find_but("data_type", "\"int32\""), "'data_type' must be a list of strings"},
           {find_but("min_rate", "-1"), "'min_rate' must be an integer from 0 on, not -1"},
           {find_but("max_rate", "5.5"), "'max_rate' must be an integer, not 5.5"},
           {find_but("max_rate", "true"), "not true"},
           {find_but("max_rate", "null"), "not null"},
           {find_but("publisher", "[5]"), "'publisher' must be a list of strings, not 5"},
           {find_but("time", "1.5"), "'time' must be an integer of nanoseconds or null"},
           {find_but("time", "9223372036854775808"), "'time'"},
           {find_but("replay_id", "7"), "'replay_id' must be a string or null"},
           {R"({"request": "Find", "args": {}, "version": null})", "'version' must be a string"},
       }) {
    const Error error = refusal_of(c.command);
    EXPECT_EQ(error.code(), Errc::invalid_argument) << c.command;
    EXPECT_THAT(error.what(), HasSubstr(c.reason));
  }
}

TEST(Request, UnknownArgumentsAreNamedWithBothSchemaVersions) {
  EXPECT_STREQ(refusal_of(find_with(R"(, "zzz": 1, "b": null)")).what(),
               "unknown Find argument(s): b, zzz (request schema 9.9.9; server schema 0.5.0)");
  EXPECT_STREQ(
      refusal_of(R"({"request": "Publish", "args": {"publisher_id": "P", "time": null}})").what(),
      "unknown Publish argument(s): time "
      "(request predates schema versioning; server schema 0.5.0)");
}

TEST(Request, DeeplyNestedValueIsRefused) {
  constexpr std::size_t kDepth = 100'000;
  const std::string deep = std::string(kDepth, '[') + std::string(kDepth, ']');
  EXPECT_THAT(refusal_of(find_but("time", deep)).what(), HasSubstr("not an array"));
}

TEST(Request, SavedInputsOfTheFuzzerDoNoHarm) {
  for (const testing::SavedInput& input : testing::corpus("request_fuzz")) {
    exercise_request(input.bytes);
  }
}

TEST(SchemaVersion, OfAPeerIsCompared) {
  EXPECT_EQ(supports("0.5.0", {0, 5}), true);
  EXPECT_EQ(supports("0.10", {0, 5}), true);
  EXPECT_EQ(supports("0.4.99", {0, 5}), false);
  EXPECT_EQ(supports("1.0", {0, 5}), true);
  EXPECT_EQ(supports("1", {0, 5}), std::nullopt);
  EXPECT_EQ(supports(std::nullopt, {0, 5}), std::nullopt);
  EXPECT_EQ(parse_schema_version("1..2"), std::nullopt);
  EXPECT_EQ(parse_schema_version("99999999999.1"), std::nullopt);
}

}  // namespace
}  // namespace arrakis::inline v1
