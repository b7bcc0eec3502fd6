#include "wire/column_decoder.hpp"

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "arrakis/arrow.hpp"
#include "testing/corpus.hpp"
#include "wire/arrow_types.hpp"
#include "wire/block_data.hpp"
#include "wire/column_part.hpp"
#include "wire/part.hpp"
#include "wire/sample_columns.hpp"
#include "wire/sample_messages.hpp"

namespace arrakis::inline v1 {
namespace {

using ::testing::HasSubstr;
using Status = ColumnResult::Status;

constexpr std::int64_t kTime = 1'400'000'000'000'000'000;

/// A decoder that has read the schema of a batch.
ColumnDecoder decoder_for(const arrow::RecordBatch& batch, const ChannelSet& channels) {
  ColumnDecoder decoder(channels);
  EXPECT_EQ(decode(decoder, schema_message(*batch.schema())).status, Status::schema);
  return decoder;
}

ColumnResult decode_one(const arrow::RecordBatch& batch,
                        const ChannelSet& channels = mixed_channels()) {
  ColumnDecoder decoder = decoder_for(batch, channels);
  return decode(decoder, batch_message(batch));
}

/// A list of one row, null where it has no samples.
std::shared_ptr<arrow::Array> float_list(
    const std::optional<std::vector<std::optional<float>>>& samples) {
  auto values = std::make_shared<arrow::FloatBuilder>();
  arrow::ListBuilder list(arrow::default_memory_pool(), values);
  require_ok(samples ? list.Append() : list.AppendNull());
  for (const auto& sample : samples.value_or(std::vector<std::optional<float>>())) {
    require_ok(sample ? values->Append(*sample) : values->AppendNull());
  }
  return require_value(list.Finish());
}

/// The mixed batch with another first channel.
std::shared_ptr<arrow::RecordBatch> with_first_channel(const std::shared_ptr<arrow::Array>& list) {
  return require_value(mixed_batch(kTime)->SetColumn(1, arrow::field("X:C-0", list->type()), list));
}

SeriesBlock block_of(const ColumnResult& result) { return block_of(mixed_channels(), result.part); }

TEST(ColumnDecoder, WhatArrowWritesIsDecodedWithItsTimeValuesAndGaps) {
  for (const std::uint32_t gaps : {0U, 0b1001U, ~0U}) {
    const auto batch = mixed_batch(kTime, gaps);
    const ColumnResult result = decode_one(*batch);
    ASSERT_EQ(result.status, Status::decoded) << result.reason;
    EXPECT_EQ(result.part->time(), GpsTime::from_ns(kTime));
    EXPECT_EQ(result.part->duration(), std::chrono::milliseconds(250));
    EXPECT_EQ(result.part->has_gaps(), gaps != 0);
    const SeriesBlock expected = from_column_batch(batch, mixed_channels());
    const SeriesBlock block = block_of(result);
    for (std::size_t c = 0; c < block.size(); ++c) {
      const Series found = block.at(c);
      const Series wanted = expected[found.channel().name()];
      ASSERT_EQ(found.size(), wanted.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found.is_gap(i), wanted.is_gap(i));
        if (!found.is_gap(i)) {
          ASSERT_EQ(found.value_as_double(i), wanted.value_as_double(i));
        }
      }
    }
  }
}

TEST(ColumnDecoder, SamplesOfABodyAtAnyAddressAreAligned) {
  const auto batch = mixed_batch(kTime, 0b10U);
  ColumnDecoder decoder = decoder_for(*batch, mixed_channels());
  const std::string expected = describe(decode(decoder, batch_message(*batch)), mixed_channels());
  for (std::size_t misalignment = 1; misalignment < 9; ++misalignment) {
    const ColumnResult result = decode(decoder, batch_message(*batch), misalignment);
    EXPECT_EQ(describe(result, mixed_channels()), expected) << misalignment;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(result.part->samples(1).values) % 8, 0U);
  }
}

TEST(ColumnDecoder, BatchLikeTheLastOneHasItsOwnTimeAndSamples) {
  ColumnDecoder decoder = decoder_for(*mixed_batch(kTime), mixed_channels());
  decode(decoder, batch_message(*mixed_batch(kTime)));
  ColumnMessage message = batch_message(*mixed_batch(kTime + 1));
  const float first = 7.5F;
  const float old_first = 0.0F;
  const float old_second = 1.0F;
  std::string pair(8, '\0');
  std::memcpy(pair.data(), &old_first, 4);
  std::memcpy(pair.data() + 4, &old_second, 4);
  const std::size_t place = message.body.find(pair);
  ASSERT_NE(place, std::string::npos);
  std::memcpy(message.body.data() + place, &first, 4);
  const ColumnResult result = decode(decoder, message);
  ASSERT_EQ(result.status, Status::decoded);
  EXPECT_EQ(result.part->time(), GpsTime::from_ns(kTime + 1));
  EXPECT_EQ(block_of(result)["X:C-0"].values<float>()[0], first);
  EXPECT_EQ(block_of(result)["X:C-0"].values<float>()[1], old_second);
}

TEST(ColumnDecoder, BatchWithOtherOffsetsThanTheLastOneIsNotTakenForItsLike) {
  ColumnDecoder decoder = decoder_for(*mixed_batch(kTime), mixed_channels());
  ColumnMessage message = batch_message(*mixed_batch(kTime));
  ASSERT_EQ(decode(decoder, message).status, Status::decoded);
  // The first channel's list: from 0 to 4.
  const std::string offsets("\0\0\0\0\4\0\0\0", 8);
  const std::size_t place = message.body.find(offsets);
  ASSERT_NE(place, std::string::npos);
  message.body[place + 4] = 5;
  ColumnResult result = decode(decoder, message);
  EXPECT_EQ(result.status, Status::bad);
  EXPECT_THAT(result.reason, HasSubstr("a list from 0 to 5 of 4 samples"));
  message.body[place + 4] = 4;
  message.body[place] = 1;
  result = decode(decoder, message);
  EXPECT_EQ(result.status, Status::bad);
  EXPECT_THAT(result.reason, HasSubstr("'X:C-0' has 3 samples"));
}

TEST(ColumnDecoder, NullOrEmptyListOrChannelWithoutAColumnIsAGap) {
  for (const auto& batch : {with_first_channel(float_list(std::nullopt)),
                            with_first_channel(float_list(std::vector<std::optional<float>>())),
                            require_value(mixed_batch(kTime)->RemoveColumn(1))}) {
    const ColumnResult result = decode_one(*batch);
    ASSERT_EQ(result.status, Status::decoded) << result.reason;
    EXPECT_TRUE(result.part->has_gaps());
    const SeriesBlock block = block_of(result);
    EXPECT_EQ(block["X:C-0"].size(), 4U);
    EXPECT_EQ(block["X:C-0"].gap_count(), 4U);
    EXPECT_EQ(block["X:C-1"].gap_count(), 0U);
  }
}

TEST(ColumnDecoder, ListOneSampleShortIsAGapWhenAllOfItIsNullAndElseMakesTheBatchBad) {
  const std::optional<float> none;
  const auto all_null =
      with_first_channel(float_list(std::vector<std::optional<float>>{none, none, none}));
  ColumnDecoder decoder = decoder_for(*all_null, mixed_channels());
  for (int repeat = 0; repeat < 2; ++repeat) {
    const ColumnResult result = decode(decoder, batch_message(*all_null));
    ASSERT_EQ(result.status, Status::decoded) << result.reason;
    EXPECT_EQ(block_of(result)["X:C-0"].gap_count(), 4U);
  }
  const ColumnResult result =
      decode(decoder, batch_message(*with_first_channel(
                          float_list(std::vector<std::optional<float>>{none, 1.0F, none}))));
  EXPECT_EQ(result.status, Status::bad);
  EXPECT_THAT(result.reason, HasSubstr("'X:C-0' has 3 samples, 187500000 ns"));
}

TEST(ColumnDecoder, BatchOfOnlyNullListsIsAGapOfOneStride) {
  const ChannelSet one({mixed_channels()[0]});
  const auto list = float_list(std::nullopt);
  const auto time = mixed_batch(kTime)->column(0);
  const auto batch = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("time", arrow::int64()), arrow::field("X:C-0", list->type())}), 1,
      {time, list});
  const ColumnResult result = decode_one(*batch, one);
  ASSERT_EQ(result.status, Status::decoded) << result.reason;
  EXPECT_EQ(result.part->duration(), std::chrono::milliseconds(250));
  EXPECT_FALSE(result.part->samples(0).present);
}

TEST(ColumnDecoder, ColumnsOfUnknownChannelsArePassedOver) {
  auto batch = mixed_batch(kTime);
  arrow::StringBuilder words;
  require_ok(words.Append("word"));
  batch = require_value(batch->AddColumn(0, "note", require_value(words.Finish())));
  batch = require_value(
      batch->AddColumn(2, "X:OTHER", float_list(std::vector<std::optional<float>>{1.0F})));
  const ColumnResult result = decode_one(*batch);
  ASSERT_EQ(result.status, Status::decoded) << result.reason;
  EXPECT_EQ(describe(result, mixed_channels()),
            describe(decode_one(*mixed_batch(kTime)), mixed_channels()));
}

TEST(ColumnDecoder, CompressedBatchIsDecodedUpToALimit) {
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.codec = require_value(arrow::util::Codec::Create(arrow::Compression::ZSTD));
  const auto batch = mixed_batch(kTime, 0b100U);
  ColumnDecoder decoder = decoder_for(*batch, mixed_channels());
  EXPECT_EQ(describe(decode(decoder, batch_message(*batch, options)), mixed_channels()),
            describe(decode_one(*batch), mixed_channels()));
  ColumnDecoder strict(mixed_channels(), {16});
  decode(strict, schema_message(*batch->schema()));
  EXPECT_THAT(decode(strict, batch_message(*batch, options)).reason,
              HasSubstr("unfolds to more than 16 bytes"));
}

TEST(ColumnDecoder, WhatDoesNotFitIsBadAndSaysWhy) {
  auto batch = mixed_batch(kTime);
  const auto bad = [](const std::shared_ptr<arrow::RecordBatch>& odd) {
    const ColumnResult result = decode_one(*odd);
    EXPECT_EQ(result.status, Status::bad);
    return result.reason;
  };
  EXPECT_THAT(bad(require_value(batch->RemoveColumn(0))), HasSubstr("no column 'time'"));
  EXPECT_THAT(bad(require_value(batch->AddColumn(0, batch->schema()->field(1), batch->column(1)))),
              HasSubstr("two columns 'X:C-0'"));
  EXPECT_THAT(bad(require_value(batch->SetColumn(2, arrow::field("X:C-1", batch->column(1)->type()),
                                                 batch->column(1)))),
              HasSubstr("'X:C-1' is a list of float32 where float64 is declared"));
  EXPECT_THAT(bad(require_value(
                  batch->SetColumn(1, arrow::field("X:C-0", arrow::int64()), batch->column(0)))),
              HasSubstr("'X:C-0' is not a list"));
  arrow::Int64Builder no_time;
  require_ok(no_time.AppendNull());
  EXPECT_THAT(bad(require_value(batch->SetColumn(0, arrow::field("time", arrow::int64()),
                                                 require_value(no_time.Finish())))),
              HasSubstr("time is null"));
  const auto twice = require_value(arrow::ConcatenateRecordBatches({batch, batch}));
  EXPECT_THAT(bad(twice), HasSubstr("2 rows"));
  EXPECT_EQ(decode_one(*batch->Slice(0, 0)).status, Status::empty);
}

TEST(ColumnDecoder, BatchBeforeASchemaOrCutOffIsBad) {
  const ColumnMessage message = batch_message(*mixed_batch(kTime));
  ColumnDecoder fresh(mixed_channels());
  EXPECT_THAT(decode(fresh, message).reason, HasSubstr("before its schema"));
  ColumnDecoder decoder = decoder_for(*mixed_batch(kTime), mixed_channels());
  ColumnMessage cut = message;
  cut.body.resize(cut.body.size() / 2);
  EXPECT_THAT(decode(decoder, cut).reason, HasSubstr("cut off"));
  EXPECT_EQ(decode(decoder, {"", ""}).status, Status::bad);
  EXPECT_EQ(decode(decoder, message).status, Status::decoded);
}

TEST(ColumnDecoder, SavedInputsDoNoHarm) {
  for (const testing::SavedInput& input : testing::corpus("column_decoder_fuzz")) {
    SCOPED_TRACE(input.name);
    exercise_column_decoder(std::as_bytes(std::span(input.bytes)));
  }
}

}  // namespace
}  // namespace arrakis::inline v1
