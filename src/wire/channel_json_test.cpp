#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "arrakis/json.hpp"
#include "testing/corpus.hpp"
#include "wire/channel_json_exercise.hpp"

namespace arrakis::inline v1 {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Channel full_channel() {
  Channel channel("H1:TEST-STATE_ONES", DataType::int32, SampleRate(16));
  channel.publisher = "FAKE_H1";
  channel.partition_id = "FAKE_H1_i32";
  channel.partition_index = 0;
  channel.stride = Duration(62'500'000);
  channel.max_latency = Duration(3'000'000'000);
  return channel;
}

std::string failure_of(const std::string& text) {
  try {
    (void)channel_from_json(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    return error.what();
  }
  return "";
}

// The minimal channel with one field more or other.
std::string channel_text(const std::string& fields) {
  return R"({"name": "X1:A-a", "data_type": "float32", )" + fields + "}";
}

TEST(ChannelJson, CommandLineFormLeavesOutWhatIsNotKnown) {
  EXPECT_EQ(to_json(full_channel()),
            R"({"name": "H1:TEST-STATE_ONES", "data_type": "int32", "sample_rate": 16, )"
            R"("publisher": "FAKE_H1", "partition_id": "FAKE_H1_i32", "partition_index": 0, )"
            R"("stride": 62500000, "max_latency": 3000000000})");
}

TEST(ChannelJson, TopicFormHasAllTenKeys) {
  EXPECT_EQ(to_json(Channel("X1:A-a", DataType::float32, SampleRate(16)), NullFields::written),
            R"({"name": "X1:A-a", "data_type": "float32", "sample_rate": 16, "time": null, )"
            R"("publisher": null, "partition_id": null, "partition_index": null, )"
            R"("stride": null, "max_latency": null, "replay_id": null})");
  const std::string full =
      R"({"name": "X1:A-a", "data_type": "int16", "sample_rate": 16.5, "time": 5, )"
      R"("publisher": "P", "partition_id": "Q", "partition_index": 3, "stride": 1000000000, )"
      R"("max_latency": 2000000000, "replay_id": "R"})";
  EXPECT_EQ(to_json(channel_from_json(full), NullFields::written), full);
}

TEST(ChannelJson, RateKeepsTheFormItCameIn) {
  for (const char* const rate : {"16", "16.0", "0.5", "16384", "1234567.0"}) {
    const std::string text = channel_text(std::string("\"sample_rate\": ") + rate);
    EXPECT_EQ(to_json(channel_from_json(text)), text);
  }
}

TEST(ChannelJson, RateBeyondExactIntegersReadsBackEqual) {
  for (const char* const rate : {"9007199254740992", "9007199254740993", "18446744073709551615"}) {
    const Channel channel =
        channel_from_json(channel_text(std::string("\"sample_rate\": ") + rate));
    const Channel again = channel_from_json(to_json(channel));
    EXPECT_EQ(again.sample_rate(), channel.sample_rate()) << rate;
    EXPECT_EQ(again.sample_rate().to_string(), channel.sample_rate().to_string()) << rate;
  }
}

TEST(ChannelJson, NumberBeyondEveryDoubleIsRefused) {
  for (const char* const key : {"sample_rate", "time", "stride", "unknown"}) {
    for (const char* const number : {"1e999", "-1e999", "16e689"}) {
      EXPECT_THAT(failure_of(channel_text(std::string("\"") + key + "\": " + number)),
                  HasSubstr("greater than any that a double holds"))
          << key;
    }
  }
  const std::string digits = channel_text("\"sample_rate\": 1" + std::string(400, '0'));
  EXPECT_THAT(failure_of(digits), HasSubstr("greater than any that a double holds"));
}

TEST(ChannelJson, ValueNestedDeeperThanTheStackIsRefusedOrPassedOver) {
  constexpr std::size_t kDepth = 1'000'000;
  const std::string arrays = std::string(kDepth, '[') + std::string(kDepth, ']');
  std::string objects;
  for (std::size_t i = 0; i < kDepth; ++i) objects += "{\"a\":";
  objects += '0' + std::string(kDepth, '}');
  for (const std::string& deep : {arrays, objects}) {
    const bool is_array = deep.front() == '[';
    EXPECT_THAT(failure_of(channel_text("\"sample_rate\": " + deep)),
                EndsWith(is_array ? ", not an array" : ", not an object"));
    EXPECT_EQ(channel_from_json(channel_text("\"sample_rate\": 16, \"a\": " + deep)).name(),
              "X1:A-a");
  }
  EXPECT_THAT(failure_of(arrays), HasSubstr("a channel is a JSON object, not an array"));
}

TEST(ChannelJson, NumbersAreExactToTheirLastDigit) {
  const std::string text = channel_text(
      R"("sample_rate": 1, "time": 9223372036854775807, "partition_index": 4294967295, )"
      R"("stride": 9007199254740993)");
  const Channel channel = channel_from_json(text);
  EXPECT_EQ(channel.time, GpsTime::max());
  EXPECT_EQ(channel.partition_index, 4294967295U);
  EXPECT_EQ(channel.stride, Duration(9007199254740993));
  EXPECT_EQ(to_json(channel), text);
}

TEST(ChannelJson, OtherThanPlainAsciiIsEscapedAsPythonDoes) {
  const Channel channel("X1:A-\xC3\xA9\xF0\x9F\x98\x80\x7F\"\\\t\x01/", DataType::int8,
                        SampleRate(1));
  const std::string text = to_json(channel);
  EXPECT_THAT(text, HasSubstr(R"("X1:A-\u00e9\ud83d\ude00\u007f\"\\\t\u0001/")"));
  EXPECT_EQ(channel_from_json(text).name(), channel.name());
}

TEST(ChannelJson, BytesThatAreNoUtf8BecomeReplacementCharacters) {
  // A stray continuation, an overlong form, a surrogate, a value too great, a cut sequence.
  for (const char* const bytes :
       {"\x80", "\xC0\xAF", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xFF"}) {
    const Channel channel(std::string("X1:A-") + bytes, DataType::int8, SampleRate(1));
    const std::string text = to_json(channel);
    EXPECT_THAT(text, HasSubstr(R"("X1:A-\ufffd)"));
    EXPECT_NO_THROW((void)channel_from_json(text));
  }
}

TEST(ChannelJson, UnknownKeysAndNullsAreIgnored) {
  const Channel channel = channel_from_json(
      channel_text(R"("sample_rate": 16, "unit": {"a": [1]}, "stride": null, "publisher": null)"));
  EXPECT_FALSE(channel.stride);
  EXPECT_FALSE(channel.publisher);
}

TEST(ChannelJson, EmptyReplayIsNoReplay) {
  const Channel channel =
      channel_from_json(channel_text(R"("sample_rate": 16, "replay_id": "", "publisher": "")"));
  EXPECT_FALSE(channel.replay_id);
  EXPECT_EQ(channel.publisher, "");
}

TEST(ChannelJson, OtherSpellingsOfATypeAreReadAndWrittenCanonically) {
  const Channel channel =
      channel_from_json(R"({"name": "X1:A", "data_type": "<f4", "sample_rate": 1})");
  EXPECT_EQ(channel.data_type(), DataType::float32);
  EXPECT_THAT(to_json(channel), HasSubstr(R"("data_type": "float32")"));
}

TEST(ChannelJson, WholeRealCountsAsAnInteger) {
  EXPECT_EQ(channel_from_json(channel_text(R"("sample_rate": 1, "stride": 62500000.0)")).stride,
            Duration(62'500'000));
}

TEST(ChannelJson, WhatIsWrongIsNamed) {
  struct Case {
    std::string fields;
    const char* complaint;
  };
  const std::vector<Case> cases = {
      {R"("time": 0)", "channel 'X1:A-a': 'sample_rate' is missing"},
      {R"("sample_rate": null)", "'sample_rate' is missing"},
      {R"("sample_rate": 0)", "'sample_rate' must be a number of samples a second above zero"},
      {R"("sample_rate": -16)", "not -16"},
      {R"("sample_rate": "16")", "not \"16\""},
      {R"("sample_rate": 1, "stride": -1)", "'stride' must be an integer from 0 to"},
      {R"("sample_rate": 1, "stride": 1.5)", "not 1.5"},
      {R"("sample_rate": 1, "stride": 1e300)", "'stride'"},
      {R"("sample_rate": 1, "stride": true)", "not true"},
      {R"("sample_rate": 1, "time": 9223372036854775808)", "'time'"},
      {R"("sample_rate": 1, "partition_index": 4294967296)", "'partition_index'"},
      {R"("sample_rate": 1, "partition_index": "0")", "'partition_index'"},
      {R"("sample_rate": 1, "publisher": 5)", "'publisher' must be a string, not 5"},
      {R"("sample_rate": 1, "replay_id": [])", "'replay_id'"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(failure_of(channel_text(c.fields)),
                AllOf(HasSubstr("channel 'X1:A-a': "), HasSubstr(c.complaint)))
        << c.fields;
  }
}

TEST(ChannelJson, ChannelWithoutNameOrTypeIsRefused) {
  EXPECT_THAT(failure_of(R"({"data_type": "int8", "sample_rate": 1})"),
              HasSubstr("'name' is missing"));
  EXPECT_THAT(failure_of(R"({"name": 5, "data_type": "int8", "sample_rate": 1})"),
              HasSubstr("'name' must be a string"));
  EXPECT_THAT(failure_of(R"({"name": "nocolon", "data_type": "int8", "sample_rate": 1})"),
              HasSubstr("'nocolon'"));
  EXPECT_THAT(failure_of(R"({"name": "X1:A", "sample_rate": 1})"),
              HasSubstr("'data_type' is missing"));
  for (const char* const type : {"float16", "bool", "complex64", "", "halffloat", ">f4"}) {
    EXPECT_THAT(failure_of(std::string(R"({"name": "X1:A", "sample_rate": 1, "data_type": ")") +
                           type + "\"}"),
                HasSubstr("'data_type' must be the name of a sample type"))
        << type;
  }
}

TEST(ChannelJson, WhatIsNoObjectIsRefused) {
  for (const char* const text : {"", "nonsense", "{", "{}x", R"({"name": "X1:A",})", "\"\xFF\""}) {
    EXPECT_THAT(failure_of(text), StartsWith("not valid JSON")) << text;
  }
  for (const char* const text : {"[]", "5", "null", "\"X1:A\""}) {
    EXPECT_THAT(failure_of(text), HasSubstr("a channel is a JSON object")) << text;
  }
  EXPECT_THAT(failure_of(std::string(100'000, '[')), StartsWith("not valid JSON"));
}

TEST(ChannelJson, SavedInputsOfTheFuzzerDoNoHarm) {
  for (const testing::SavedInput& input : testing::corpus("channel_json_fuzz")) {
    exercise_channel_json(input.bytes);
  }
}

TEST(ReadChannels, OneALineAndBlankLinesArePassedOver) {
  std::istringstream lines(to_json(full_channel()) + "\r\n\n  \n" +
                           channel_text("\"sample_rate\": 16") + "\n");
  const std::vector<Channel> channels = read_channels(lines, "meta.jsonl");
  ASSERT_EQ(channels.size(), 2U);
  EXPECT_EQ(channels[0].name(), "H1:TEST-STATE_ONES");
  EXPECT_EQ(channels[0].max_latency, Duration(3'000'000'000));
  EXPECT_EQ(channels[1].name(), "X1:A-a");
}

TEST(ReadChannels, FileAndLineOfAFaultAreNamed) {
  std::istringstream lines(to_json(full_channel()) + "\n\n{\"name\": \"X1:B\"}\n");
  try {
    (void)read_channels(lines, "meta.jsonl");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    EXPECT_THAT(error.what(), StartsWith("meta.jsonl:3: channel 'X1:B': 'data_type' is missing"));
  }
}

TEST(BlockJson, IsTheReferencesLine) {
  const ChannelSet channels({Channel("X1:A-f32", DataType::float32, SampleRate(4)),
                             Channel("X1:A-f64", DataType::float64, SampleRate(4.0)),
                             Channel("X1:A-i64", DataType::int64, SampleRate(4)),
                             Channel("X1:A-u64", DataType::uint64, SampleRate(4)),
                             Channel("X1:A-i8", DataType::int8, SampleRate(4))});
  const bool gaps[] = {false, true, false, false};
  const auto min64 = std::numeric_limits<std::int64_t>::min();
  const auto max64 = std::numeric_limits<std::int64_t>::max();
  const SeriesBlock block = BlockBuilder(GpsTime::from_seconds(std::int64_t{1400000000}), channels)
                                .set<float>("X1:A-f32", {0.5458434F, 1e20F, -0.0F, 1.0F})
                                .set<double>("X1:A-f64", {0.1, 1e16, 5e-324, 1e-5})
                                .set<std::int64_t>("X1:A-i64", {min64, max64, 0, 1})
                                .set<std::uint64_t>("X1:A-u64", {18446744073709551615U, 0, 0, 1})
                                .set<std::int8_t>("X1:A-i8", {-128, 0, 65, 127}, gaps)
                                .build();
  EXPECT_EQ(to_json(block),
            R"({"time_ns": 1400000000000000000, "data": {)"
            R"("X1:A-f32": [0.5458434224128723, 1.0000000200408773e+20, -0.0, 1.0], )"
            R"("X1:A-f64": [0.1, 1e+16, 5e-324, 1e-05], )"
            R"("X1:A-i64": [-9223372036854775808, 9223372036854775807, 0, 1], )"
            R"("X1:A-u64": [18446744073709551615, 0, 0, 1], )"
            R"("X1:A-i8": [-128, null, 65, 127]}, "channels": {)"
            R"("X1:A-f32": {"name": "X1:A-f32", "data_type": "float32", "sample_rate": 4}, )"
            R"("X1:A-f64": {"name": "X1:A-f64", "data_type": "float64", "sample_rate": 4.0}, )"
            R"("X1:A-i64": {"name": "X1:A-i64", "data_type": "int64", "sample_rate": 4}, )"
            R"("X1:A-u64": {"name": "X1:A-u64", "data_type": "uint64", "sample_rate": 4}, )"
            R"("X1:A-i8": {"name": "X1:A-i8", "data_type": "int8", "sample_rate": 4}}, )"
            R"("_duration_ns": 1000000000})");
}

TEST(BlockJson, WhatIsNoNumberIsNull) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const ChannelSet channels({Channel("X1:A", DataType::float64, SampleRate(4))});
  const SeriesBlock block =
      BlockBuilder(GpsTime(), channels).set<double>("X1:A", {nan, inf, -inf, 0.0}).build();
  EXPECT_THAT(to_json(block), HasSubstr(R"("X1:A": [null, null, null, 0.0])"));
}

TEST(BlockJson, BlockWithoutChannelsIsAnObjectToo) {
  EXPECT_EQ(to_json(SeriesBlock()),
            R"({"time_ns": 0, "data": {}, "channels": {}, "_duration_ns": 0})");
}

}
}  // namespace arrakis::inline v1
