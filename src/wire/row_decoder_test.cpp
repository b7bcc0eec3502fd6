#include "wire/row_decoder.hpp"

#include <arrow/util/compression.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

#include "testing/corpus.hpp"
#include "wire/part.hpp"
#include "wire/row_message.hpp"
#include "wire/sample_messages.hpp"

namespace arrakis::inline v1 {
namespace {

using Status = DecodeResult::Status;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

constexpr std::int64_t kTime = 1'400'000'000'000'000'000;
constexpr std::int64_t kQuarter = 250'000'000;

template <typename T>
std::vector<T> values_of(const BlockPart& part, std::size_t channel) {
  const Samples samples = part.samples(channel);
  std::vector<T> values(samples.size);
  if (!values.empty()) std::memcpy(values.data(), samples.values, samples.size * sizeof(T));
  return values;
}

DecodeResult decode(RowDecoder& decoder, const std::string& message) {
  return decoder.decode(received(message));
}

DecodeResult decode_alone(const std::string& message, std::size_t channels = 2) {
  RowDecoder decoder(sample_channels(channels));
  return decode(decoder, message);
}

std::vector<SampleRow> rows_without(std::vector<SampleRow> rows, std::size_t index) {
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(index));
  return rows;
}

void write_int64(std::string& message, std::size_t offset, std::int64_t value) {
  std::memcpy(message.data() + offset, &value, sizeof value);
}

RowBatch only_batch(const std::string& message) {
  return value_or_throw(parse_row_message(std::as_bytes(std::span(message)))).batches.at(0);
}

TEST(RowDecoder, GivesTimesDurationAndSamplesOfEachChannel) {
  const DecodeResult result = decode_alone(make_message(sample_rows(2, kTime)));
  ASSERT_EQ(result.status, Status::decoded) << result.reason;
  EXPECT_EQ(result.part->time().ns(), kTime);
  EXPECT_EQ(result.part->duration().count(), kQuarter);
  EXPECT_THAT(values_of<float>(*result.part, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(values_of<float>(*result.part, 1), ElementsAre(100, 101, 102, 103));
  EXPECT_FALSE(result.part->has_gaps());
  EXPECT_EQ(result.dropped_rows, 0U);
  EXPECT_TRUE(result.more.empty());
  EXPECT_FALSE(result.part->samples(2).present);
}

TEST(RowDecoder, EveryTypeIsBitExact) {
  for (const DataType type : {DataType::int8, DataType::int16, DataType::int32, DataType::int64,
                              DataType::uint8, DataType::uint16, DataType::uint32, DataType::uint64,
                              DataType::float32, DataType::float64}) {
    visit_type(type, [&](auto zero) {
      using T = decltype(zero);
      std::array<T, 4> samples = {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max(),
                                  T{0}, T{1}};
      if constexpr (std::is_floating_point_v<T>) {
        samples = {std::numeric_limits<T>::quiet_NaN(), -std::numeric_limits<T>::infinity(), -T{0},
                   std::numeric_limits<T>::denorm_min()};
      }
      MessageForm form;
      form.type = type;
      std::string message = make_message(sample_rows(1, kTime), form);
      std::memcpy(message.data() + only_batch(message).buffers[sample_values].offset,
                  samples.data(), sizeof samples);
      RowDecoder decoder(sample_channels(1, type));
      for (int pass = 0; pass < 2; ++pass) {
        const DecodeResult result = decode(decoder, message);
        ASSERT_EQ(result.status, Status::decoded) << to_string(type) << result.reason;
        const Samples found = result.part->samples(0);
        ASSERT_EQ(found.size, 4U);
        EXPECT_THAT(std::span(found.values, sizeof samples),
                    ElementsAreArray(std::as_bytes(std::span(samples))))
            << to_string(type);
      }
    });
  }
}

TEST(RowDecoder, SecondMessageOfTheSameShapeHasItsOwnTimeAndSamples) {
  RowDecoder decoder(sample_channels(2));
  const DecodeResult first = decode(decoder, make_message(sample_rows(2, kTime)));
  std::vector<SampleRow> rows = sample_rows(2, kTime + kQuarter);
  rows[1].samples = {{9, 8, 7, 6}};
  const DecodeResult second = decode(decoder, make_message(rows));
  EXPECT_EQ(second.part->time().ns(), kTime + kQuarter);
  EXPECT_THAT(values_of<float>(*second.part, 1), ElementsAre(9, 8, 7, 6));
  EXPECT_THAT(values_of<float>(*first.part, 1), ElementsAre(100, 101, 102, 103));
}

TEST(RowDecoder, RowsInAnotherOrderAreFoundAgain) {
  RowDecoder decoder(sample_channels(3));
  const std::vector<SampleRow> rows = sample_rows(3, kTime);
  decode(decoder, make_message(rows));
  const DecodeResult result = decode(decoder, make_message({rows.rbegin(), rows.rend()}));
  EXPECT_THAT(values_of<float>(*result.part, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(values_of<float>(*result.part, 2), ElementsAre(200, 201, 202, 203));
}

TEST(RowDecoder, ShapesThatTakeTurnsAreToldApart) {
  RowDecoder decoder(sample_channels(3));
  const std::vector<SampleRow> rows = sample_rows(3, kTime);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t left_out = 0; left_out < 3; ++left_out) {
      const DecodeResult result = decode(decoder, make_message(rows_without(rows, left_out)));
      ASSERT_EQ(result.status, Status::decoded);
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(result.part->samples(i).present, i != left_out);
      }
      EXPECT_TRUE(result.part->has_gaps());
    }
  }
}

TEST(RowDecoder, GapsDifferFromMessageToMessage) {
  RowDecoder decoder(sample_channels(2));
  for (std::size_t gap = 0; gap < 4; ++gap) {
    std::vector<SampleRow> rows = sample_rows(2, kTime);
    (*rows[1].samples)[gap] = std::nullopt;
    if (gap == 3) (*rows[0].samples)[0] = std::nullopt;
    const DecodeResult result = decode(decoder, make_message(rows));
    ASSERT_EQ(result.status, Status::decoded);
    EXPECT_TRUE(result.part->has_gaps());
    EXPECT_EQ(result.part->samples(0).gap_count, gap == 3 ? 1U : 0U);
    EXPECT_EQ(result.part->samples(0).validity == nullptr, gap != 3);
    const Samples samples = result.part->samples(1);
    EXPECT_EQ(samples.gap_count, 1U);
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t bit = samples.validity_offset + i;
      EXPECT_EQ(((unsigned{samples.validity[bit / 8]} >> (bit % 8)) & 1U) == 0, i == gap);
    }
  }
  EXPECT_FALSE(decode(decoder, make_message(sample_rows(2, kTime))).part->has_gaps());
}

TEST(RowDecoder, UnknownIdsArePassedOver) {
  std::vector<SampleRow> rows = sample_rows(2, kTime);
  rows.insert(rows.begin() + 1, {kTime, 4'000'000'000, {{1, 2, 3}}});
  const DecodeResult result = decode_alone(make_message(rows));
  EXPECT_EQ(result.status, Status::decoded);
  EXPECT_EQ(result.dropped_rows, 0U);
  EXPECT_THAT(values_of<float>(*result.part, 1), ElementsAre(100, 101, 102, 103));
}

TEST(RowDecoder, MessageWithoutAWantedRowIsNoRows) {
  std::vector<SampleRow> rows = sample_rows(1, kTime);
  rows[0].id = 77;
  EXPECT_EQ(decode_alone(make_message(rows)).status, Status::no_rows);
  EXPECT_EQ(decode_alone(make_message({})).status, Status::no_rows);
  EXPECT_EQ(decode_alone(make_message_of_batches({})).status, Status::no_rows);
}

TEST(RowDecoder, IdsAboveTwoToThe31AreFound) {
  std::vector<Channel> channels(1, sample_channels(1)[0]);
  channels[0].partition_index = 4'000'000'000U;
  RowDecoder decoder{ChannelSet(channels)};
  std::vector<SampleRow> rows = sample_rows(1, kTime);
  rows[0].id = 4'000'000'000;
  EXPECT_EQ(decode(decoder, make_message(rows)).status, Status::decoded);
  MessageForm form;
  form.signed_ids = true;
  rows[0].id = -294'967'296;  // the same 32 bits
  EXPECT_EQ(decode(decoder, make_message(rows, form)).status, Status::no_rows);
}

TEST(RowDecoder, OfRowsWithOneIdTheLastWins) {
  std::vector<SampleRow> rows = sample_rows(2, kTime);
  rows.push_back({kTime, 0, {{5, 6, 7, 8}}});
  const DecodeResult result = decode_alone(make_message(rows));
  EXPECT_THAT(values_of<float>(*result.part, 0), ElementsAre(5, 6, 7, 8));
}

TEST(RowDecoder, BlockTimeIsTheFirstRows) {
  std::vector<SampleRow> rows = sample_rows(2, kTime);
  rows[1].time_ns = kTime + 5;
  RowDecoder decoder(sample_channels(2));
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_EQ(decode(decoder, make_message(rows)).part->time().ns(), kTime);
  }
}

TEST(RowDecoder, NullTimeMakesTheMessageBad) {
  RowDecoder decoder(sample_channels(2));
  decode(decoder, make_message(sample_rows(2, kTime)));
  std::vector<SampleRow> rows = sample_rows(2, kTime);
  rows[1].time_ns.reset();
  const DecodeResult result = decode(decoder, make_message(rows));
  EXPECT_EQ(result.status, Status::bad);
  EXPECT_THAT(result.reason, HasSubstr("null in 'time'"));
}

TEST(RowDecoder, RowWithoutAnIdIsCountedAndNobodys) {
  std::vector<SampleRow> rows = sample_rows(2, kTime);
  rows[0].id.reset();
  const DecodeResult result = decode_alone(make_message(rows));
  ASSERT_EQ(result.status, Status::decoded);
  EXPECT_EQ(result.dropped_rows, 1U);
  EXPECT_THAT(result.reason, HasSubstr("no id"));
  EXPECT_FALSE(result.part->samples(0).present);
  EXPECT_TRUE(result.part->samples(1).present);
}

TEST(RowDecoder, NullListIsAnAbsentChannel) {
  std::vector<SampleRow> rows = sample_rows(2, kTime);
  rows[1].samples.reset();
  RowDecoder decoder(sample_channels(2));
  for (int pass = 0; pass < 2; ++pass) {
    const DecodeResult result = decode(decoder, make_message(rows));
    ASSERT_EQ(result.status, Status::decoded);
    EXPECT_EQ(result.dropped_rows, 0U);
    EXPECT_TRUE(result.part->has_gaps());
    EXPECT_TRUE(result.part->samples(0).present);
    EXPECT_FALSE(result.part->samples(1).present);
  }
}

TEST(RowDecoder, OnlyNullListsAreAGapOfOneStride) {
  std::vector<SampleRow> rows = sample_rows(2, kTime);
  for (SampleRow& row : rows) row.samples.reset();
  const DecodeResult result = decode_alone(make_message(rows));
  ASSERT_EQ(result.status, Status::decoded);
  EXPECT_EQ(result.part->duration().count(), kQuarter);
  EXPECT_FALSE(result.part->samples(0).present);
}

TEST(RowDecoder, RowOfTheWrongLengthIsDroppedAndCounted) {
  RowDecoder decoder(sample_channels(3));
  std::vector<SampleRow> rows = sample_rows(3, kTime);
  rows[0].samples = {{1, 2, 3}};
  rows[2].samples.emplace();
  for (int pass = 0; pass < 2; ++pass) {
    const DecodeResult result = decode(decoder, make_message(rows));
    ASSERT_EQ(result.status, Status::decoded);
    EXPECT_EQ(result.dropped_rows, 2U);
    EXPECT_THAT(result.reason, HasSubstr("X:C-0: 3 samples are 187500000 ns"));
    EXPECT_FALSE(result.part->samples(0).present);
    EXPECT_TRUE(result.part->samples(1).present);
    EXPECT_FALSE(result.part->samples(2).present);
    EXPECT_EQ(result.part->duration().count(), kQuarter);
  }
}

TEST(RowDecoder, LengthIsTestedByDuration) {
  Channel channel("X:ODD-3", DataType::float32, SampleRate(3));
  channel.partition_index = 0;
  channel.stride = Duration(333'333'333);
  RowDecoder decoder{ChannelSet({channel})};
  std::vector<SampleRow> rows = {{kTime, 0, {{1.5}}}};
  const DecodeResult result = decode(decoder, make_message(rows));
  ASSERT_EQ(result.status, Status::decoded) << result.reason;
  EXPECT_EQ(result.dropped_rows, 0U);
  EXPECT_EQ(result.part->duration().count(), 333'333'333);
}

TEST(RowDecoder, WithoutStridesTheDurationOfMostRowsCounts) {
  std::vector<Channel> channels;
  for (const Channel& channel : sample_channels(3)) {
    channels.push_back(channel);
    channels.back().stride.reset();
  }
  RowDecoder decoder{ChannelSet(channels)};
  std::vector<SampleRow> rows = sample_rows(3, kTime);
  rows[0].samples = {{1, 2}};
  const DecodeResult result = decode(decoder, make_message(rows));
  ASSERT_EQ(result.status, Status::decoded);
  EXPECT_EQ(result.part->duration().count(), kQuarter);
  EXPECT_EQ(result.dropped_rows, 1U);
  EXPECT_FALSE(result.part->samples(0).present);

  for (SampleRow& row : rows) row.samples.reset();
  EXPECT_EQ(decode(decoder, make_message(rows)).status, Status::bad);
}

TEST(RowDecoder, SamplesOfAnotherTypeAreDroppedAndCounted) {
  MessageForm form;
  form.type = DataType::int32;
  const DecodeResult result = decode_alone(make_message(sample_rows(2, kTime), form));
  EXPECT_EQ(result.dropped_rows, 2U);
  EXPECT_THAT(result.reason, HasSubstr("X:C-0: int32 samples where float32 is declared"));
}

TEST(RowDecoder, MessageWithoutAnyUsableRowIsBadAndTakesNobodysSlot) {
  std::vector<SampleRow> rows = sample_rows(2, kTime);
  for (SampleRow& row : rows) row.samples = {{1}};
  const DecodeResult result = decode_alone(make_message(rows));
  EXPECT_EQ(result.status, Status::bad);
  EXPECT_EQ(result.part, nullptr);
  EXPECT_EQ(result.dropped_rows, 2U);
  rows[1].samples.reset();  // a null list is a gap that somebody stated
  EXPECT_EQ(decode_alone(make_message(rows)).status, Status::decoded);
}

TEST(RowDecoder, FormsThatAPublisherMayUseAreAccepted) {
  const std::string plain = make_message(sample_rows(2, kTime));
  const std::string expected = describe(decode_alone(plain), sample_channels(2));
  std::vector<MessageForm> forms(8);
  forms[0].signed_ids = true;
  forms[1].large_list = true;
  forms[2].reversed_columns = true;
  forms[3].extra = ExtraColumn::text;
  forms[4].extra = ExtraColumn::view;
  forms[5].options.metadata_version = arrow::ipc::MetadataVersion::V4;
  forms[6].options.write_legacy_ipc_format = true;
  forms[7].options.alignment = 64;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    RowDecoder decoder(sample_channels(2));
    for (int pass = 0; pass < 2; ++pass) {
      const DecodeResult result = decode(decoder, make_message(sample_rows(2, kTime), forms[i]));
      EXPECT_EQ(describe(result, sample_channels(2)), expected) << i;
    }
  }
}

TEST(RowDecoder, EndMarkerMayBeMissingAndJunkMayFollowIt) {
  const std::string message = make_message(sample_rows(2, kTime));
  const std::string expected = describe(decode_alone(message), sample_channels(2));
  EXPECT_EQ(describe(decode_alone(message.substr(0, message.size() - 8)), sample_channels(2)),
            expected);
  EXPECT_EQ(describe(decode_alone(message.substr(0, message.size() - 3)), sample_channels(2)),
            expected);
  EXPECT_EQ(describe(decode_alone(message + "junk after the end"), sample_channels(2)), expected);
}

TEST(RowDecoder, SomethingElseInPlaceOfTheEndMarkerIsBad) {
  std::string message = make_message(sample_rows(2, kTime));
  message.replace(message.size() - 8, 8, "\xFF\xFF\xFF\xFF\x10\x00\x00\x00", 8);
  EXPECT_EQ(decode_alone(message).status, Status::bad);
  message.replace(message.size() - 8, 8, "not Arro", 8);
  EXPECT_EQ(decode_alone(message).status, Status::bad);
}

TEST(RowDecoder, EveryBatchOfAMessageIsAPart) {
  const DecodeResult result = decode_alone(make_message_of_batches(
      {sample_rows(2, kTime), {}, sample_rows(1, kTime + kQuarter), sample_rows(2, kTime)}));
  ASSERT_EQ(result.status, Status::decoded);
  ASSERT_EQ(result.more.size(), 2U);
  EXPECT_EQ(result.part->time().ns(), kTime);
  EXPECT_EQ(result.more[0]->time().ns(), kTime + kQuarter);
  EXPECT_FALSE(result.more[0]->samples(1).present);
}

TEST(RowDecoder, TooManyBatchesAreRefused) {
  const std::vector<std::vector<SampleRow>> batches(300, sample_rows(1, kTime));
  const DecodeResult result = decode_alone(make_message_of_batches(batches));
  EXPECT_EQ(result.status, Status::bad);
  EXPECT_THAT(result.reason, HasSubstr("256 batches"));
}

TEST(RowDecoder, EncodingsThatAreNotAllowedAreRefusedByName) {
  const std::vector<std::pair<ExtraColumn, std::string>> cases = {
      {ExtraColumn::dictionary, "'extra' is dictionary-encoded"},
      {ExtraColumn::nested, "'extra' is of a nested type"},
      {ExtraColumn::extension, "'extra' is of an extension type"}};
  for (const auto& [extra, reason] : cases) {
    MessageForm form;
    form.extra = extra;
    const DecodeResult result = decode_alone(make_message(sample_rows(2, kTime), form));
    EXPECT_EQ(result.status, Status::bad);
    EXPECT_THAT(result.reason, HasSubstr(reason));
  }
}

TEST(RowDecoder, ColumnsAreFoundByTheirNames) {
  for (const std::string name : {"time", "id", "data"}) {
    std::string message = make_message(sample_rows(2, kTime));
    const std::size_t place = message.find(std::string("\0", 1) + name + '\0');
    ASSERT_NE(place, std::string::npos);
    message[place + 1] = 'X';
    const DecodeResult result = decode_alone(message);
    EXPECT_EQ(result.status, Status::bad);
    EXPECT_THAT(result.reason, name == "data" ? HasSubstr("column 'Xata' is of a nested type")
                                              : HasSubstr("no column '" + name + "'"));
  }
}

TEST(RowDecoder, CompressedBodiesAreAccepted) {
  const std::string expected =
      describe(decode_alone(make_message(sample_rows(2, kTime))), sample_channels(2));
  for (const auto codec : {arrow::Compression::LZ4_FRAME, arrow::Compression::ZSTD}) {
    MessageForm form;
    form.options.codec = arrow::util::Codec::Create(codec).ValueOrDie();
    EXPECT_EQ(describe(decode_alone(make_message(sample_rows(2, kTime), form)), sample_channels(2)),
              expected);
  }
}

TEST(RowDecoder, CompressedBombIsRefusedBeforeAnythingIsAllocated) {
  MessageForm form;
  form.options.codec = arrow::util::Codec::Create(arrow::Compression::ZSTD).ValueOrDie();
  const std::string good = make_message(sample_rows(2, kTime), form);
  const RowBatch batch = only_batch(good);
  for (const RowBuffer buffer : {time_values, id_values, list_offsets, sample_values}) {
    for (const std::int64_t declared :
         {std::int64_t{64} << 30U, std::numeric_limits<std::int64_t>::max(), std::int64_t{-2}}) {
      std::string message = good;
      write_int64(message, batch.buffers[buffer].offset, declared);
      const DecodeResult result = decode_alone(message);
      EXPECT_EQ(result.status, Status::bad);
      EXPECT_THAT(result.reason, HasSubstr("unfolds to"));
    }
  }
}

TEST(RowDecoder, WhatAllBatchesUnfoldToIsBounded) {
  MessageForm form;
  form.options.codec = arrow::util::Codec::Create(arrow::Compression::ZSTD).ValueOrDie();
  const std::vector<SampleRow> rows = sample_rows(100, kTime);
  const std::string one = make_message(rows, form);
  const std::string two = make_message_of_batches({rows, rows}, form);
  const std::size_t one_batch = 100 * (8 + 4 + 4 + 16) + 4;
  RowDecoder decoder(sample_channels(100), {one_batch});
  EXPECT_EQ(decode(decoder, one).status, Status::decoded);
  EXPECT_EQ(decode(decoder, two).status, Status::bad);
}

TEST(RowDecoder, EveryTruncationIsRefusedOrDecodedTheSame) {
  const std::string message = make_message(sample_rows(3, kTime));
  const ChannelSet channels = sample_channels(3);
  RowDecoder warm(channels);
  const std::string expected = describe(decode(warm, message), channels);
  for (std::size_t size = 0; size < message.size(); ++size) {
    const std::string cut = message.substr(0, size);
    RowDecoder fresh(channels);
    const DecodeResult result = decode(fresh, cut);
    EXPECT_EQ(describe(decode(warm, cut), channels), describe(result, channels)) << size;
    const bool only_end_marker_cut = size + 8 >= message.size();
    if (only_end_marker_cut) {
      EXPECT_EQ(describe(result, channels), expected) << size;
    } else {
      EXPECT_NE(result.status, Status::decoded) << size;
    }
  }
}

TEST(RowDecoder, MessageAtAnyAddressHasTheSameSamples) {
  for (const DataType type : {DataType::int16, DataType::float32, DataType::float64}) {
    MessageForm form;
    form.type = type;
    std::vector<SampleRow> rows = sample_rows(3, kTime);
    (*rows[1].samples)[3] = std::nullopt;
    const std::string message = make_message(rows, form);
    const ChannelSet channels = sample_channels(3, type);
    RowDecoder decoder(channels);
    const std::string expected = describe(decode(decoder, message), channels);
    for (std::size_t offset = 0; offset < 64; ++offset) {
      const DecodeResult result = decoder.decode(received(message, offset));
      EXPECT_EQ(describe(result, channels), expected) << offset;
      for (std::size_t i = 0; i < 3; ++i) {
        const auto address = reinterpret_cast<std::uintptr_t>(result.part->samples(i).values);
        EXPECT_EQ(address % size_of(type), 0U);
      }
    }
  }
}

TEST(RowDecoder, MisalignedPartMayBeReadByManyThreadsAtOnce) {
  RowDecoder decoder(sample_channels(2));
  const DecodeResult result = decoder.decode(received(make_message(sample_rows(2, kTime)), 1));
  std::vector<const std::byte*> found(4);
  std::vector<std::thread> threads;
  threads.reserve(found.size());
  for (const std::byte*& values : found) {
    threads.emplace_back([&] { values = result.part->samples(0).values; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(found, ::testing::Each(found[0]));
}

TEST(RowDecoder, PartKeepsTheMessageAliveAndNothingElseDoes) {
  RowDecoder decoder(sample_channels(1));
  for (int pass = 0; pass < 2; ++pass) {
    ReceivedBytes message = received(make_message(sample_rows(1, kTime)));
    const std::weak_ptr<const void> watch = message.owner;
    DecodeResult result = decoder.decode(std::move(message));
    EXPECT_FALSE(watch.expired());
    EXPECT_THAT(values_of<float>(*result.part, 0), ElementsAre(0, 1, 2, 3));
    result.part.reset();
    EXPECT_TRUE(watch.expired());
  }
}

TEST(RowDecoder, ListOffsetsOutsideTheSamplesAreRefused) {
  for (const bool large : {false, true}) {
    MessageForm form;
    form.large_list = large;
    const std::string good = make_message(sample_rows(3, kTime), form);
    const std::size_t width = large ? 8 : 4;
    const std::size_t first = only_batch(good).buffers[list_offsets].offset;
    for (std::size_t i = 0; i < 4; ++i) {
      for (const std::int64_t offset :
           {std::int64_t{-1}, std::int64_t{13}, std::int64_t{1'000'000'000},
            std::numeric_limits<std::int64_t>::min() + 2}) {
        std::string message = good;
        std::memcpy(message.data() + first + i * width, &offset, width);
        if (!large && static_cast<std::int32_t>(offset) == 2) continue;
        EXPECT_EQ(decode_alone(message, 3).status, Status::bad) << i << ' ' << offset;
      }
    }
    std::string backwards = good;
    const std::int64_t before = 3;
    std::memcpy(backwards.data() + first + 2 * width, &before, width);
    EXPECT_EQ(decode_alone(backwards, 3).status, Status::bad);
  }
}

TEST(RowDecoder, ListsNeedNotTouch) {
  std::vector<SampleRow> rows = sample_rows(3, kTime);
  rows[1].id = 50;
  const DecodeResult result = decode_alone(make_message(rows), 3);
  ASSERT_EQ(result.status, Status::decoded);
  EXPECT_THAT(values_of<float>(*result.part, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(values_of<float>(*result.part, 2), ElementsAre(200, 201, 202, 203));
}

TEST(RowDecoder, SamplesThatOverlapTheIdsAreStillDecodedByWhatTheMessageSays) {
  // The samples' buffer moved over that of the ids: equal elsewhere, yet with other ids.
  std::string message = make_message(sample_rows(2, kTime));
  const RowBatch batch = only_batch(message);
  const auto body = static_cast<std::int64_t>(batch.buffers[time_values].offset);
  const auto values = static_cast<std::int64_t>(batch.buffers[sample_values].offset) - body;
  std::size_t field = batch.sample_nulls_field.offset;  // the buffers stand before the nodes
  std::int64_t found = 0;
  while (found != values && field > 8) std::memcpy(&found, message.data() + --field, sizeof found);
  ASSERT_EQ(found, values);
  write_int64(message, field, static_cast<std::int64_t>(batch.buffers[id_values].offset) - body);
  RowDecoder decoder(sample_channels(2));
  EXPECT_TRUE(decode(decoder, message).part->samples(1).present);
  message[batch.buffers[id_values].offset + 4] = 9;
  EXPECT_FALSE(decode(decoder, message).part->samples(1).present);
}

TEST(RowDecoder, BytesThatAreNoMessageAreRefused) {
  std::mt19937_64 random(1);
  std::string noise(1000, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  const std::string good = make_message(sample_rows(2, kTime));
  const std::vector<std::string> cases = {"",
                                          std::string(64, '\0'),
                                          std::string(64, '\xFF'),
                                          noise,
                                          "not Arrow at all, a line of text",
                                          good.substr(0, good.size() / 2),
                                          good.substr(0, good.size() - 24),
                                          good.substr(8)};
  RowDecoder decoder(sample_channels(2));
  for (const std::string& bytes : cases) {
    const DecodeResult result = decode(decoder, bytes);
    EXPECT_EQ(result.status, Status::bad);
    EXPECT_NE(result.reason, "");
    EXPECT_LT(result.reason.size(), 300U);
    EXPECT_EQ(result.part, nullptr);
    EXPECT_EQ(decode(decoder, good).status, Status::decoded);
  }
}

TEST(RowDecoder, RandomChangesNeverDoHarm) {
  std::mt19937_64 random(20260101);
  std::vector<std::byte> input;
  for (int i = 0; i < 20'000; ++i) {
    input.assign(2 + 3 * (1 + random() % 8), std::byte{0});
    for (std::byte& byte : input) byte = static_cast<std::byte>(random());
    input[0] |= std::byte{1};
    exercise_row_decoder(input);
  }
}

TEST(RowDecoder, SavedInputsOfTheFuzzerDoNoHarm) {
  for (const testing::SavedInput& input : testing::corpus("row_decoder_fuzz")) {
    exercise_row_decoder(std::as_bytes(std::span(input.bytes)));
  }
}

TEST(RowDecoder, ChannelsMustBeToldApart) {
  std::vector<Channel> channels = {sample_channels(2)[0], sample_channels(2)[1]};
  channels[1].partition_index = 0;
  EXPECT_THROW(RowDecoder{ChannelSet(channels)}, Error);
  channels[1].partition_index.reset();
  try {
    RowDecoder decoder{ChannelSet(channels)};
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::precondition);
    EXPECT_THAT(error.what(), HasSubstr("X:C-1"));
  }
}

}  // namespace
}  // namespace arrakis::inline v1
