#include "plain_table.hpp"

#include <gtest/gtest.h>

#include <string>

namespace arrakis::cli {
namespace {

// What is expected here was printed by the Python program.

PlainTable channel_table() {
  PlainTable table(
      {{"name"}, {"data_type"}, {"sample_rate", Align::right}, {"stride", Align::right}});
  table.add_row({"H1:TEST-CHANNEL_SIN", "float32", "512", "62500000"});
  table.add_row({"H1:TEST-STATE_ONES", "int32", "16", "62500000"});
  table.add_row({"L1:TEST-NOISE", "float64", "4096", "62500000"});
  table.add_row({"L1:TEST-SLOW", "uint64", "1", "1000000000"});
  return table;
}

TEST(PlainTable, IsAsWideAsItsTextWhereThereIsRoom) {
  EXPECT_EQ(channel_table().render(80),
            " name                 data_type  sample_rate      stride \n"
            " H1:TEST-CHANNEL_SIN  float32            512    62500000 \n"
            " H1:TEST-STATE_ONES   int32               16    62500000 \n"
            " L1:TEST-NOISE        float64           4096    62500000 \n"
            " L1:TEST-SLOW         uint64               1  1000000000 \n");
}

TEST(PlainTable, NarrowsTheWidestColumnsFirst) {
  EXPECT_EQ(channel_table().render(40),
            " name      data_ty…  sample_…    stride \n"
            " H1:TEST…  float32        512  62500000 \n"
            " H1:TEST…  int32           16  62500000 \n"
            " L1:TEST…  float64       4096  62500000 \n"
            " L1:TEST…  uint64           1  1000000… \n");
}

TEST(PlainTable, BreaksTextAtBlanksAndTheCaptionToo) {
  PlainTable table({{"channel"},
                    {"data_type"},
                    {"sample_rate", Align::right},
                    {"samples", Align::right},
                    {"has_gaps"},
                    {"data"}});
  table.add_row(
      {"H1:TEST-CHANNEL_SIN", "float32", "512", "1024", "False", "[0.5458434, ..., 0.536387]"});
  table.add_row({"L1:TEST-NOISE", "float64", "4096", "8192", "False",
                 "[333333333.3333333, ..., 333333333.99991]"});
  table.set_caption("time: 1000000000.0000 s, duration: 2.0000 s");
  EXPECT_EQ(table.render(80),
            " channel            data_type  sample_rate  samples  has_gaps  data             \n"
            " H1:TEST-CHANNEL_…  float32            512     1024  False     [0.5458434, ..., \n"
            "                                                               0.536387]        \n"
            " L1:TEST-NOISE      float64           4096     8192  False     [333333333.3333… \n"
            "                                                               ...,             \n"
            "                                                               333333333.99991] \n"
            "time: 1000000000.0000 s, duration: 2.0000 s                                     \n");
}

TEST(PlainTable, SurvivesWidthsThatHoldNothing) {
  for (std::size_t width = 0; width < 30; ++width) {
    const std::string text = channel_table().render(width);
    EXPECT_LE(text.find('\n'), std::max<std::size_t>(3 * width, 1)) << text;
  }
}

}  // namespace
}
