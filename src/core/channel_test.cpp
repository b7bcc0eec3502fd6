#include "arrakis/channel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/channel_name_exercise.hpp"
#include "testing/corpus.hpp"

namespace arrakis::inline v1 {
namespace {

using namespace std::chrono_literals;

Channel channel(std::string name = "X1:A-a") {
  return {std::move(name), DataType::float32, SampleRate(16)};
}

/// The message of the Error that `f` throws; "" when it throws none.
template <typename F>
std::string message_of(F&& f, Errc code) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "";
}
bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> names(const ChannelSet& set) {
  std::vector<std::string> all;
  for (const Channel& c : set) all.push_back(c.name());
  return all;
}

TEST(DataType, NamesAndSizesGoTogether) {
  const std::pair<DataType, std::string_view> all[] = {
      {DataType::int8, "int8"},      {DataType::int16, "int16"},   {DataType::int32, "int32"},
      {DataType::int64, "int64"},    {DataType::uint8, "uint8"},   {DataType::uint16, "uint16"},
      {DataType::uint32, "uint32"},  {DataType::uint64, "uint64"}, {DataType::float32, "float32"},
      {DataType::float64, "float64"}};
  for (const auto& [type, name] : all) {
    EXPECT_EQ(to_string(type), name);
    EXPECT_EQ(parse_data_type(name), type);
    EXPECT_EQ(visit_type(type, [](auto sample) { return sizeof(sample); }), size_of(type));
    EXPECT_EQ(visit_type(type, [](auto sample) { return data_type_of<decltype(sample)>(); }), type);
  }
}

TEST(DataType, NumPysOtherSpellingsAreRead) {
  EXPECT_EQ(parse_data_type("f4"), DataType::float32);
  EXPECT_EQ(parse_data_type("<f8"), DataType::float64);
  EXPECT_EQ(parse_data_type("=i2"), DataType::int16);
  EXPECT_EQ(parse_data_type("|u1"), DataType::uint8);
  EXPECT_EQ(parse_data_type("double"), DataType::float64);
  EXPECT_EQ(parse_data_type("float"), DataType::float64);
  EXPECT_EQ(parse_data_type("single"), DataType::float32);
}

TEST(DataType, WhatCanNotTravelIsRefused) {
  for (const std::string_view text : {"", "<", "float16", "f2", "halffloat", "bool", "?", ">f4",
                                      "complex64", "c8", "object", "Float32", "int32 ", "int128"}) {
    EXPECT_EQ(parse_data_type(text), std::nullopt) << text;
  }
}

TEST(SampleRate, KeepsTheFormItCameIn) {
  EXPECT_EQ(SampleRate(16).to_string(), "16");
  EXPECT_EQ(SampleRate(16.0).to_string(), "16.0");
  EXPECT_EQ(SampleRate(16), SampleRate(16.0));
  EXPECT_TRUE(SampleRate(16U).is_integer_form());
  EXPECT_FALSE(SampleRate(16.0).is_integer_form());
  EXPECT_EQ(SampleRate(59.94).to_string(), "59.94");
  EXPECT_EQ(SampleRate(1.0 / 3).to_string(), "0.3333333333333333");
  EXPECT_EQ(SampleRate(1'234'567).to_string(), "1234567");
  EXPECT_EQ(SampleRate(std::int64_t{1} << 53).to_string(), "9007199254740992");
  EXPECT_EQ(SampleRate(1e22).to_string(), "1e+22");
}

TEST(SampleRate, MustBePositiveAndFinite) {
  const auto bad = [](auto hz) {
    return !message_of([hz] { (void)SampleRate(hz); }, Errc::invalid_argument).empty();
  };
  EXPECT_TRUE(bad(0));
  EXPECT_TRUE(bad(-16));
  EXPECT_TRUE(bad(0.0));
  EXPECT_TRUE(bad(std::numeric_limits<double>::infinity()));
  EXPECT_TRUE(bad(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(bad(std::numeric_limits<double>::denorm_min()));
}

TEST(SampleRate, DurationIsCutToWholeNanoseconds) {
  EXPECT_EQ(SampleRate(16).duration_of(1), 62'500us);
  EXPECT_EQ(SampleRate(3).duration_of(1), 333'333'333ns);
  EXPECT_EQ(SampleRate(3).duration_of(2), 666'666'666ns);
  EXPECT_EQ(SampleRate(3).duration_of(3), 1s);
  EXPECT_EQ(SampleRate(59.94).duration_of(44'100), 735'735'735'735ns);
  EXPECT_EQ(SampleRate(0.5).duration_of(1), 2s);
  EXPECT_EQ(SampleRate(16).duration_of(0), 0s);
}

TEST(SampleRate, DurationsBeyondAllTimeSaturate) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(SampleRate(1).duration_of(most), Duration::max());
  EXPECT_EQ(SampleRate(std::numeric_limits<double>::denorm_min()).duration_of(1), Duration::max());
  EXPECT_EQ(SampleRate(1e-300).samples_in(1s), 0U);
  EXPECT_EQ(SampleRate(1e300).samples_in(1s), most);
  EXPECT_EQ(SampleRate(65'536).samples_in(315'360'000s), 20'667'432'960'000U);
}

TEST(SampleRate, SamplesFillASpanExactlyOrFromBelow) {
  EXPECT_EQ(SampleRate(16).samples_in(62'500us), 1U);
  EXPECT_EQ(SampleRate(16'384).samples_in(1s), 16'384U);
  EXPECT_EQ(SampleRate(3).samples_in(333'333'333ns), 1U);
  EXPECT_EQ(SampleRate(3).samples_in(333'333'332ns), 0U);
  EXPECT_EQ(SampleRate(3).samples_in(500ms), 1U);
  EXPECT_EQ(SampleRate(44'100).samples_in(333'333'333ns), 14'700U);
  EXPECT_EQ(SampleRate(16).samples_in(0ns), 0U);
  EXPECT_EQ(SampleRate(16).samples_in(-1s), 0U);
  EXPECT_EQ(SampleRate(2e9).samples_in(1ns), 2U);
}

TEST(SampleRate, SamplesInUndoesDurationOf) {
  for (const double hz : {0.3, 1.0, 3.0, 7.0, 59.94, 256.0, 16'384.0, 44'100.0, 65'536.0, 1e6}) {
    for (const std::uint64_t n : {1U, 2U, 3U, 7U, 1'000U, 999'983U}) {
      EXPECT_EQ(SampleRate(hz).samples_in(SampleRate(hz).duration_of(n)), n) << hz;
    }
  }
}

struct NameCase {
  std::string_view name, domain, subsystem;
  std::optional<char> delimiter;
  std::optional<std::string_view> rest;
};

TEST(ChannelName, IsTakenApartAtTheLastColonAndTheFirstDelimiter) {
  const NameCase cases[] = {
      {"H1:GDS-CALIB_STRAIN", "H1", "GDS", '-', "CALIB_STRAIN"},
      {"L1:LSC_DARM", "L1", "LSC", '_', "DARM"},
      {"LVE-EX:X3_810BTORR.mean", "LVE-EX", "X3", '_', "810BTORR.mean"},
      {"G1:LSC_SRC_EP-P", "G1", "LSC", '_', "SRC_EP-P"},
      {"H1:H1:STRAIN", "H1:H1", "STRAIN", {}, {}},
      {"H1:FOO-BAR:BAZ", "H1:FOO-BAR", "BAZ", {}, {}},
      {"H1:-x", "H1", "", '-', "x"},
      {"H1:x-", "H1", "x", '-', ""},
      {":", "", "", {}, {}},
      {"a:", "a", "", {}, {}},
      {"H1:Ü-x", "H1", "Ü", '-', "x"},
  };
  for (const NameCase& c : cases) {
    const auto parts = parse_channel_name(c.name);
    ASSERT_TRUE(parts) << c.name;
    EXPECT_EQ(parts->domain, c.domain);
    EXPECT_EQ(parts->subsystem, c.subsystem);
    EXPECT_EQ(parts->delimiter, c.delimiter);
    EXPECT_EQ(parts->rest, c.rest);
  }
}

TEST(ChannelName, LineEndsFollowThePublishedExpression) {
  EXPECT_EQ(parse_channel_name("H1:A\n")->subsystem, "A\n");
  EXPECT_EQ(parse_channel_name("H1:A-x\n")->rest, "x");
  EXPECT_EQ(parse_channel_name("H1:A-\n")->rest, "");
  EXPECT_EQ(parse_channel_name("H1:A\n:B")->domain, "H1");
  EXPECT_EQ(parse_channel_name("H1:A\n:B")->subsystem, "A\n:B");
  EXPECT_FALSE(parse_channel_name("H1:A-\nx"));
  EXPECT_FALSE(parse_channel_name("H1:A-x\n\n"));
  EXPECT_FALSE(parse_channel_name("H1\n:A-x"));
}

TEST(ChannelName, NeedsAColon) {
  EXPECT_FALSE(parse_channel_name(""));
  EXPECT_FALSE(parse_channel_name("H1"));
  const std::string why = message_of([] { channel("H1 GDS"); }, Errc::invalid_argument);
  EXPECT_TRUE(contains(why, "'H1 GDS'")) << why;
}

TEST(Channel, PartsAreViewsOfItsOwnName) {
  std::vector<Channel> channels = {channel("H1:GDS-CALIB_STRAIN")};
  channels.push_back(channels.front());
  const Channel& copy = channels.back();
  EXPECT_EQ(copy.name_parts().domain.data(), copy.name().data());
  EXPECT_EQ(copy.name_parts().rest, "CALIB_STRAIN");
}

TEST(Matches, NameTypeAndRateAlwaysCount) {
  const Channel a = channel();
  EXPECT_TRUE(matches(a, Channel("X1:A-a", DataType::float32, SampleRate(16.0))));
  EXPECT_FALSE(matches(a, Channel("X1:A-b", DataType::float32, SampleRate(16))));
  EXPECT_FALSE(matches(a, Channel("X1:A-a", DataType::float64, SampleRate(16))));
  EXPECT_FALSE(matches(a, Channel("X1:A-a", DataType::float32, SampleRate(17))));
}

/// Whether channels with these two values of a field match, asked both ways.
template <typename T>
bool fields_match(std::optional<T> Channel::*field, std::optional<T> x, std::optional<T> y) {
  Channel a = channel();
  Channel b = channel();
  a.*field = x;
  b.*field = y;
  EXPECT_EQ(matches(a, b), matches(b, a));
  return matches(a, b);
}

TEST(Matches, NumbersCountWhenBothHaveThemZeroIncluded) {
  using Index = std::optional<std::uint32_t>;
  using Span = std::optional<Duration>;
  using Time = std::optional<GpsTime>;
  EXPECT_FALSE(fields_match(&Channel::partition_index, Index(0), Index(1)));
  EXPECT_TRUE(fields_match(&Channel::partition_index, Index(0), Index()));
  EXPECT_FALSE(fields_match(&Channel::stride, Span(0ns), Span(2ns)));
  EXPECT_TRUE(fields_match(&Channel::stride, Span(2ns), Span(2ns)));
  EXPECT_FALSE(fields_match(&Channel::max_latency, Span(1ns), Span(2ns)));
  EXPECT_FALSE(fields_match(&Channel::time, Time(GpsTime::from_ns(0)), Time(GpsTime::from_ns(1))));
  EXPECT_TRUE(fields_match(&Channel::time, Time(GpsTime::from_ns(0)), Time()));
}

TEST(Matches, TextsCountWhenBothSaySomething) {
  using Text = std::optional<std::string>;
  for (const auto field : {&Channel::publisher, &Channel::partition_id, &Channel::replay_id}) {
    EXPECT_FALSE(fields_match(field, Text("P"), Text("Q")));
    EXPECT_TRUE(fields_match(field, Text("P"), Text("P")));
    EXPECT_TRUE(fields_match(field, Text("P"), Text()));
    EXPECT_TRUE(fields_match(field, Text("P"), Text("")));
  }
}

TEST(Describe, ShowsWhatIsThereInOneLine) {
  Channel c("H1:A-B", DataType::int32, SampleRate(16));
  EXPECT_EQ(describe(c), "<H1:A-B, 16 Hz, 'int32'>");
  c.publisher = "P";
  c.stride = 62'500us;
  EXPECT_EQ(describe(c), "<H1:A-B, 16 Hz, 'int32', publisher='P', stride=62_500_000>");
  c.time = GpsTime::from_ns(-1'234);
  c.partition_id = "a\n";
  c.partition_index = 123;
  c.max_latency = 0s;
  c.replay_id = "R";
  EXPECT_EQ(describe(c),
            "<H1:A-B, 16 Hz, 'int32', time=-1_234, publisher='P', partition_id='a\\n', "
            "partition_index=123, stride=62_500_000, max_latency=0, replay_id='R'>");
}

TEST(TopicOf, FollowsPartitionAndReplay) {
  Channel c = channel();
  const std::string why = message_of([&c] { topic_of(c); }, Errc::precondition);
  EXPECT_TRUE(contains(why, "'X1:A-a'")) << why;
  c.partition_id = "PUB_A_ABC123";
  EXPECT_EQ(topic_of(c), "arrakis-PUB_A_ABC123");
  c.replay_id = "O4R";
  EXPECT_EQ(topic_of(c), "arrakis-replay-O4R-PUB_A_ABC123");
  c.replay_id = "";
  EXPECT_EQ(topic_of(c), "arrakis-replay--PUB_A_ABC123");
}

TEST(ChannelSet, FindsChannelsByName) {
  const ChannelSet set({channel("X1:A"), channel("X1:B"), channel("X1:C")});
  EXPECT_EQ(set.size(), 3U);
  EXPECT_EQ(set.find("X1:B"), 1U);
  EXPECT_EQ(set.find("X1:D"), std::nullopt);
  EXPECT_TRUE(set.contains("X1:C"));
  EXPECT_EQ(set.at("X1:C").name(), "X1:C");
  const std::string why = message_of([&set] { (void)set.at("X1:D"); }, Errc::not_found);
  EXPECT_TRUE(contains(why, "'X1:D'")) << why;
}

TEST(ChannelSet, RefusesANameThatComesTwice) {
  const std::string why = message_of(
      [] {
        ChannelSet({channel("X1:A"), channel("X1:B"), channel("X1:A")});
      },
      Errc::invalid_argument);
  EXPECT_TRUE(contains(why, "'X1:A'")) << why;
}

TEST(ChannelSet, CopiesShareOneTable) {
  const ChannelSet set({channel("X1:A")});
  const std::vector<ChannelSet> copies = {set, set};
  EXPECT_TRUE(copies[0].same_table(set));
  EXPECT_TRUE(copies[0].same_table(copies[1]));
  EXPECT_FALSE(ChannelSet({channel("X1:A")}).same_table(set));
}

TEST(ChannelSet, AnEmptyOrMovedFromSetIsUsable) {
  ChannelSet set({channel("X1:A")});
  const ChannelSet taken = std::move(set);
  EXPECT_EQ(taken.size(), 1U);
  const ChannelSet none;
  const ChannelSet& moved_from = set;  // NOLINT(bugprone-use-after-move)
  for (const ChannelSet* empty : {&none, &moved_from}) {
    EXPECT_TRUE(empty->empty());
    EXPECT_EQ(empty->find("X1:A"), std::nullopt);
    EXPECT_EQ(empty->begin(), empty->end());
  }
}

TEST(ChannelSet, SelectsNamesAndGlobsInTheOrderOfTheSelectors) {
  const ChannelSet set({channel("H1:A-1"), channel("H1:A-2"), channel("L1:A-1"), channel("L1:B")});
  const auto select = [&set](std::vector<std::string> selectors) {
    return names(set.select(selectors));
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(select({"L1:B", "H1:A-1"}), (Names{"L1:B", "H1:A-1"}));
  EXPECT_EQ(select({"H1:*"}), (Names{"H1:A-1", "H1:A-2"}));
  EXPECT_EQ(select({"?1:A-1", "H1:*", "L1:B"}), (Names{"H1:A-1", "L1:A-1", "H1:A-2", "L1:B"}));
  EXPECT_EQ(select({"H1:A-[!1]"}), (Names{"H1:A-2"}));
  EXPECT_EQ(select({}), Names{});
}

TEST(ChannelSet, ANameThatLooksLikeAGlobIsTakenExactly) {
  const ChannelSet set({channel("H1:A[0]"), channel("H1:A0")});
  const std::vector<std::string> selectors = {"H1:A[0]"};
  EXPECT_EQ(names(set.select(selectors)), selectors);
}

TEST(ChannelSet, ASelectorWithoutAMatchIsNamed) {
  const ChannelSet set({channel("H1:A-1")});
  for (const std::string selector : {"H1:B", "L1:*", "H1:A", ""}) {
    const std::string why = message_of(
        [&] {
          (void)set.select(std::vector<std::string>{"H1:A-1", selector});
        },
        Errc::not_found);
    EXPECT_TRUE(contains(why, "'" + selector + "'")) << why;
  }
}

TEST(ChannelName, SavedInputsOfTheFuzzerDoNoHarm) {
  for (const testing::SavedInput& input : testing::corpus("channel_name_fuzz")) {
    exercise_channel_name(input.bytes);
  }
}

}  // namespace
}  // namespace arrakis::inline v1
