#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "arrakis/json.hpp"
#include "testing/corpus.hpp"
#include "wire/block_json_exercise.hpp"

namespace arrakis {
namespace {

using ::testing::HasSubstr;

constexpr GpsTime kStart = GpsTime::from_ns(1'000'000'000'062'500'000);

template <typename T>
SeriesBlock block(const std::vector<T>& samples, const std::vector<bool>& gaps) {
  const Channel channel("X1:A-B", data_type_of<T>(), SampleRate(samples.size()));
  return BlockBuilder(kStart, ChannelSet({channel})).set("X1:A-B", samples, gaps).build();
}

template <typename T>
void expect_round_trip(const std::vector<T>& samples) {
  std::vector<bool> gaps(samples.size());
  gaps.back() = true;
  const SeriesBlock read = block_from_json(to_json(block(samples, gaps)));
  EXPECT_EQ(read.time(), kStart);
  const Series series = read["X1:A-B"];
  ASSERT_EQ(series.size(), samples.size());
  for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
    EXPECT_EQ(series.values<T>()[i], samples[i]);
    EXPECT_FALSE(series.is_gap(i));
  }
  EXPECT_TRUE(series.is_gap(samples.size() - 1));
}

TEST(BlockJson, ExtremesOfEveryTypeComeBackEqual) {
  for (int type = 0; type <= static_cast<int>(DataType::float64); ++type) {
    visit_type(static_cast<DataType>(type), []<typename T>(T) {
      using Limits = std::numeric_limits<T>;
      expect_round_trip<T>({Limits::lowest(), Limits::max(), Limits::min(), T{7}, T{0}});
    });
  }
}

TEST(BlockJson, SavedInputsOfTheFuzzerDoNoHarm) {
  for (const testing::SavedInput& input : testing::corpus("block_json_fuzz")) {
    exercise_block_json(input.bytes);
  }
}

TEST(BlockJson, WhatIsNoBlockIsRefusedWithWhatIsWrong) {
  const std::string good = to_json(block<float>({1, 2}, {false, false}));
  ASSERT_EQ(block_from_json(good).size(), 1U);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const std::pair<std::string, std::string> cases[] = {
      {"[]", "a block is an object, not an array"},
      {"{", "not valid JSON"},
      {changed("time_ns", "time"), "'time_ns' is missing"},
      {changed("1000000000062500000", "1.5"), "whole nanoseconds, not 1.5"},
      {changed("1000000000062500000", "18446744073709551615"), "whole nanoseconds"},
      {changed("[1.0, 2.0]", "{}"), "must be an array, not an object"},
      {changed("[1.0, 2.0]", "[1.0, \"x\"]"),
       "sample 1 must be null or a number that fits float32"},
      {changed("[1.0, 2.0]", "[1e39, 2.0]"), "sample 0"},
      {changed(R"("data": {"X1:A-B")", R"("data": {"X1:C")"), "'X1:C' has samples and no desc"},
      {changed("{\"X1:A-B\": [1.0, 2.0]}", "{}"), "'X1:A-B' has a description and no samples"},
      {changed(R"("name": "X1:A-B")", R"("name": "X1:C")"), "is described as 'X1:C'"},
      {changed("float32", "float99"), "float99"},
  };
  for (const auto& [text, why] : cases) {
    try {
      block_from_json(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::invalid_argument);
      EXPECT_THAT(error.what(), HasSubstr(why)) << text;
    }
  }
}

}  // namespace
}  // namespace arrakis
