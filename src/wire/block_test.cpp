#include "arrakis/block.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "arrakis/source.hpp"
#include "wire/block_data.hpp"
#include "wire/column_part.hpp"
#include "wire/row_decoder.hpp"
#include "wire/sample_grid.hpp"
#include "wire/sample_messages.hpp"

namespace arrakis::inline v1 {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const GpsTime kStart = GpsTime::from_seconds(std::int64_t{1'400'000'000});
constexpr Duration kQuarter = milliseconds(250);

Channel channel(const std::string& name, int rate = 16, DataType type = DataType::float32) {
  return {name, type, SampleRate(rate)};
}

/// Four samples, `first` and the ones after it, at 16 Hz.
SeriesBlock quarter(const std::string& name, GpsTime time, float first,
                    std::vector<bool> gaps = {}) {
  BlockBuilder builder(time, ChannelSet({channel(name)}));
  const std::vector<float> samples = {first, first + 1, first + 2, first + 3};
  bool flags[4] = {};
  for (std::size_t i = 0; i < gaps.size(); ++i) flags[i] = gaps[i];
  builder.set(name, samples, gaps.empty() ? std::span<const bool>() : std::span<const bool>(flags));
  return builder.build();
}

std::vector<std::string> shown(const Series& series) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < series.size(); ++i) {
    texts.push_back(series.is_gap(i) ? "gap"
                                     : std::to_string(static_cast<int>(series.value_as_double(i))));
  }
  return texts;
}

Errc code_of(const std::function<void()>& call, const std::string& expected_text) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(expected_text));
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return Errc::io;
}

BlockPartPtr part_of(const std::vector<SampleRow>& rows, std::size_t channels) {
  RowDecoder decoder(sample_channels(channels));
  return decoder.decode(received(make_message(rows), 1)).part;
}

TEST(SeriesBlock, DefaultIsEmptyAtTimeZero) {
  const SeriesBlock block;
  EXPECT_TRUE(block.empty());
  EXPECT_EQ(block.time(), GpsTime());
  EXPECT_EQ(block.duration(), Duration::zero());
  EXPECT_FALSE(block.has_gaps());
  EXPECT_FALSE(block.is_all_gap());
}

TEST(BlockBuilder, MakesABlockOfCopiedSamples) {
  std::vector<float> fast = {1, 2, 3, 4};
  const std::vector<double> slow = {-0.0};
  const ChannelSet channels({channel("H1:A-FAST"), channel("H1:A-SLOW", 4, DataType::float64)});
  const SeriesBlock block =
      BlockBuilder(kStart, channels).set("H1:A-FAST", fast).set("H1:A-SLOW", slow).build();
  fast[0] = 99;
  EXPECT_EQ(block.time(), kStart);
  EXPECT_EQ(block.duration(), kQuarter);
  EXPECT_EQ(block.end(), kStart + kQuarter);
  EXPECT_EQ(block.size(), 2U);
  const Series series = block["H1:A-FAST"];
  EXPECT_EQ(series.channel().name(), "H1:A-FAST");
  EXPECT_EQ(series.time(), kStart);
  EXPECT_EQ(series.duration(), kQuarter);
  EXPECT_THAT(series.values<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(series.time_at(3), kStart + Duration(187'500'000));
  EXPECT_TRUE(std::signbit(block.at(1).values<double>()[0]));
  EXPECT_FALSE(block.has_gaps());
  EXPECT_EQ(series.validity(), nullptr);
}

TEST(BlockBuilder, MarksGaps) {
  const SeriesBlock block = quarter("H1:A-B", kStart, 1, {false, true, false, true});
  const Series series = block.at(0);
  EXPECT_TRUE(block.has_gaps());
  EXPECT_FALSE(block.is_all_gap());
  EXPECT_EQ(series.gap_count(), 2U);
  EXPECT_THAT(shown(series), ElementsAre("1", "gap", "3", "gap"));
  EXPECT_TRUE(std::isnan(series.value_as_double(1)));
  EXPECT_FALSE(quarter("H1:A-B", kStart, 1, {false, false, false, false}).has_gaps());
}

TEST(BlockBuilder, RefusesWhatDoesNotFit) {
  const ChannelSet channels({channel("H1:A-A"), channel("H1:A-B", 32)});
  const std::vector<float> four(4);
  const std::vector<float> none;
  BlockBuilder builder(kStart, channels);
  EXPECT_EQ(code_of([&] { builder.set("H1:NO-SUCH", four); }, "H1:NO-SUCH"), Errc::not_found);
  EXPECT_EQ(code_of([&] { builder.set("H1:A-A", std::vector<double>(4)); },
                    "holds float32 samples, not float64"),
            Errc::invalid_argument);
  const bool flag[1] = {true};
  EXPECT_EQ(code_of([&] { builder.set("H1:A-A", four, flag); }, "1 gap flags for 4 samples"),
            Errc::invalid_argument);
  EXPECT_EQ(code_of([&] { (void)builder.set("H1:A-A", four).build(); },
                    "no samples were set for 'H1:A-B'"),
            Errc::precondition);
  EXPECT_EQ(code_of([&] { (void)builder.set("H1:A-B", four).build(); },
                    "'H1:A-B' has 4 samples, 125000000 ns at 32 Hz, where 'H1:A-A' has 4 samples, "
                    "250000000 ns"),
            Errc::precondition);
  EXPECT_EQ(code_of([&] { (void)builder.set("H1:A-A", none).build(); }, "0 samples, 0 ns"),
            Errc::precondition);
  EXPECT_EQ(builder.set("H1:A-B", none).build().duration(), Duration::zero());
}

TEST(SeriesBlock, UnknownChannelIsNamed) {
  const SeriesBlock block = quarter("H1:A-B", kStart, 0);
  EXPECT_EQ(code_of([&] { (void)block["H1:X-Y"]; }, "H1:X-Y"), Errc::not_found);
  EXPECT_EQ(code_of([&] { (void)block.at(1); }, "channel 1 of a block of 1"), Errc::not_found);
  EXPECT_EQ(code_of([&] { (void)block.at(0).values<int>(); }, "float32 samples, not int32"),
            Errc::invalid_argument);
}

TEST(Series, OutlivesItsBlock) {
  Series series = quarter("H1:A-B", kStart, 5).at(0);
  EXPECT_EQ(series.channel().name(), "H1:A-B");
  EXPECT_THAT(series.values<float>(), ElementsAre(5, 6, 7, 8));
  series = full_gap(kStart, kQuarter, ChannelSet({channel("H1:A-C")})).at(0);
  EXPECT_EQ(series.channel().name(), "H1:A-C");
  EXPECT_THAT(series.values<float>(), ElementsAre(0, 0, 0, 0));
}

TEST(SeriesBlock, FullGapHasTheLengthOfItsDurationAndZeroes) {
  const ChannelSet channels({channel("H1:A-B", 16, DataType::int64), channel("H1:A-C", 2)});
  const SeriesBlock block = full_gap(kStart, kQuarter, channels);
  EXPECT_TRUE(block.is_all_gap());
  EXPECT_TRUE(block.has_gaps());
  EXPECT_EQ(block.at(0).size(), 4U);
  EXPECT_EQ(block.at(0).gap_count(), 4U);
  EXPECT_THAT(block.at(0).values<std::int64_t>(), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(block.at(1).size(), 0U);
  EXPECT_EQ(
      full_gap(kStart, Duration(333'333'333), ChannelSet({channel("H1:A-3", 3)})).at(0).size(), 1U);
  EXPECT_EQ(code_of([&] { (void)full_gap(kStart, Duration(-1), channels); }, "-1 ns"),
            Errc::invalid_argument);
}

TEST(MakeBlock, OneSlotIsAViewIntoItsMessage) {
  const BlockPartPtr part = part_of(sample_rows(2, kStart.ns()), 2);
  const SeriesBlock block = block_of(sample_channels(2), part);
  EXPECT_EQ(static_cast<const void*>(block.at(1).bytes().data()), part->samples(1).values);
  EXPECT_EQ(block.at(1).bytes().data(), block["X:C-1"].bytes().data());
}

TEST(MakeBlock, SeveralSlotsAreAssembledAndMissingOnesAreGaps) {
  std::vector<SampleRow> rows = sample_rows(2, kStart.ns());
  (*rows[0].samples)[1] = std::nullopt;
  const BlockPartPtr first = part_of(rows, 2);
  rows = sample_rows(1, (kStart + 2 * kQuarter).ns());
  const BlockPartPtr third = part_of(rows, 2);
  const auto layout = std::make_shared<const BlockLayout>(std::vector{sample_channels(2)});
  const SeriesBlock block = make_block(layout, kStart, 3 * kQuarter,
                                       {{{kStart, kQuarter, first},
                                         {kStart + kQuarter, kQuarter, nullptr},
                                         {kStart + 2 * kQuarter, kQuarter, third}}});
  EXPECT_THAT(shown(block.at(0)),
              ElementsAre("0", "gap", "2", "3", "gap", "gap", "gap", "gap", "0", "1", "2", "3"));
  EXPECT_THAT(shown(block.at(1)), ElementsAre("100", "101", "102", "103", "gap", "gap", "gap",
                                              "gap", "gap", "gap", "gap", "gap"));
  EXPECT_EQ(block.at(1).values<float>()[8], 0);
  EXPECT_EQ(block.at(0).gap_count(), 5U);
  EXPECT_TRUE(block.has_gaps());
  EXPECT_FALSE(block.is_all_gap());
}

TEST(MakeBlock, ChannelsOfSeveralStreamsStandInTheirOrder) {
  const ChannelSet other({channel("H1:Z-Z"), channel("H1:Z-A")});
  const auto layout = std::make_shared<const BlockLayout>(std::vector{sample_channels(2), other});
  ASSERT_EQ(layout->channels().size(), 4U);
  const SeriesBlock block =
      make_block(layout, kStart, kQuarter,
                 {{{kStart, kQuarter, part_of(sample_rows(2, kStart.ns()), 2)}},
                  {{kStart, kQuarter, nullptr}}});
  EXPECT_EQ(block.channels()[2].name(), "H1:Z-Z");
  EXPECT_EQ(shown(block["X:C-1"])[0], "100");
  EXPECT_EQ(shown(block["H1:Z-A"])[0], "gap");
  EXPECT_TRUE(block.has_gaps());
  EXPECT_EQ(code_of(
                [] {
                  BlockLayout twice({sample_channels(1), sample_channels(2)});
                },
                "X:C-0"),
            Errc::precondition);
}

TEST(MakeBlock, WhatIsUncoveredIsAGapAndWhatLiesOutsideIsCut) {
  const BlockPartPtr part = part_of(sample_rows(1, kStart.ns()), 1);
  const auto layout = std::make_shared<const BlockLayout>(std::vector{sample_channels(1)});
  const Duration sample(62'500'000);
  const SeriesBlock block =
      make_block(layout, kStart + 2 * sample, kQuarter, {{{kStart, kQuarter, part}}});
  EXPECT_THAT(shown(block.at(0)), ElementsAre("2", "3", "gap", "gap"));
  EXPECT_EQ(block.at(0).time(), kStart + 2 * sample);
  const SeriesBlock before =
      make_block(layout, kStart - sample, kQuarter, {{{kStart, kQuarter, part}}});
  EXPECT_THAT(shown(before.at(0)), ElementsAre("gap", "0", "1", "2"));
  EXPECT_TRUE(make_block(layout, kStart, kQuarter, {}).is_all_gap());
}

TEST(SeriesBlock, HasGapsSeesAnAbsentChannel) {
  EXPECT_TRUE(block_of(sample_channels(2), part_of(sample_rows(1, kStart.ns()), 2)).has_gaps());
  EXPECT_FALSE(block_of(sample_channels(2), part_of(sample_rows(2, kStart.ns()), 2)).has_gaps());
}

TEST(SeriesBlock, HasGapsLooksOnlyAtItsOwnChannelsAndSpan) {
  const SeriesBlock gappy = block_of(sample_channels(2), part_of(sample_rows(1, kStart.ns()), 2));
  EXPECT_FALSE(gappy.filter(std::vector<std::string_view>{"X:C-0"}).has_gaps());
  const SeriesBlock late = quarter("H1:A-B", kStart, 0, {false, false, false, true});
  EXPECT_FALSE(late.clip(kStart, kStart + milliseconds(125)).has_gaps());
  EXPECT_TRUE(late.clip(kStart + milliseconds(150), late.end()).is_all_gap());
}

TEST(SeriesBlock, FilterKeepsTheOrderOfTheNames) {
  const SeriesBlock block = block_of(sample_channels(3), part_of(sample_rows(3, kStart.ns()), 3));
  const SeriesBlock two = block.filter(std::vector<std::string_view>{"X:C-2", "X:C-0"});
  EXPECT_EQ(two.channels()[0].name(), "X:C-2");
  EXPECT_EQ(shown(two.at(0))[0], "200");
  EXPECT_EQ(shown(two["X:C-0"])[0], "0");
  EXPECT_EQ(block.filter({}).size(), 3U);
  EXPECT_EQ(code_of([&] { (void)block.filter(std::vector<std::string_view>{"X:C-9"}); }, "X:C-9"),
            Errc::not_found);
}

TEST(SeriesBlock, ClipKeepsTheSamplesWhoseTimesLieInside) {
  const SeriesBlock block = quarter("H1:A-B", kStart, 0, {false, true, false, false});
  const auto clipped = [&](std::int64_t from_ms, std::int64_t to_ms) {
    return block.clip(kStart + milliseconds(from_ms), kStart + milliseconds(to_ms));
  };
  EXPECT_THAT(shown(clipped(0, 250).at(0)), ElementsAre("0", "gap", "2", "3"));
  EXPECT_THAT(shown(clipped(-500, 500).at(0)), ElementsAre("0", "gap", "2", "3"));
  EXPECT_THAT(shown(clipped(1, 63).at(0)), ElementsAre("gap"));  // the one at 62.5 ms
  EXPECT_THAT(shown(clipped(125, 250).at(0)), ElementsAre("2", "3"));
  EXPECT_EQ(clipped(100, 300).time(), kStart + milliseconds(100));
  EXPECT_EQ(clipped(100, 300).duration(), milliseconds(150));
  EXPECT_EQ(clipped(100, 300).at(0).time(), kStart + milliseconds(125));
  EXPECT_EQ(clipped(300, 400).duration(), Duration::zero());
  EXPECT_TRUE(clipped(300, 400).at(0).empty());
  EXPECT_EQ(clipped(200, 100).duration(), Duration::zero());
  EXPECT_TRUE(clipped(1, 2).at(0).empty());
  EXPECT_THAT(shown(clipped(50, 200).clip(kStart, kStart + milliseconds(130)).at(0)),
              ElementsAre("gap", "2"));
}

TEST(SeriesBlock, ClipOfAGapCountsItsSampleTimes) {
  const SeriesBlock block =
      full_gap(kStart, milliseconds(1000), ChannelSet({channel("H1:A-3", 3)}));
  EXPECT_EQ(block.at(0).size(), 3U);
  const SeriesBlock rest = block.clip(kStart + Duration(333'333'333), block.end());
  EXPECT_EQ(rest.at(0).size(), 2U);
  EXPECT_EQ(rest.at(0).time(), kStart + Duration(333'333'333));
  EXPECT_EQ(block.clip(kStart + Duration(333'333'334), block.end()).at(0).size(), 1U);
}

TEST(SeriesBlock, DetachHoldsNoMessage) {
  std::vector<SampleRow> rows = sample_rows(3, kStart.ns());
  (*rows[1].samples)[2] = std::nullopt;
  RowDecoder decoder(sample_channels(3));
  ReceivedBytes message = received(make_message(rows), 3);
  const std::weak_ptr<const void> watch = message.owner;
  SeriesBlock block = block_of(sample_channels(3), decoder.decode(std::move(message)).part);
  block = block.filter(std::vector<std::string_view>{"X:C-1", "X:C-2"})
              .clip(kStart + milliseconds(60), kStart + kQuarter);
  const SeriesBlock kept = block.detach();
  block = SeriesBlock();
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(kept.time(), kStart + milliseconds(60));
  EXPECT_THAT(shown(kept["X:C-1"]), ElementsAre("101", "gap", "103"));
  EXPECT_THAT(shown(kept["X:C-2"]), ElementsAre("201", "202", "203"));
}

TEST(SeriesBlock, WithGapsForLeavesPresentDataAlone) {
  const SeriesBlock block = quarter("H1:A-B", kStart, 7);
  const SeriesBlock more = block.with_gaps_for(ChannelSet({channel("H1:A-A"), channel("H1:A-B")}));
  EXPECT_EQ(more.size(), 2U);
  EXPECT_THAT(shown(more["H1:A-B"]), ElementsAre("7", "8", "9", "10"));
  EXPECT_THAT(shown(more["H1:A-A"]), ElementsAre("gap", "gap", "gap", "gap"));
  EXPECT_EQ(block.size(), 1U);
  EXPECT_EQ(block.with_gaps_for(block.channels()).size(), 1U);
}

TEST(Concatenate, JoinsBlocksAndKeepsTheirGaps) {
  std::vector<SeriesBlock> blocks;
  blocks.reserve(32);
  for (int i = 0; i < 32; ++i) {
    blocks.push_back(quarter("H1:A-B", kStart + i * kQuarter, static_cast<float>(4 * i)));
  }
  SeriesBlock joined = concatenate(blocks);
  EXPECT_EQ(joined.time(), kStart);
  EXPECT_EQ(joined.duration(), 32 * kQuarter);
  ASSERT_EQ(joined.at(0).size(), 128U);
  EXPECT_FALSE(joined.has_gaps());
  for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(joined.at(0).value_as_double(i), i);

  blocks = {quarter("H1:A-B", kStart, 0, {true, false, false, false}),
            full_gap(kStart + kQuarter, kQuarter, ChannelSet({channel("H1:A-B")})),
            quarter("H1:A-B", kStart + 2 * kQuarter, 20)};
  joined = concatenate(blocks);
  EXPECT_THAT(shown(joined.at(0)), ElementsAre("gap", "1", "2", "3", "gap", "gap", "gap", "gap",
                                               "20", "21", "22", "23"));
  EXPECT_EQ(joined.at(0).gap_count(), 5U);
}

TEST(Concatenate, FindsChannelsThatStandInAnotherOrder) {
  const auto block = [](GpsTime time, std::vector<Channel> channels, float a, float b) {
    return BlockBuilder(time, ChannelSet(std::move(channels)))
        .set("H1:A-A", std::vector<float>(4, a))
        .set("H1:A-B", std::vector<float>(4, b))
        .build();
  };
  const SeriesBlock first = block(kStart, {channel("H1:A-A"), channel("H1:A-B")}, 1, 2);
  const SeriesBlock second = block(kStart + kQuarter, {channel("H1:A-B"), channel("H1:A-A")}, 3, 4);
  const SeriesBlock third = combine(
      std::vector{quarter("H1:A-B", second.end(), 50), quarter("H1:A-A", second.end(), 60)});
  const SeriesBlock joined = concatenate(std::vector{first, second, third});
  EXPECT_THAT(shown(joined["H1:A-A"]),
              ElementsAre("1", "1", "1", "1", "3", "3", "3", "3", "60", "61", "62", "63"));
  EXPECT_THAT(shown(joined["H1:A-B"]),
              ElementsAre("2", "2", "2", "2", "4", "4", "4", "4", "50", "51", "52", "53"));
  EXPECT_FALSE(joined.has_gaps());
  EXPECT_THAT(shown(joined.detach()["H1:A-B"]),
              ElementsAre("2", "2", "2", "2", "4", "4", "4", "4", "50", "51", "52", "53"));
}

TEST(Concatenate, PiecesOfOneBlockGiveTheBlock) {
  const SeriesBlock block = quarter("H1:A-B", kStart, 0, {false, true, false, false});
  const GpsTime middle = kStart + milliseconds(100);
  const SeriesBlock joined =
      concatenate(std::vector{block.clip(kStart, middle), block.clip(middle, block.end())});
  EXPECT_THAT(shown(joined.at(0)), ElementsAre("0", "gap", "2", "3"));
}

TEST(Concatenate, RefusesWhatDoesNotFitWithTheNumbers) {
  const SeriesBlock block = quarter("H1:A-B", kStart, 0);
  EXPECT_EQ(code_of([] { (void)concatenate({}); }, "no blocks"), Errc::invalid_argument);
  EXPECT_EQ(code_of(
                [&] {
                  (void)concatenate(std::vector{block, block});
                },
                "starts at 1400000000000000000 ns, the one before it ends at "
                "1400000000250000000 ns"),
            Errc::precondition);
  EXPECT_EQ(code_of(
                [&] {
                  (void)concatenate(std::vector{block, quarter("H1:A-C", block.end(), 0)});
                },
                "'H1:A-C'"),
            Errc::precondition);
  const SeriesBlock other_rate =
      full_gap(block.end(), kQuarter, ChannelSet({channel("H1:A-B", 32)}));
  EXPECT_EQ(code_of(
                [&] {
                  (void)concatenate(std::vector{block, other_rate});
                },
                "32 Hz"),
            Errc::precondition);
  const SeriesBlock fewer = full_gap(block.end(), kQuarter, ChannelSet());
  EXPECT_EQ(code_of(
                [&] {
                  (void)concatenate(std::vector{block, fewer});
                },
                "'H1:A-B'"),
            Errc::precondition);
}

TEST(Combine, JoinsChannelsOfOneSpan) {
  const SeriesBlock joined =
      combine(std::vector{quarter("H1:A-B", kStart, 0), quarter("H1:A-A", kStart, 10)});
  EXPECT_EQ(joined.size(), 2U);
  EXPECT_EQ(joined.time(), kStart);
  EXPECT_EQ(joined.duration(), kQuarter);
  EXPECT_THAT(shown(joined.at(1)), ElementsAre("10", "11", "12", "13"));
}

TEST(Combine, RefusesWhatDoesNotFitWithTheNumbers) {
  const SeriesBlock block = quarter("H1:A-B", kStart, 0);
  EXPECT_EQ(code_of([] { (void)combine({}); }, "no blocks"), Errc::invalid_argument);
  EXPECT_EQ(code_of(
                [&] {
                  (void)combine(std::vector{block, block});
                },
                "'H1:A-B' is in two blocks"),
            Errc::precondition);
  EXPECT_EQ(code_of(
                [&] {
                  (void)combine(std::vector{block, quarter("H1:A-C", block.end(), 0)});
                },
                "1400000000250000000 ns"),
            Errc::precondition);
}

TEST(Series, TimesAreExactToTheNanosecond) {
  const SampleRate rate(16384);
  for (std::size_t i = 0; i < 1'000'000; i += 997) {
    // round(i * 1e9 / 16384) in integers
    const auto expected = static_cast<std::int64_t>((i * 2'000'000'000 + 16384) / 32768);
    ASSERT_EQ(sample_offset(rate, i).count(), expected) << i;
    ASSERT_EQ(first_sample_from(rate, kStart, kStart + sample_offset(rate, i), 1'000'000), i);
    ASSERT_EQ(
        first_sample_from(rate, kStart, kStart + sample_offset(rate, i) + Duration(1), 1'000'000),
        i + 1);
  }
  EXPECT_EQ(first_sample_from(rate, kStart, GpsTime::max(), 10), 10U);
  EXPECT_EQ(first_sample_from(rate, kStart, GpsTime::min(), 10), 0U);
  EXPECT_EQ(sample_offset(SampleRate(1e-300), 1'000'000), Duration::max());
}

TEST(ToPart, IsTheBlockInTheStreamsOrder) {
  const ChannelSet channels({channel("H1:A-A"), channel("H1:A-B")});
  const SeriesBlock block =
      combine(std::vector{quarter("H1:A-B", kStart, 0, {false, false, true, false}),
                          full_gap(kStart, kQuarter, ChannelSet({channel("H1:A-A")}))});
  const BlockPartPtr part = to_part(block, channels);
  EXPECT_EQ(part->time(), kStart);
  EXPECT_EQ(part->duration(), kQuarter);
  const SeriesBlock again = block_of(channels, part);
  EXPECT_THAT(shown(again.at(0)), ElementsAre("gap", "gap", "gap", "gap"));
  EXPECT_THAT(shown(again.at(1)), ElementsAre("0", "1", "gap", "3"));
  EXPECT_EQ(code_of([&] { (void)to_part(block, ChannelSet({channel("H1:A-A")})); },
                    "2 channels for a stream of 1"),
            Errc::precondition);
  EXPECT_EQ(code_of(
                [&] {
                  (void)to_part(block, ChannelSet({channel("H1:A-A"), channel("H1:A-C")}));
                },
                "H1:A-C"),
            Errc::precondition);
}

TEST(Source, StreamsAndEventsAreDescribedInOneLine) {
  const ChannelSet channels({channel("H1:Z-Z"), channel("H1:A-A"), channel("H1:M-M")});
  EXPECT_EQ(describe(StreamInfo{"b:9092/P", channels}), "H1:A-A +2 more (b:9092/P)");
  EXPECT_EQ(describe(StreamInfo{"b/P", ChannelSet({channel("H1:A-A")})}), "H1:A-A (b/P)");
  EXPECT_EQ(describe(StreamInfo{"b/P", ChannelSet()}), "no channels (b/P)");
  EXPECT_THAT(to_string(events::SkippedAhead{"S", std::chrono::seconds(90), kStart, 2}),
              HasSubstr("skipped ahead to GPS 1400000000"));
  EXPECT_THAT(to_string(events::TopicMissing{"arrakis-P"}), HasSubstr("arrakis-P"));
  EXPECT_THAT(to_string(events::DataLost{"S", "purged", 3}), HasSubstr("3 lost: purged"));
}

}  // namespace
}  // namespace arrakis::inline v1
