#include "wire/metadata_rows.hpp"

#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "arrakis/error.hpp"
#include "wire/schemas.hpp"

namespace arrakis::inline v1 {
namespace {

using ::testing::HasSubstr;

template <typename Builder, typename T>
std::shared_ptr<arrow::Array> array_of(const std::vector<std::optional<T>>& values) {
  Builder builder;
  for (const std::optional<T>& value : values) {
    EXPECT_TRUE((value ? builder.Append(*value) : builder.AppendNull()).ok());
  }
  return builder.Finish().ValueOrDie();
}
std::shared_ptr<arrow::Array> texts(const std::vector<std::optional<std::string>>& values) {
  return array_of<arrow::StringBuilder>(values);
}

/// Two channels: one with every field, one with none but what every channel has.
std::shared_ptr<arrow::RecordBatch> two_rows() {
  return arrow::RecordBatch::Make(
      schemas::metadata(), 2,
      {texts({"H1:A-x", "L1:B"}), texts({"float32", "int16"}),
       array_of<arrow::Int32Builder, std::int32_t>({16, 2147483647}), texts({"P_A", {}}),
       array_of<arrow::UInt32Builder, std::uint32_t>({4294967295U, {}}), texts({"P", {}}),
       array_of<arrow::UInt64Builder, std::uint64_t>({62500000U, {}}),
       array_of<arrow::UInt64Builder, std::uint64_t>({18446744073709551615U, {}}),
       texts({"", {}})});
}

std::shared_ptr<arrow::RecordBatch> with_column(const char* name,
                                                const std::shared_ptr<arrow::Array>& column) {
  const auto batch = two_rows();
  const int index = batch->schema()->GetFieldIndex(name);
  return batch->SetColumn(index, arrow::field(name, column->type()), column).ValueOrDie();
}

std::string refusal_of(const arrow::RecordBatch& batch) {
  try {
    (void)read_metadata(batch, "find");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::protocol);
    return error.what();
  }
  return "";
}

TEST(MetadataRows, EveryFieldIsRead) {
  const MetadataRows rows = read_metadata(*two_rows(), "find");
  EXPECT_TRUE(rows.refused.empty());
  ASSERT_EQ(rows.channels.size(), 2U);
  const Channel& full = rows.channels[0];
  EXPECT_EQ(full.name(), "H1:A-x");
  EXPECT_EQ(full.data_type(), DataType::float32);
  EXPECT_EQ(full.sample_rate().to_string(), "16");
  EXPECT_EQ(full.partition_id, "P_A");
  EXPECT_EQ(full.partition_index, 4294967295U);
  EXPECT_EQ(full.publisher, "P");
  EXPECT_EQ(full.stride, Duration(62500000));
  EXPECT_EQ(full.max_latency, Duration::max());
  EXPECT_EQ(full.replay_id, std::nullopt);
  const Channel& bare = rows.channels[1];
  EXPECT_EQ(bare.data_type(), DataType::int16);
  EXPECT_FALSE(bare.partition_id || bare.partition_index || bare.publisher || bare.stride ||
               bare.max_latency || bare.replay_id);
}

TEST(MetadataRows, SlicesAndOtherOrdersOfColumnsAreRead) {
  const auto batch = two_rows();
  std::vector<int> order;
  for (int i = batch->num_columns(); i > 0; --i) order.push_back(i - 1);
  const MetadataRows rows =
      read_metadata(*batch->SelectColumns(order).ValueOrDie()->Slice(1), "find");
  ASSERT_EQ(rows.channels.size(), 1U);
  EXPECT_EQ(rows.channels[0].name(), "L1:B");
}

TEST(MetadataRows, OptionalColumnsMayBeAbsent) {
  const MetadataRows rows =
      read_metadata(*two_rows()->SelectColumns({0, 1, 2}).ValueOrDie(), "find");
  EXPECT_EQ(rows.channels.size(), 2U);
  EXPECT_FALSE(rows.channels[0].stride);
}

TEST(MetadataRows, RowThatIsNoChannelIsNamedAndTheOthersAreRead) {
  for (const auto& [column, reason] :
       std::vector<std::pair<std::shared_ptr<arrow::RecordBatch>, const char*>>{
           {with_column("data_type", texts({"halffloat", "int16"})), "'halffloat'"},
           {with_column("channel", texts({"nocolon", "L1:B"})), "name"},
           {with_column("sample_rate", array_of<arrow::Int32Builder, std::int32_t>({0, 1})),
            "rate"}}) {
    const MetadataRows rows = read_metadata(*column, "find");
    ASSERT_EQ(rows.channels.size(), 1U);
    EXPECT_EQ(rows.channels[0].name(), "L1:B");
    ASSERT_EQ(rows.refused.size(), 1U);
    EXPECT_THAT(rows.refused[0].reason, HasSubstr(reason));
  }
}

TEST(MetadataRows, ColumnThatIsMissingOrOtherIsNamed) {
  EXPECT_EQ(refusal_of(*two_rows()->RemoveColumn(0).ValueOrDie()),
            "find: an answer without one column 'channel'");
  EXPECT_THAT(refusal_of(*with_column("sample_rate", texts({"16", "16"}))),
              HasSubstr("'sample_rate' is of type string instead of int32"));
  EXPECT_THAT(refusal_of(*with_column("stride", texts({"16", "16"}))), HasSubstr("'stride'"));
  EXPECT_THAT(refusal_of(*with_column("data_type", texts({{}, "int16"}))),
              HasSubstr("a null in column 'data_type'"));
}

TEST(MetadataRows, CountsOfAllRowsAreAdded) {
  const auto batch = [](const std::vector<std::optional<std::int64_t>>& counts) {
    return arrow::RecordBatch::Make(schemas::count(), static_cast<std::int64_t>(counts.size()),
                                    {array_of<arrow::Int64Builder>(counts)});
  };
  EXPECT_EQ(read_count(*batch({3, 4}), "count"), 7U);
  EXPECT_EQ(read_count(*batch({}), "count"), 0U);
  EXPECT_THROW((void)read_count(*batch({-1}), "count"), Error);
  EXPECT_THROW((void)read_count(*batch({std::nullopt}), "count"), Error);
}

}  // namespace
}  // namespace arrakis::inline v1
