#include "common/live_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "common/text.hpp"

namespace arrakis::console {
namespace {

using testing::ElementsAre;

constexpr Duration kStride = std::chrono::milliseconds(250);

ChannelSet two_channels() {
  return ChannelSet({Channel("X1:CAL-STRAIN", DataType::float64, SampleRate(16)),
                     Channel("X1:GRD-STATE", DataType::int32, SampleRate(4))});
}

SeriesBlock block_at(int number, double strain, int state, bool state_is_gap = false) {
  const bool flags[] = {state_is_gap};
  return BlockBuilder(GpsTime() + number * kStride, two_channels())
      .set("X1:CAL-STRAIN", std::vector<double>(4, strain))
      .set("X1:GRD-STATE", std::vector<std::int32_t>{state}, flags)
      .build();
}

/// X1:A-0, X1:A-1 …
ChannelSet numbered_channels(int count) {
  std::vector<Channel> channels;
  channels.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    channels.emplace_back("X1:A-" + std::to_string(i), DataType::float32, SampleRate(16));
  }
  return ChannelSet(std::move(channels));
}

std::vector<std::string> texts(const std::vector<Line>& lines) {
  std::vector<std::string> result;
  result.reserve(lines.size());
  for (const Line& line : lines) result.push_back(line.text);
  return result;
}

TEST(LiveTable, ShowsNamesBeforeTheFirstBlock) {
  const LiveTable table(two_channels(), kStride);
  EXPECT_THAT(texts(table.render(60, 10)),
              ElementsAre(" channel        type     rate        value  last 2.5 s  gaps",
                          " X1:CAL-STRAIN  float64    16            -                 0",
                          " X1:GRD-STATE   int32       4            -                 0"));
}

TEST(LiveTable, ShowsTheNewestValueThePastAndTheGaps) {
  LiveTable table(two_channels(), kStride);
  table.add(block_at(0, -1e-21, 7));
  table.add(block_at(1, 0, 7, true));
  table.add(block_at(2, 1e-21, 9));
  EXPECT_THAT(texts(table.render(60, 10)),
              ElementsAre(" channel        type     rate        value  last 2.5 s  gaps",
                          " X1:CAL-STRAIN  float64    16        1e-21         ▁▅█     0",
                          " X1:GRD-STATE   int32       4            9         ▁·█     1"));
}

TEST(LiveTable, AChannelInAGapStandsOut) {
  LiveTable table(two_channels(), kStride);
  table.add(block_at(0, 0, 7));
  EXPECT_EQ(table.render(80, 10)[2].style, Style::plain);
  table.add(block_at(1, 0, 7, true));
  const std::vector<Line> lines = table.render(80, 10);
  EXPECT_EQ(lines[0].style, Style::heading);
  EXPECT_EQ(lines[1].style, Style::plain);
  EXPECT_EQ(lines[2].style, Style::alert);
  EXPECT_NE(lines[2].text.find(" gap "), std::string::npos);
}

TEST(LiveTable, NeverWiderThanTheTerminal) {
  LiveTable table(two_channels(), kStride);
  for (int i = 0; i < 100; ++i) table.add(block_at(i, i, i));
  for (std::size_t width = 0; width < 200; ++width) {
    for (const Line& line : table.render(width, 10)) {
      ASSERT_LE(display_width(line.text), width) << line.text;
    }
  }
}

TEST(LiveTable, FillsAnEightyColumnTerminal) {
  LiveTable table(two_channels(), kStride);
  for (int i = 0; i < 100; ++i) table.add(block_at(i, i, i));
  for (const Line& line : table.render(80, 10)) EXPECT_EQ(display_width(line.text), 80U);
}

TEST(LiveTable, GivesUpColumnsWhereItIsNarrow) {
  const LiveTable table(two_channels(), kStride);
  EXPECT_EQ(table.render(54, 9)[0].text, " channel        rate        value  last 3.25 s    gaps");
  EXPECT_EQ(table.render(46, 9)[0].text, " channel              value  last 2.75 s  gaps");
  EXPECT_EQ(table.render(38, 9)[0].text, " channel              value  2.25 s   ");
  EXPECT_EQ(table.render(28, 9)[0].text, " channel              value");
  EXPECT_EQ(table.render(20, 9)[1].text, " X1:CA…            -");
}

TEST(LiveTable, SaysHowManyChannelsALowTerminalHides) {
  const ChannelSet channels = numbered_channels(20);
  const LiveTable table(channels, kStride);
  EXPECT_EQ(table.render(80, 21).size(), 21U);
  EXPECT_EQ(table.render(80, 21).back().text.substr(0, 9), " X1:A-19 ");
  const std::vector<Line> lines = table.render(80, 10);
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_EQ(lines.back().text, " … 12 more channels");
  EXPECT_EQ(table.render(80, 2).back().text, " … 20 more channels");
  EXPECT_EQ(table.render(80, 1).size(), 1U);
  EXPECT_TRUE(table.render(80, 0).empty());
}

TEST(LiveTable, CountsTheChannelsThatItDoesNotKeep) {
  const ChannelSet channels = numbered_channels(1000);
  const LiveTable table(channels, kStride);
  EXPECT_EQ(table.render(80, 11).back().text, " … 991 more channels");
  EXPECT_EQ(table.render(80, 5000).back().text, " … 500 more channels");
}

TEST(LiveTable, ANameCannotMoveTheCursor) {
  const LiveTable table(
      ChannelSet({Channel("X1:A\x1b[2J\n-Größe", DataType::float32, SampleRate(1))}), kStride);
  EXPECT_EQ(table.render(80, 9)[1].text.find('\x1b'), std::string::npos);
  EXPECT_NE(table.render(80, 9)[1].text.find("X1:A\uFFFD[2J\uFFFD-Größe "), std::string::npos);
}

TEST(LiveTable, AWideValueWidensItsColumn) {
  const ChannelSet channels({Channel("X1:A-B", DataType::int64, SampleRate(4))});
  LiveTable table(channels, kStride);
  table.add(BlockBuilder(GpsTime(), channels)
                .set("X1:A-B", std::vector<std::int64_t>{INT64_MIN})
                .build());
  EXPECT_NE(table.render(80, 9)[1].text.find("-9223372036854775808"), std::string::npos);
}

TEST(LiveTable, NoChannelsAreAHeading) {
  EXPECT_EQ(LiveTable(ChannelSet(), kStride).render(80, 9).size(), 1U);
}

}  // namespace
}
