#include "python_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace arrakis::cli {
namespace {

const GpsTime kStart = GpsTime::from_seconds(1'000'000'000);

/// A block of one channel X1:A that has these samples; all at once, so its rate is their number.
template <typename T>
SeriesBlock block_of(const std::vector<T>& samples, const std::vector<bool>& gaps = {}) {
  const ChannelSet channels(
      {Channel("X1:A", data_type_of<T>(),
               SampleRate(static_cast<std::int64_t>(std::max<std::size_t>(samples.size(), 1))))});
  const auto flags = std::make_unique<bool[]>(samples.size());
  for (std::size_t i = 0; i < gaps.size(); ++i) flags[i] = gaps[i];
  return BlockBuilder(kStart, channels)
      .set("X1:A", std::span<const T>(samples), std::span(flags.get(), samples.size()))
      .build();
}

template <typename T>
std::string repr(const std::vector<T>& samples, const std::vector<bool>& gaps = {},
                 Lines lines = Lines::wrapped) {
  return array_repr(block_of(samples, gaps).at(0), lines);
}

std::vector<double> thirds(std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i) / 3);
  return values;
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// What is expected here was printed by NumPy 2.4.

TEST(SampleStr, IsThatOfNumPyScalars) {
  const std::vector<std::pair<float, std::string>> floats{
      {0.5458434F, "0.5458434"},   {1.0F, "1.0"},      {-0.0F, "-0.0"},
      {999999.0F, "999999.0"},     {1e6F, "1e+06"},    {9999999.0F, "9.999999e+06"},
      {16777216, "1.6777216e+07"}, {0.0001F, "1e-04"}, {0.00011F, "0.00011"},
      {1.5e-7F, "1.5e-07"},        {3e38F, "3e+38"}};
  for (const auto& [value, text] : floats) {
    EXPECT_EQ(sample_str(block_of<float>({value}).at(0), 0), text);
  }
  const std::vector<std::pair<double, std::string>> doubles{{1e16, "1e+16"},
                                                            {9.999e15, "9999000000000000.0"},
                                                            {123456789, "123456789.0"},
                                                            {0.0001, "0.0001"},
                                                            {0.00001, "1e-05"},
                                                            {1e22, "1e+22"},
                                                            {1.0 / 3, "0.3333333333333333"},
                                                            {kNan, "nan"},
                                                            {-kInf, "-inf"}};
  for (const auto& [value, text] : doubles) {
    EXPECT_EQ(sample_str(block_of<double>({value}).at(0), 0), text);
  }
  EXPECT_EQ(sample_str(block_of<std::int8_t>({-7}).at(0), 0), "-7");
  EXPECT_EQ(sample_str(block_of<std::uint64_t>({UINT64_MAX}).at(0), 0), "18446744073709551615");
  EXPECT_EQ(sample_str(block_of<std::int32_t>({1}, {true}).at(0), 0), "--");
}

TEST(ArrayStr, ShowsTheEndsBeyondTheThreshold) {
  EXPECT_EQ(array_str(block_of<std::int32_t>({1, 2, 3}).at(0), 3, 1), "[1, 2, 3]");
  EXPECT_EQ(array_str(block_of<std::int32_t>({1, 2, 3, 4}).at(0), 3, 1), "[1, ..., 4]");
  EXPECT_EQ(array_str(block_of<std::int32_t>({1, 2, 3, 4}, {true, false, false, true}).at(0), 3, 1),
            "[--, ..., --]");
  EXPECT_EQ(array_str(block_of(thirds(17)).at(0), 16, 3),
            "[0.0, 0.3333333333333333, 0.6666666666666666, ..., 4.666666666666667, 5.0, "
            "5.333333333333333]");
}

TEST(ArrayRepr, OfIntegersIsAlignedAndNamesTheTypeUnlessItIsImplied) {
  EXPECT_EQ(repr<std::int64_t>({1, 2, 3}), "array([1, 2, 3])");
  EXPECT_EQ(repr<std::int32_t>({100000, -1}), "array([100000,     -1], dtype=int32)");
  EXPECT_EQ(repr<std::uint8_t>({1}), "array([1], dtype=uint8)");
}

TEST(ArrayRepr, OfRealsHasPointsBelowEachOther) {
  EXPECT_EQ(repr<double>({1.0 / 3, 123.456}), "array([  0.33333333, 123.456     ])");
  EXPECT_EQ(repr<double>({-1, 2}), "array([-1.,  2.])");
  EXPECT_EQ(repr<double>({0, 0}), "array([0., 0.])");
  EXPECT_EQ(repr<double>({0.99999999999}), "array([1.])");
  EXPECT_EQ(repr<double>({1, kNan, kInf}), "array([ 1., nan, inf])");
  EXPECT_EQ(repr<double>({kNan}), "array([nan])");
}

TEST(ArrayRepr, OfRealsFarApartHasExponents) {
  EXPECT_EQ(repr<double>({1.5, 2.25e-5, 3}), "array([1.50e+00, 2.25e-05, 3.00e+00])");
  EXPECT_EQ(repr<double>({1e8, 1}), "array([1.e+08, 1.e+00])");
  EXPECT_EQ(repr<double>({1001, 1}), "array([1.001e+03, 1.000e+00])");
  EXPECT_EQ(repr<double>({1e300, 1}), "array([1.e+300, 1.e+000])");
  EXPECT_EQ(repr<double>({1e100, -1e-5}), "array([ 1.e+100, -1.e-005])");
  EXPECT_EQ(repr<double>({333333333.333333}), "array([3.33333333e+08])");
  EXPECT_EQ(repr<float>({1e-21F, 3.2e-21F}), "array([1.0e-21, 3.2e-21], dtype=float32)");
}

TEST(ArrayRepr, BreaksLinesAsNumPyDoesOrNotAtAll) {
  const std::vector<float> sine(1024, 0.5458434F);
  EXPECT_EQ(repr(sine),
            "array([0.5458434, 0.5458434, 0.5458434, ..., 0.5458434, 0.5458434,\n"
            "       0.5458434], shape=(1024,), dtype=float32)");
  EXPECT_EQ(repr(sine, {}, Lines::one).find('\n'), std::string::npos);
  EXPECT_EQ(repr(std::vector<std::int32_t>(32, 1)),
            "array([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,\n"
            "       1, 1, 1, 1, 1, 1, 1, 1, 1, 1], dtype=int32)");
}

TEST(ArrayRepr, OfGapsIsAMaskedArray) {
  EXPECT_EQ(repr<std::int32_t>({1, 2, 3}, {false, true, false}),
            "masked_array(data=[1, --, 3],\n"
            "             mask=[False,  True, False],\n"
            "       fill_value=np.int64(999999),\n"
            "            dtype=int32)");
  EXPECT_EQ(repr<double>({1, 2}, {true, true}),
            "masked_array(data=[--, --],\n"
            "             mask=[ True,  True],\n"
            "       fill_value=1e+20,\n"
            "            dtype=float64)");
  EXPECT_EQ(repr<double>({1, 2}, {true, false}, Lines::one),
            "masked_array(data=[--, 2.0], mask=[ True, False], fill_value=1e+20)");
  EXPECT_EQ(repr<float>({0.1F, 2}, {false, true}, Lines::one),
            "masked_array(data=[0.10000000149011612, --], mask=[False,  True], "
            "fill_value=np.float64(1e+20), dtype=float32)");
  std::vector<bool> third(30);
  for (std::size_t i = 0; i < third.size(); ++i) third[i] = i % 3 == 1;
  EXPECT_EQ(repr(thirds(30), third),
            "masked_array(data=[0.0, --, 0.6666666666666666, 1.0, --,\n"
            "                   1.6666666666666667, 2.0, --, 2.6666666666666665, 3.0,\n"
            "                   --, 3.6666666666666665, 4.0, --, 4.666666666666667,\n"
            "                   5.0, --, 5.666666666666667, 6.0, --, 6.666666666666667,\n"
            "                   7.0, --, 7.666666666666667, 8.0, --, 8.666666666666666,\n"
            "                   9.0, --, 9.666666666666666],\n"
            "             mask=[False,  True, False, False,  True, False, False,  True,\n"
            "                   False, False,  True, False, False,  True, False, False,\n"
            "                    True, False, False,  True, False, False,  True, False,\n"
            "                   False,  True, False, False,  True, False],\n"
            "       fill_value=1e+20)");
}

TEST(StringRepr, QuotesAsPythonDoes) {
  EXPECT_EQ(string_repr("a"), "'a'");
  EXPECT_EQ(string_repr("it's"), "\"it's\"");
  EXPECT_EQ(string_repr("it's \"so\""), "'it\\'s \"so\"'");
  EXPECT_EQ(string_repr("\x1b[2J\n"), "'\\x1b[2J\\n'");
}

Channel full_channel() {
  Channel channel("H1:TEST-STATE_ONES", DataType::int32, SampleRate(16));
  channel.publisher = "FAKE_H1";
  channel.partition_id = "FAKE_H1_i32";
  channel.partition_index = 0;
  channel.stride = std::chrono::microseconds(62'500);
  channel.max_latency = std::chrono::seconds(3);
  return channel;
}

TEST(ChannelRepr, HasTheFieldsThatAreThere) {
  EXPECT_EQ(channel_repr(full_channel()),
            "<H1:TEST-STATE_ONES, 16 Hz, 'int32', publisher='FAKE_H1', "
            "partition_id='FAKE_H1_i32', partition_index=0, stride=62_500_000, "
            "max_latency=3_000_000_000>");
  EXPECT_EQ(channel_repr(Channel("X1:A", DataType::float64, SampleRate(0.5))),
            "<X1:A, 0.5 Hz, 'float64'>");
}

TEST(Pprint, SortsKeysAndStaysOnOneLineWhereItFits) {
  EXPECT_EQ(channel_pprint(full_channel()),
            "{'data_type': 'int32',\n"
            " 'max_latency': 3000000000,\n"
            " 'name': 'H1:TEST-STATE_ONES',\n"
            " 'partition_id': 'FAKE_H1_i32',\n"
            " 'partition_index': 0,\n"
            " 'publisher': 'FAKE_H1',\n"
            " 'sample_rate': 16,\n"
            " 'stride': 62500000}");
  EXPECT_EQ(channel_pprint(Channel("X1:A", DataType::float64, SampleRate(1))),
            "{'data_type': 'float64', 'name': 'X1:A', 'sample_rate': 1}");
}

TEST(Pprint, NestsTheFieldsOfABlock) {
  const SeriesBlock block = BlockBuilder(kStart, ChannelSet({full_channel()}))
                                .set("H1:TEST-STATE_ONES", std::vector<std::int32_t>{1, 1})
                                .build();
  EXPECT_EQ(block_pprint(block),
            "{'_duration_ns': 125000000,\n"
            " 'channels': {'H1:TEST-STATE_ONES': {'data_type': 'int32',\n"
            "                                     'max_latency': 3000000000,\n"
            "                                     'name': 'H1:TEST-STATE_ONES',\n"
            "                                     'partition_id': 'FAKE_H1_i32',\n"
            "                                     'partition_index': 0,\n"
            "                                     'publisher': 'FAKE_H1',\n"
            "                                     'sample_rate': 16,\n"
            "                                     'stride': 62500000}},\n"
            " 'data': {'H1:TEST-STATE_ONES': array([1, 1], dtype=int32)},\n"
            " 'time_ns': 1000000000000000000}");
}

TEST(BlockRepr, IsOneLine) {
  const SeriesBlock block = block_of<std::int32_t>({1, 2}, {true, false});
  EXPECT_EQ(block_repr(block),
            "SeriesBlock(time_ns=1000000000000000000, data={'X1:A': masked_array(data=[--, 2], "
            "mask=[ True, False], fill_value=np.int64(999999), dtype=int32)}, channels={'X1:A': "
            "<X1:A, 2 Hz, 'int32'>}, _duration_ns=1000000000)");
}

}  // namespace
}
