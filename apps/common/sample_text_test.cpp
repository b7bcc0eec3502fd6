#include "common/sample_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "arrakis/channel.hpp"

namespace arrakis::console {
namespace {

template <typename T>
Series series_of(const std::vector<T>& samples, const std::vector<std::size_t>& gaps = {}) {
  const ChannelSet channels(
      {Channel("X1:A-B", data_type_of<T>(), SampleRate(static_cast<int>(samples.size())))});
  const auto flags = std::make_unique<bool[]>(samples.size());
  for (const std::size_t gap : gaps) flags[gap] = true;
  return BlockBuilder(GpsTime::from_seconds(1), channels)
      .set("X1:A-B", samples, std::span<const bool>(flags.get(), samples.size()))
      .build()
      .at(0);
}

TEST(SampleText, NumbersAreShort) {
  EXPECT_EQ(sample_text(series_of<double>({-3.21459e-21}), 0), "-3.2146e-21");
  EXPECT_EQ(sample_text(series_of<float>({0.5F}), 0), "0.5");
  EXPECT_EQ(sample_text(series_of<float>({std::numeric_limits<float>::quiet_NaN()}), 0), "nan");
}

TEST(SampleText, IntegersAreExact) {
  EXPECT_EQ(sample_text(series_of<std::int8_t>({-128}), 0), "-128");
  EXPECT_EQ(sample_text(series_of<std::uint64_t>({18446744073709551615U}), 0),
            "18446744073709551615");
}

TEST(SampleText, AGapIsAWord) { EXPECT_EQ(sample_text(series_of<float>({1, 2}, {1}), 1), "gap"); }

TEST(ShortData, ShowsAllUpToThree) {
  EXPECT_EQ(short_data(series_of<int>({1})), "[1]");
  EXPECT_EQ(short_data(series_of<int>({1, 2, 3})), "[1, 2, 3]");
  EXPECT_EQ(short_data(series_of<int>({1, 2, 3}, {1})), "[1, gap, 3]");
}

TEST(ShortData, ShowsTheFirstAndLastOfMore) {
  EXPECT_EQ(short_data(series_of<int>({1, 2, 3, 4})), "[1, ..., 4]");
  EXPECT_EQ(short_data(series_of<int>({1, 2, 3, 4}, {1, 2})), "[1, ..., 4] (2 of 4 gaps)");
  EXPECT_EQ(short_data(series_of<int>({1, 2, 3, 4}, {3})), "[1, ..., gap] (1 of 4 gaps)");
}

TEST(ShortData, NothingButGapsIsOneWord) {
  EXPECT_EQ(short_data(series_of<int>({1}, {0})), "gap");
  EXPECT_EQ(short_data(series_of<int>({1, 2, 3, 4}, {0, 1, 2, 3})), "gap");
}

TEST(SecondsText, HasTheDecimalsAskedFor) {
  EXPECT_EQ(seconds_text(std::chrono::microseconds(62'500), 6), "0.062500");
  EXPECT_EQ(seconds_text(std::chrono::milliseconds(-1500), 1), "-1.5");
}

TEST(ExactDigits, AreAsManyAsNeededAndAtLeastFour) {
  const GpsTime whole = GpsTime::from_seconds(1'000'000'000);
  EXPECT_EQ(exact_digits(whole, std::chrono::seconds(1)), 4);
  EXPECT_EQ(exact_digits(whole, std::chrono::microseconds(62'500)), 4);
  EXPECT_EQ(exact_digits(whole, Duration(7'812'500)), 7);  // 1/128 s
  EXPECT_EQ(exact_digits(whole + Duration(1), std::chrono::seconds(1)), 9);
  EXPECT_EQ(exact_digits(whole, Duration(333'333'333)), 9);
}

}  // namespace
}
