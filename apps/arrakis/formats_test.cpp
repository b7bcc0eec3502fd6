#include "formats.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace arrakis::cli {
namespace {

SeriesBlock sample_block() {
  std::vector<std::int32_t> many(17);
  for (int i = 0; i < 17; ++i) many[static_cast<std::size_t>(i)] = i;
  return BlockBuilder(GpsTime::from_seconds(1'000'000'000),
                      ChannelSet({Channel("X1:B", DataType::int32, SampleRate(17)),
                                  Channel("X1:A", DataType::float32, SampleRate(1))}))
      .set("X1:B", many)
      .set("X1:A", std::vector<float>{0.5F})
      .build();
}

TEST(Formats, OfAChannel) {
  const Channel channel("X1:A", DataType::float32, SampleRate(16));
  EXPECT_EQ(formatted(channel, Format::str), "X1:A");
  EXPECT_EQ(formatted(channel, Format::repr), "<X1:A, 16 Hz, 'float32'>");
  EXPECT_EQ(formatted(channel, Format::json),
            R"({"name": "X1:A", "data_type": "float32", "sample_rate": 16})");
  const std::string indented =
      "{\n    \"name\": \"X1:A\",\n    \"data_type\": \"float32\",\n    \"sample_rate\": 16\n}";
  EXPECT_EQ(formatted(channel, Format::json_pp), indented);
  EXPECT_EQ(formatted(channel, Format::json_abrv), indented);
}

TEST(Formats, AbbreviatedJsonHoldsArraysAsStrings) {
  const std::string expected = R"json({
    "time_ns": 1000000000000000000,
    "data": {
        "X1:B": "array(data=[0, 1, 2, ..., 14, 15, 16], dtype=int32)",
        "X1:A": "array(data=[0.5], dtype=float32)"
    },
    "channels": {
        "X1:B": {
            "name": "X1:B",
            "data_type": "int32",
            "sample_rate": 17
        },
        "X1:A": {
            "name": "X1:A",
            "data_type": "float32",
            "sample_rate": 1
        }
    },
    "_duration_ns": 1000000000
})json";
  EXPECT_EQ(formatted(sample_block(), Format::json_abrv), expected);
}

TEST(BlockTable, IsSortedByNameAndHasTheTimeBelow) {
  EXPECT_EQ(block_table(sample_block(), 80),
            " channel  data_type  sample_rate  samples  has_gaps  data         \n"
            " X1:A     float32              1        1  False     [0.5]        \n"
            " X1:B     int32               17       17  False     [0, ..., 16] \n"
            "time: 1000000000.0000 s, duration: 1.0000 s                       \n");
}

}  // namespace
}
