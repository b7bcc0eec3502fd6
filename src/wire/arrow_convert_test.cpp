#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrakis/arrow.hpp"
#include "wire/arrow_types.hpp"
#include "wire/schemas.hpp"

namespace arrakis::inline v1 {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const GpsTime kTime = GpsTime::from_seconds(std::int64_t{1400000000});
constexpr Duration kSecond(1'000'000'000);

using Arrays = std::vector<std::shared_ptr<arrow::ArrayData>>;

template <typename T>
std::shared_ptr<arrow::Buffer> buffer_of(const std::vector<T>& values) {
  return arrow::Buffer::FromString(
      std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
}

std::shared_ptr<arrow::ArrayData> times(const std::vector<std::int64_t>& ns) {
  return arrow::ArrayData::Make(arrow::int64(), static_cast<std::int64_t>(ns.size()),
                                {nullptr, buffer_of(ns)}, 0);
}

std::shared_ptr<arrow::ArrayData> ids(const std::vector<std::uint32_t>& values) {
  return arrow::ArrayData::Make(arrow::uint32(), static_cast<std::int64_t>(values.size()),
                                {nullptr, buffer_of(values)}, 0);
}

std::shared_ptr<arrow::ArrayData> lists(const std::vector<std::int32_t>& offsets,
                                        const std::vector<float>& values) {
  auto items = arrow::ArrayData::Make(arrow::float32(), static_cast<std::int64_t>(values.size()),
                                      {nullptr, buffer_of(values)}, 0);
  return arrow::ArrayData::Make(arrow::list(arrow::float32()),
                                static_cast<std::int64_t>(offsets.size()) - 1,
                                {nullptr, buffer_of(offsets)}, {std::move(items)}, 0);
}

std::shared_ptr<arrow::RecordBatch> batch_of(const std::vector<std::string>& names,
                                             const Arrays& arrays) {
  arrow::FieldVector fields;
  for (std::size_t i = 0; i < names.size(); ++i) {
    fields.push_back(arrow::field(names[i], arrays[i]->type));
  }
  return arrow::RecordBatch::Make(arrow::schema(fields), arrays[0]->length, arrays);
}

ChannelSet two_floats() {
  return ChannelSet({Channel("X1:A-a", DataType::float32, SampleRate(2)),
                     Channel("X1:A-b", DataType::float32, SampleRate(4))});
}

std::shared_ptr<arrow::RecordBatch> two_columns() {
  return batch_of({"time", "X1:A-a", "X1:A-b"},
                  {times({kTime.ns()}), lists({0, 2}, {1, 2}), lists({0, 4}, {3, 4, 5, 6})});
}

ChannelSet two_rows_channels(std::optional<Duration> stride) {
  std::vector<Channel> channels = two_floats().channels();
  channels[0].partition_index = 5;
  channels[1].partition_index = 4000000000U;
  for (Channel& channel : channels) channel.stride = stride;
  return ChannelSet(channels);
}

std::shared_ptr<arrow::RecordBatch> two_rows() {
  return batch_of({"time", "id", "data"}, {times({kTime.ns(), kTime.ns()}), ids({5, 4000000000U}),
                                           lists({0, 2, 6}, {1, 2, 3, 4, 5, 6})});
}

std::string failure_of(Errc code, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), to_string(code)) << error.what();
    return error.what();
  }
  return "";
}

std::string column_failure(const std::shared_ptr<arrow::RecordBatch>& batch) {
  return failure_of(Errc::decode, [&] { (void)from_column_batch(batch, two_floats()); });
}

std::string row_failure(const std::shared_ptr<arrow::RecordBatch>& batch) {
  return failure_of(Errc::decode, [&] { (void)from_row_batch(batch, two_rows_channels(kSecond)); });
}

TEST(Schemas, ColumnsAreSortedAndCarryTheRateInItsForm) {
  const auto schema =
      column_schema(ChannelSet({Channel("Y1:B", DataType::float64, SampleRate(16.0)),
                                Channel("X1:\xC3\x9C", DataType::int16, SampleRate(8)),
                                Channel("X1:Z", DataType::uint64, SampleRate(0.5))}));
  ASSERT_EQ(schema->num_fields(), 4);
  EXPECT_TRUE(schema->field(0)->Equals(arrow::field("time", arrow::int64(), false)));
  const auto is_column = [&](int i, const char* name, const char* rate,
                             const std::shared_ptr<arrow::DataType>& type) {
    const auto expected = arrow::field(name, arrow::list(type), true,
                                       arrow::KeyValueMetadata::Make({"rate"}, {rate}));
    return schema->field(i)->Equals(*expected, true);
  };
  EXPECT_TRUE(is_column(1, "X1:Z", "0.5", arrow::uint64()));
  EXPECT_TRUE(is_column(2, "X1:\xC3\x9C", "8", arrow::int16()));
  EXPECT_TRUE(is_column(3, "Y1:B", "16.0", arrow::float64()));
  EXPECT_EQ(schema->metadata(), nullptr);
}

TEST(Schemas, RowsAreNullableTimeIdAndData) {
  EXPECT_TRUE(row_schema(DataType::int8)
                  ->Equals(*arrow::schema({arrow::field("time", arrow::int64()),
                                           arrow::field("id", arrow::uint32()),
                                           arrow::field("data", arrow::list(arrow::int8()))})));
}

TEST(Schemas, PartitionIsTheFirstFiveFieldsOfMetadata) {
  const auto metadata = schemas::metadata();
  ASSERT_EQ(metadata->num_fields(), 9);
  ASSERT_EQ(schemas::partition()->num_fields(), 5);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(schemas::partition()->field(i)->Equals(*metadata->field(i))) << i;
    EXPECT_EQ(metadata->field(i)->nullable(), i >= 3) << i;
  }
  EXPECT_EQ(schemas::count()->field(0)->type()->id(), arrow::Type::INT64);
  EXPECT_FALSE(schemas::publish()->field(0)->nullable());
}

TEST(ToColumnBatch, WithoutASchemaColumnsStandInTheBlocksOrder) {
  const ChannelSet channels({Channel("X1:B", DataType::int16, SampleRate(2)),
                             Channel("X1:A", DataType::float64, SampleRate(4))});
  const bool gaps[] = {false, true};
  const SeriesBlock block = BlockBuilder(kTime, channels)
                                .set<std::int16_t>("X1:B", {7, 8}, gaps)
                                .set<double>("X1:A", {1, 2, 3, 4})
                                .build();
  const auto batch = to_column_batch(block);
  ASSERT_TRUE(batch->ValidateFull().ok());
  EXPECT_EQ(batch->num_rows(), 1);
  EXPECT_TRUE(
      batch->schema()->Equals(*arrow::schema({arrow::field("time", arrow::int64()),
                                              arrow::field("X1:B", arrow::list(arrow::int16())),
                                              arrow::field("X1:A", arrow::list(arrow::float64()))}),
                              true));
  EXPECT_EQ(batch->column(1)->ToString(), "[\n  [\n    7,\n    null\n  ]\n]");
  const auto& items = *batch->column_data(1)->child_data[0];
  EXPECT_EQ(items.GetValues<std::int16_t>(1)[1], 0) << "what lies under a gap is not sent";
  EXPECT_EQ(batch->column_data(2)->child_data[0]->buffers[0], nullptr) << "no bitmap without a gap";
}

TEST(ToColumnBatch, SchemaDecidesTheOrder) {
  const ChannelSet channels({Channel("X1:B", DataType::float32, SampleRate(1)),
                             Channel("X1:A", DataType::float32, SampleRate(1))});
  const SeriesBlock block = full_gap(kTime, kSecond, channels);
  const auto schema = column_schema(channels);
  const auto batch = to_column_batch(block, schema);
  EXPECT_TRUE(batch->schema()->Equals(*schema, true));
  EXPECT_TRUE(batch->ValidateFull().ok());
  EXPECT_EQ(batch->column_name(1), "X1:A");
}

TEST(ToColumnBatch, SchemaThatDoesNotFitIsRefusedByName) {
  const SeriesBlock block = full_gap(kTime, kSecond, two_floats());
  const auto list = arrow::list(arrow::float32());
  const auto time = arrow::field("time", arrow::int64());
  const auto a = arrow::field("X1:A-a", list);
  const auto b = arrow::field("X1:A-b", list);
  const auto failure = [&](const arrow::FieldVector& fields) {
    return failure_of(Errc::precondition,
                      [&] { (void)to_column_batch(block, arrow::schema(fields)); });
  };
  EXPECT_EQ(failure({time, a, b}), "");
  EXPECT_EQ(failure({b, time, a}), "");
  EXPECT_THAT(failure({time, a}), HasSubstr("no column for channel 'X1:A-b'"));
  EXPECT_THAT(failure({a, b}), HasSubstr("no column 'time'"));
  EXPECT_THAT(failure({time, a, b, a}), HasSubstr("two columns 'X1:A-a'"));
  EXPECT_THAT(failure({time, time, a, b}), HasSubstr("two columns 'time'"));
  EXPECT_THAT(failure({time, a, b, arrow::field("X1:C", list)}),
              HasSubstr("the block has no channel 'X1:C'"));
  EXPECT_THAT(failure({time, a, arrow::field("X1:A-b", arrow::list(arrow::float64()))}),
              HasSubstr("'X1:A-b' is float32"));
  EXPECT_THAT(failure({time, a, arrow::field("X1:A-b", arrow::float32())}),
              HasSubstr("'X1:A-b' is float32"));
  EXPECT_THAT(failure({arrow::field("time", arrow::float64()), a, b}), HasSubstr("'time'"));
}

TEST(FromColumnBatch, SharesTheBatchsMemory) {
  const auto batch = two_columns();
  const auto* values = batch->column_data(2)->child_data[0]->buffers[1]->data();
  const SeriesBlock block = from_column_batch(batch, two_floats());
  EXPECT_EQ(block.time(), kTime);
  EXPECT_EQ(block.duration(), kSecond);
  EXPECT_THAT(block["X1:A-a"].values<float>(), ElementsAre(1, 2));
  EXPECT_THAT(block["X1:A-b"].values<float>(), ElementsAre(3, 4, 5, 6));
  EXPECT_EQ(static_cast<const void*>(block["X1:A-b"].values<float>().data()), values);
}

TEST(FromColumnBatch, BlockOutlivesTheBatch) {
  auto batch = two_columns();
  const SeriesBlock block = from_column_batch(batch, two_floats());
  batch.reset();
  EXPECT_THAT(block["X1:A-b"].values<float>(), ElementsAre(3, 4, 5, 6));
}

TEST(FromColumnBatch, ChannelsStandInTheBatchsOrder) {
  const auto batch = batch_of({"X1:A-b", "time"}, {lists({0, 4}, {3, 4, 5, 6}), times({5})});
  const SeriesBlock block = from_column_batch(batch, two_floats());
  ASSERT_EQ(block.size(), 1U);
  EXPECT_EQ(block.channels()[0].name(), "X1:A-b");
  EXPECT_EQ(block.time(), GpsTime::from_ns(5));
}

TEST(FromColumnBatch, GapsAndOffsetsOfSlicesAreKept) {
  const ChannelSet channels({Channel("X1:A", DataType::int16, SampleRate(3))});
  auto batch = batch_of({"time", "X1:A"}, {times({0, kTime.ns()}), lists({0, 1}, {1})});
  auto items = std::make_shared<arrow::Int16Builder>();
  arrow::ListBuilder builder(arrow::default_memory_pool(), items);
  require_ok(builder.Append());
  require_ok(items->AppendValues({9, 9, 9, 9, 9, 9, 9}));
  require_ok(builder.Append());
  require_ok(items->AppendNull());
  require_ok(items->AppendValues({2, 3}));
  const auto two = require_value(builder.Finish());
  batch = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("time", arrow::int64()), arrow::field("X1:A", two->type())}), 2,
      {arrow::MakeArray(times({0, kTime.ns()})), two});

  const SeriesBlock block = from_column_batch(batch->Slice(1), channels);
  const Series series = block["X1:A"];
  EXPECT_EQ(block.time(), kTime);
  ASSERT_EQ(series.size(), 3U);
  EXPECT_EQ(series.gap_count(), 1U);
  EXPECT_TRUE(series.is_gap(0));
  EXPECT_EQ(series.values<std::int16_t>()[1], 2);
  EXPECT_EQ(series.values<std::int16_t>()[2], 3);
}

TEST(FromColumnBatch, WritingABlockAgainGivesTheSameBatch) {
  const ChannelSet channels({Channel("X1:A", DataType::uint8, SampleRate(11)),
                             Channel("X1:B", DataType::float64, SampleRate(1)),
                             Channel("X1:C", DataType::int32, SampleRate(2))});
  auto gaps = std::make_unique<bool[]>(22);
  for (std::size_t i = 0; i < 22; ++i) gaps[i] = i % 4 == 1;
  const SeriesBlock whole =
      BlockBuilder(kTime, channels)
          .set<std::uint8_t>("X1:A", std::vector<std::uint8_t>(22, 3), {gaps.get(), 22})
          .set<double>("X1:B", {1, 2})
          .set<std::int32_t>("X1:C", {1, 2, 3, 4})
          .build();
  const SeriesBlock block = whole.clip(kTime + kSecond, kTime + 2 * kSecond);
  const auto batch = to_column_batch(block, column_schema(channels));
  ASSERT_TRUE(batch->ValidateFull().ok());
  const SeriesBlock back = from_column_batch(batch, channels);
  EXPECT_EQ(back["X1:A"].gap_count(), block["X1:A"].gap_count());
  EXPECT_TRUE(to_column_batch(back, column_schema(channels))->Equals(*batch, true));
}

TEST(FromColumnBatch, LargeListIsReadToo) {
  auto column = arrow::ArrayData::Make(
      arrow::large_list(arrow::float32()), 1, {nullptr, buffer_of<std::int64_t>({0, 2})},
      {arrow::ArrayData::Make(arrow::float32(), 2, {nullptr, buffer_of<float>({1, 2})}, 0)}, 0);
  const SeriesBlock block =
      from_column_batch(batch_of({"time", "X1:A-a"}, {times({0}), column}), two_floats());
  EXPECT_THAT(block["X1:A-a"].values<float>(), ElementsAre(1, 2));
}

TEST(FromColumnBatch, NullListIsAGapOfTheRightLength) {
  auto column = lists({0, 0}, {});
  column->buffers[0] = buffer_of<std::uint8_t>({0});
  column->null_count = 1;
  const SeriesBlock block = from_column_batch(
      batch_of({"time", "X1:A-a", "X1:A-b"}, {times({0}), column, lists({0, 4}, {3, 4, 5, 6})}),
      two_floats());
  EXPECT_EQ(block["X1:A-a"].size(), 2U);
  EXPECT_EQ(block["X1:A-a"].gap_count(), 2U);
  EXPECT_FALSE(block["X1:A-b"].has_gaps());
}

TEST(FromColumnBatch, MisalignedValuesAreCopied) {
  for (std::size_t shift = 1; shift < 8; ++shift) {
    const std::vector<float> values = {3, 4, 5, 6};
    std::string bytes(shift, 'x');
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    auto column = lists({0, 4}, values);
    column->child_data[0]->buffers[1] =
        arrow::SliceBuffer(arrow::Buffer::FromString(bytes), static_cast<std::int64_t>(shift));
    const SeriesBlock block =
        from_column_batch(batch_of({"time", "X1:A-b"}, {times({0}), column}), two_floats());
    EXPECT_THAT(block["X1:A-b"].values<float>(), ElementsAre(3, 4, 5, 6)) << shift;
  }
}

TEST(FromColumnBatch, WhatIsWrongIsNamed) {
  const auto one = [](const Arrays& arrays) {
    std::vector<std::string> names = {"time", "X1:A-a", "X1:A-b"};
    names.resize(arrays.size());
    return batch_of(names, arrays);
  };
  EXPECT_THAT(column_failure(nullptr), HasSubstr("no batch"));
  EXPECT_THAT(column_failure(one({times({1, 2}), lists({0, 2, 4}, {1, 2, 3, 4})})),
              HasSubstr("one row, this one 2"));
  EXPECT_THAT(column_failure(one({times({}), lists({0}, {})})), HasSubstr("one row, this one 0"));
  EXPECT_THAT(column_failure(batch_of({"X1:A-a"}, {lists({0, 2}, {1, 2})})),
              HasSubstr("one column 'time'"));
  EXPECT_THAT(column_failure(batch_of({"time", "time"}, {times({1}), times({1})})),
              HasSubstr("one column 'time'"));
  EXPECT_THAT(column_failure(batch_of({"time"}, {lists({0, 2}, {1, 2})})),
              HasSubstr("'time' is list"));
  EXPECT_THAT(column_failure(batch_of({"time", "X1:C"}, {times({1}), lists({0, 2}, {1, 2})})),
              HasSubstr("'X1:C'"));
  EXPECT_THAT(column_failure(batch_of({"time", "X1:A-a", "X1:A-a"},
                                      {times({1}), lists({0, 2}, {1, 2}), lists({0, 2}, {1, 2})})),
              HasSubstr("two columns 'X1:A-a'"));
  EXPECT_THAT(column_failure(one({times({1}), times({1})})),
              HasSubstr("'X1:A-a' is int64, not a list of float32"));
  EXPECT_THAT(column_failure(one({times({1}), lists({0, 2}, {1, 2}), lists({0, 3}, {1, 2, 3})})),
              AllOf(HasSubstr("'X1:A-a' has 2 samples, 1000000000 ns"),
                    HasSubstr("'X1:A-b' has 3, 750000000 ns")));
  EXPECT_THAT(column_failure(one({times({1}), lists({0, 0}, {}), lists({0, 4}, {1, 2, 3, 4})})),
              HasSubstr("'X1:A-a' has no samples"));

  auto null_time = times({1});
  null_time->buffers[0] = buffer_of<std::uint8_t>({0});
  EXPECT_THAT(column_failure(one({null_time, lists({0, 2}, {1, 2})})), HasSubstr("time is null"));
  auto doubles = lists({0, 2}, {1, 2});
  doubles->type = arrow::list(arrow::float64());
  doubles->child_data[0] =
      arrow::ArrayData::Make(arrow::float64(), 2, {nullptr, buffer_of<double>({1, 2})}, 0);
  EXPECT_THAT(column_failure(one({times({1}), doubles})), HasSubstr("list<item: double>"));
}

TEST(FromColumnBatch, ArraysThatPointOutsideTheirBuffersAreRefused) {
  constexpr auto kMax = std::numeric_limits<std::int32_t>::max();
  const auto refused = [](const std::shared_ptr<arrow::ArrayData>& column) {
    return column_failure(batch_of({"time", "X1:A-a"}, {times({1}), column}));
  };
  for (const std::vector<std::int32_t>& offsets :
       {std::vector<std::int32_t>{0, 3}, {-1, 2}, {2, 1}, {kMax - 1, kMax}, {0, kMax}, {-5, -3}}) {
    EXPECT_THAT(refused(lists(offsets, {1, 2})), HasSubstr("point outside")) << offsets[0];
  }
  auto short_values = lists({0, 2}, {1, 2});
  short_values->child_data[0]->buffers[1] = buffer_of<float>({1});
  EXPECT_THAT(refused(short_values), HasSubstr("point outside"));
  short_values->child_data[0]->buffers[1] = nullptr;
  EXPECT_THAT(refused(short_values), HasSubstr("point outside"));
  auto no_offsets = lists({0, 2}, {1, 2});
  no_offsets->buffers[1] = nullptr;
  EXPECT_THAT(refused(no_offsets), HasSubstr("point outside"));
  auto far_items = lists({0, 2}, {1, 2});
  far_items->child_data[0]->offset = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(refused(far_items), HasSubstr("point outside"));
  auto short_bitmap = lists({0, 16}, std::vector<float>(16));
  short_bitmap->child_data[0]->buffers[0] = buffer_of<std::uint8_t>({0});
  EXPECT_THAT(refused(short_bitmap), HasSubstr("bitmap"));
}

TEST(FromRowBatch, RowsBecomeChannelsInTheirOrder) {
  const SeriesBlock block = from_row_batch(two_rows(), two_rows_channels(kSecond));
  EXPECT_EQ(block.time(), kTime);
  EXPECT_EQ(block.duration(), kSecond);
  ASSERT_EQ(block.size(), 2U);
  EXPECT_EQ(block.channels()[1].name(), "X1:A-b");
  EXPECT_THAT(block["X1:A-a"].values<float>(), ElementsAre(1, 2));
  EXPECT_THAT(block["X1:A-b"].values<float>(), ElementsAre(3, 4, 5, 6));
}

TEST(FromRowBatch, OnlyChannelsThatHaveARowAreInTheBlock) {
  const auto batch =
      batch_of({"time", "id", "data"}, {times({1, 1}), ids({77, 5}), lists({0, 1, 3}, {9, 1, 2})});
  const SeriesBlock block = from_row_batch(batch, two_rows_channels(kSecond));
  ASSERT_EQ(block.size(), 1U);
  EXPECT_THAT(block["X1:A-a"].values<float>(), ElementsAre(1, 2));
}

TEST(FromRowBatch, NothingWantedIsAnEmptyBlock) {
  const auto batch = batch_of({"time", "id", "data"}, {times({1}), ids({77}), lists({0, 1}, {9})});
  EXPECT_TRUE(from_row_batch(batch, two_rows_channels(kSecond)).empty());
  EXPECT_TRUE(from_row_batch(two_rows()->Slice(2), two_rows_channels(kSecond)).empty());
}

TEST(FromRowBatch, OfRowsWithOneIdTheLastWins) {
  const auto batch = batch_of(
      {"time", "id", "data"},
      {times({1, 1, 1}), ids({5, 4000000000U, 5}), lists({0, 2, 6, 8}, {1, 2, 3, 4, 5, 6, 7, 8})});
  const SeriesBlock block = from_row_batch(batch, two_rows_channels(kSecond));
  EXPECT_EQ(block.channels()[0].name(), "X1:A-a");
  EXPECT_THAT(block["X1:A-a"].values<float>(), ElementsAre(7, 8));
}

TEST(FromRowBatch, RowOfTheWrongLengthIsAGap) {
  const auto batch = batch_of({"time", "id", "data"}, {times({1, 1}), ids({5, 4000000000U}),
                                                       lists({0, 1, 5}, {1, 3, 4, 5, 6})});
  const SeriesBlock block = from_row_batch(batch, two_rows_channels(kSecond));
  EXPECT_EQ(block["X1:A-a"].gap_count(), 2U);
  EXPECT_FALSE(block["X1:A-b"].has_gaps());
}

TEST(FromRowBatch, NullListIsAGap) {
  auto data = lists({0, 2, 6}, {1, 2, 3, 4, 5, 6});
  data->buffers[0] = buffer_of<std::uint8_t>({0b10});
  data->null_count = 1;
  const SeriesBlock block =
      from_row_batch(batch_of({"time", "id", "data"}, {times({1, 1}), ids({5, 4000000000U}), data}),
                     two_rows_channels(kSecond));
  EXPECT_EQ(block["X1:A-a"].gap_count(), 2U);
  EXPECT_THAT(block["X1:A-b"].values<float>(), ElementsAre(3, 4, 5, 6));
}

TEST(FromRowBatch, ColumnsMayStandInAnyOrderAndOthersAreNotRead) {
  const auto whole = two_rows();
  const auto batch = batch_of(
      {"data", "extra", "id", "time"},
      {whole->column_data(2), times({0, 0}), whole->column_data(1), whole->column_data(0)});
  EXPECT_EQ(from_row_batch(batch, two_rows_channels(kSecond)).size(), 2U);
}

TEST(FromRowBatch, SliceOfABatchIsReadFromItsOffset) {
  const SeriesBlock block = from_row_batch(two_rows()->Slice(1), two_rows_channels(kSecond));
  ASSERT_EQ(block.size(), 1U);
  EXPECT_THAT(block["X1:A-b"].values<float>(), ElementsAre(3, 4, 5, 6));
}

TEST(FromRowBatch, WhatIsWrongIsNamed) {
  const auto rows = [](const Arrays& arrays) { return batch_of({"time", "id", "data"}, arrays); };
  const auto data = lists({0, 2}, {1, 2});
  EXPECT_THAT(row_failure(nullptr), HasSubstr("no batch"));
  EXPECT_THAT(row_failure(batch_of({"time", "id"}, {times({1}), ids({5})})),
              HasSubstr("one column 'data'"));
  EXPECT_THAT(
      row_failure(batch_of({"time", "id", "id", "data"}, {times({1}), ids({5}), ids({5}), data})),
      HasSubstr("one column 'id'"));
  EXPECT_THAT(row_failure(rows({ids({1}), ids({5}), data})), HasSubstr("'time' has the type"));
  EXPECT_THAT(row_failure(rows({times({1}), times({5}), data})), HasSubstr("'id' has the type"));
  EXPECT_THAT(row_failure(rows({times({1}), ids({5}), times({5})})),
              HasSubstr("'data' has the type"));
  auto null_time = times({1});
  null_time->buffers[0] = buffer_of<std::uint8_t>({0});
  EXPECT_THAT(row_failure(rows({null_time, ids({5}), data})), HasSubstr("time is null"));
  EXPECT_NE(row_failure(rows({times({1}), ids({5}), lists({0, 9}, {1, 2})})), "");
  EXPECT_NE(row_failure(rows({times({1}), ids({5}), lists({-2, 0}, {1, 2})})), "");
}

TEST(FromRowBatch, ChannelsThatCannotBeToldApartAreNamed) {
  const auto failure = [](const std::vector<Channel>& channels) {
    return failure_of(Errc::precondition,
                      [&] { (void)from_row_batch(two_rows(), ChannelSet(channels)); });
  };
  std::vector<Channel> channels = two_rows_channels(kSecond).channels();
  channels[1].partition_index = 5;
  EXPECT_THAT(failure(channels), AllOf(HasSubstr("'X1:A-a' and 'X1:A-b'"), HasSubstr("index 5")));
  channels[1].partition_index.reset();
  EXPECT_THAT(failure(channels), HasSubstr("'X1:A-b' has no partition_index"));
}

TEST(ToRowBatches, OneBatchAPartition) {
  std::vector<Channel> channels = two_rows_channels(kSecond).channels();
  channels[0].partition_id = "P";
  channels[1].partition_id = "Q";
  const SeriesBlock block = from_column_batch(two_columns(), ChannelSet(channels));
  const auto batches = to_row_batches(block);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].first, "P");
  EXPECT_EQ(batches[1].first, "Q");
  EXPECT_TRUE(batches[1].second->ValidateFull().ok());
  EXPECT_TRUE(batches[1].second->Equals(
      *batch_of({"time", "id", "data"},
                {times({kTime.ns()}), ids({4000000000U}), lists({0, 4}, {3, 4, 5, 6})})));
}

}
}  // namespace arrakis::inline v1
