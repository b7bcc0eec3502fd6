#include "channel_printer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

namespace arrakis::cli {
namespace {

constexpr std::size_t kWidth = 80;

Channel channel(int number) {
  Channel result("X1:CH-" + std::to_string(number), DataType::float32, SampleRate(16));
  result.stride = std::chrono::microseconds(62'500);
  return result;
}

/// What is printed of `count` channels.
std::string printed(int count, Format format) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  console::Output output(::fileno(file.get()));
  ChannelPrinter printer(output, format, kWidth, false);
  for (int i = 0; i < count; ++i) printer.add(channel(i));
  printer.finish();
  std::rewind(file.get());
  std::string text;
  for (int c = std::fgetc(file.get()); c != EOF; c = std::fgetc(file.get())) {
    text += static_cast<char>(c);
  }
  return text;
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(ChannelPrinter, PrintsNothingForNothing) {
  EXPECT_EQ(printed(0, Format::table), "");
  EXPECT_EQ(printed(0, Format::json), "");
}

TEST(ChannelPrinter, FitsShortListingsIntoATable) {
  EXPECT_EQ(printed(2, Format::table),
            " name     data_type  sample_rate    stride \n"
            " X1:CH-0  float32             16  62500000 \n"
            " X1:CH-1  float32             16  62500000 \n");
}

TEST(ChannelPrinter, ShowsWhatIsNotThereAsNone) {
  const std::string text = printed(1, Format::table_full);
  EXPECT_NE(text.find("None"), std::string::npos) << text;
  EXPECT_NE(text.find(" time "), std::string::npos) << text;
}

TEST(ChannelPrinter, AThousandChannelsAreTheFirstLongTable) {
  EXPECT_EQ(printed(999, Format::table).rfind(" name", 0), 0U);
  const std::string text = printed(1000, Format::table);
  EXPECT_EQ(text.rfind("name       data_type  sample_rate       stride\n"
                       "X1:CH-0    float32             16     62500000\n",
                       0),
            0U)
      << text.substr(0, 200);
  EXPECT_EQ(lines_in(text), 1001U);
  EXPECT_EQ(lines_in(printed(12345, Format::table)), 12346U);
}

TEST(ChannelPrinter, OtherFormsHaveAnEntryAChannel) {
  EXPECT_EQ(printed(2, Format::str), "X1:CH-0\nX1:CH-1\n");
  EXPECT_EQ(lines_in(printed(5000, Format::json)), 5000U);
}

}  // namespace
}
