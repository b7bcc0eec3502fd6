#include "wire/row_encoder.hpp"

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arrakis/arrow.hpp"
#include "wire/arrow_types.hpp"

namespace arrakis::inline v1 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const GpsTime kTime = GpsTime::from_seconds(std::int64_t{1400000000});

// Messages of the reference publisher: one channel of index 7 at 32 Hz, float32, time 1400000000 s.
constexpr std::string_view kTwoSamples =
    // 1.5, -2.0
    "ffffffff180100001000000000000a000c000600050008000a00000000010400"
    "0c0000000800080000000400080000000400000003000000ac00000068000000"
    "0400000070ffffff0000010c1400000020000000040000000100000018000000"
    "0400000064617461000000000400040004000000a0ffffff0000010310000000"
    "1c0000000400000000000000040000006974656d000006000800060006000000"
    "00000100d0ffffff00000102100000001c000000040000000000000002000000"
    "6964000000000600080004000600000020000000100014000800060007000c00"
    "0000100010000000000001021000000020000000040000000000000004000000"
    "74696d650000000008000c000800070008000000000000014000000000000000"
    "ffffffff1801000014000000000000000c0016000600050008000c000c000000"
    "0003040018000000200000000000000000000a0018000c00040008000a000000"
    "9c00000010000000010000000000000000000000080000000000000000000000"
    "0000000000000000000000000000000008000000000000000800000000000000"
    "0000000000000000080000000000000004000000000000001000000000000000"
    "0000000000000000100000000000000008000000000000001800000000000000"
    "0000000000000000180000000000000008000000000000000000000004000000"
    "0100000000000000000000000000000001000000000000000000000000000000"
    "0100000000000000000000000000000002000000000000000000000000000000"
    "00008c1d95cc6d13070000000000000000000000020000000000c03f000000c0"
    "ffffffff00000000";
constexpr std::string_view kSampleAndGap =
    // 1.5, a gap
    "ffffffff180100001000000000000a000c000600050008000a00000000010400"
    "0c0000000800080000000400080000000400000003000000ac00000068000000"
    "0400000070ffffff0000010c1400000020000000040000000100000018000000"
    "0400000064617461000000000400040004000000a0ffffff0000010310000000"
    "1c0000000400000000000000040000006974656d000006000800060006000000"
    "00000100d0ffffff00000102100000001c000000040000000000000002000000"
    "6964000000000600080004000600000020000000100014000800060007000c00"
    "0000100010000000000001021000000020000000040000000000000004000000"
    "74696d650000000008000c000800070008000000000000014000000000000000"
    "ffffffff1801000014000000000000000c0016000600050008000c000c000000"
    "0003040018000000280000000000000000000a0018000c00040008000a000000"
    "9c00000010000000010000000000000000000000080000000000000000000000"
    "0000000000000000000000000000000008000000000000000800000000000000"
    "0000000000000000080000000000000004000000000000001000000000000000"
    "0000000000000000100000000000000008000000000000001800000000000000"
    "0100000000000000200000000000000008000000000000000000000004000000"
    "0100000000000000000000000000000001000000000000000000000000000000"
    "0100000000000000000000000000000002000000000000000100000000000000"
    "00008c1d95cc6d13070000000000000000000000020000000100000000000000"
    "0000c03f00000000ffffffff00000000";

std::string unhex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

Channel channel(const std::string& name, DataType type, int rate, const std::string& partition,
                std::uint32_t index) {
  Channel made(name, type, SampleRate(rate));
  made.partition_id = partition;
  made.partition_index = index;
  return made;
}

SeriesBlock block_of_one(const std::vector<float>& samples, std::span<const bool> gaps = {}) {
  const ChannelSet channels({channel("X1:A-a", DataType::float32, 32, "P", 7)});
  return BlockBuilder(kTime, channels).set<float>("X1:A-a", samples, gaps).build();
}

std::shared_ptr<arrow::RecordBatch> decode(const std::string& message) {
  auto reader = require_value(arrow::ipc::RecordBatchStreamReader::Open(
      std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(message))));
  std::shared_ptr<arrow::RecordBatch> batch;
  require_ok(reader->ReadNext(&batch));
  require_ok(batch->ValidateFull());
  return batch;
}

std::string failure_of(const SeriesBlock& block) {
  try {
    encode_messages(block);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::precondition);
    return error.what();
  }
  return "";
}

TEST(RowEncoder, WritesTheBytesOfTheReferencePublisher) {
  const auto messages = encode_messages(block_of_one({1.5F, -2.0F}));
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].partition_id, "P");
  EXPECT_EQ(messages[0].topic, "arrakis-P");
  EXPECT_EQ(messages[0].bytes.size(), 616U);
  EXPECT_EQ(messages[0].bytes, unhex(kTwoSamples));
}

TEST(RowEncoder, GapBecomesANullOverAZero) {
  const bool gaps[] = {false, true};
  const auto messages = encode_messages(block_of_one({1.5F, 99.0F}, gaps));
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].bytes, unhex(kSampleAndGap));
}

TEST(RowEncoder, MaskWithoutAGapWritesNoValidityBitmap) {
  const bool gaps[] = {false, false};
  const auto messages = encode_messages(block_of_one({1.5F, -2.0F}, gaps));
  EXPECT_EQ(messages.at(0).bytes, unhex(kTwoSamples));
}

TEST(RowEncoder, OneMessageAPartitionInOrderOfFirstAppearance) {
  Channel replayed = channel("X1:C-a", DataType::int16, 2, "PC", 0);
  replayed.replay_id = "O4R";
  const ChannelSet channels({channel("X1:B-a", DataType::int32, 1, "PB", 5),
                             channel("X1:A-a", DataType::float64, 2, "PA", 1), replayed,
                             channel("X1:B-b", DataType::int32, 2, "PB", 4000000000U)});
  const SeriesBlock block = BlockBuilder(kTime, channels)
                                .set<std::int32_t>("X1:B-a", {11})
                                .set<double>("X1:A-a", {0.5, 0.25})
                                .set<std::int16_t>("X1:C-a", {-1, -2})
                                .set<std::int32_t>("X1:B-b", {21, 22})
                                .build();
  const auto messages = encode_messages(block);
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[0].topic, "arrakis-PB");
  EXPECT_EQ(messages[1].topic, "arrakis-PA");
  EXPECT_EQ(messages[2].topic, "arrakis-replay-O4R-PC");

  const SeriesBlock first =
      from_row_batch(decode(messages[0].bytes),
                     ChannelSet({channel("X1:B-b", DataType::int32, 2, "PB", 4000000000U),
                                 channel("X1:B-a", DataType::int32, 1, "PB", 5)}));
  EXPECT_EQ(first.time(), kTime);
  EXPECT_EQ(first.channels()[0].name(), "X1:B-a");
  EXPECT_THAT(first["X1:B-a"].values<std::int32_t>(), ElementsAre(11));
  EXPECT_THAT(first["X1:B-b"].values<std::int32_t>(), ElementsAre(21, 22));
}

template <typename T>
std::vector<T> extremes() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    return {Limits::quiet_NaN(),  Limits::infinity(), -Limits::infinity(), T{-0.0},
            Limits::denorm_min(), Limits::max()};
  } else {
    return {Limits::min(), Limits::max(), 0, 1, 2, 3};
  }
}

template <typename T>
std::string bits_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

TEST(RowEncoder, EverySampleTypeArrivesBitForBit) {
  for (const DataType type : {DataType::int8, DataType::int16, DataType::int32, DataType::int64,
                              DataType::uint8, DataType::uint16, DataType::uint32, DataType::uint64,
                              DataType::float32, DataType::float64}) {
    visit_type(type, [&]<typename T>(T) {
      const ChannelSet channels({channel("X1:A-a", type, 6, "P", 0)});
      const std::vector<T> samples = extremes<T>();
      const SeriesBlock block = BlockBuilder(kTime, channels).set<T>("X1:A-a", samples).build();
      const SeriesBlock back = from_row_batch(decode(encode_messages(block).at(0).bytes), channels);
      EXPECT_EQ(bits_of(back["X1:A-a"].values<T>()), bits_of(std::span<const T>(samples)))
          << to_string(type);
    });
  }
}

// The rows' bitmaps meet inside a byte, and a series' own bitmap begins inside one.
TEST(RowEncoder, MasksOfRowsThatMeetInsideAByteStayTheirOwn) {
  const ChannelSet channels({channel("X1:A-a", DataType::uint8, 5, "P", 0),
                             channel("X1:A-b", DataType::uint8, 15, "P", 1),
                             channel("X1:A-c", DataType::uint8, 10, "P", 2)});
  BlockBuilder builder(kTime, channels);
  for (const Channel& c : channels) {
    const auto size = static_cast<std::size_t>(2 * c.sample_rate().hz());
    std::vector<std::uint8_t> samples(size, 1);
    auto gaps = std::make_unique<bool[]>(size);
    for (std::size_t i = 0; i < size; ++i) gaps[i] = i % 3 == 1 && c.name() != "X1:A-c";
    builder.set<std::uint8_t>(c.name(), samples, std::span<const bool>(gaps.get(), size));
  }
  const SeriesBlock block =
      builder.build().clip(kTime + Duration(1'000'000'000), kTime + Duration(2'000'000'000));
  const SeriesBlock back = from_row_batch(decode(encode_messages(block).at(0).bytes), channels);
  for (const Channel& c : channels) {
    const Series sent = block[c.name()];
    const Series received = back[c.name()];
    ASSERT_EQ(received.size(), sent.size()) << c.name();
    EXPECT_EQ(received.gap_count(), sent.gap_count()) << c.name();
    for (std::size_t i = 0; i < sent.size(); ++i) {
      EXPECT_EQ(received.is_gap(i), sent.is_gap(i)) << c.name() << " " << i;
      EXPECT_EQ(received.values<std::uint8_t>()[i], sent.is_gap(i) ? 0 : 1) << c.name() << i;
    }
  }
}

TEST(RowEncoder, BlockOfGapsIsRowsOfNulls) {
  const ChannelSet channels({channel("X1:A-a", DataType::int16, 16, "P", 3)});
  const SeriesBlock block = full_gap(kTime, Duration(250'000'000), channels);
  const SeriesBlock back = from_row_batch(decode(encode_messages(block).at(0).bytes), channels);
  EXPECT_EQ(back["X1:A-a"].size(), 4U);
  EXPECT_TRUE(back.is_all_gap());
}

TEST(RowEncoder, BlockWithoutChannelsIsNoMessage) {
  EXPECT_TRUE(encode_messages(SeriesBlock()).empty());
}

TEST(RowEncoder, BlocksOfOtherChannelsMayFollow) {
  RowEncoder encoder;
  const SeriesBlock first = block_of_one({1.5F, -2.0F});
  EXPECT_EQ(encoder.encode(first).at(0).bytes, unhex(kTwoSamples));
  const ChannelSet others({channel("X1:B-a", DataType::int8, 1, "Q", 0)});
  EXPECT_EQ(encoder.encode(full_gap(kTime, Duration(1'000'000'000), others)).at(0).topic,
            "arrakis-Q");
  const ChannelSet wrong({Channel("X1:C", DataType::int8, SampleRate(1))});
  EXPECT_THROW(encoder.encode(full_gap(kTime, Duration(1'000'000'000), wrong)), Error);
  EXPECT_EQ(encoder.encode(first).at(0).bytes, unhex(kTwoSamples));
  EXPECT_EQ(encoder.encode(first).at(0).bytes, unhex(kTwoSamples));
}

TEST(RowEncoder, ChannelWithoutAPartitionIsNamed) {
  Channel nowhere("X1:A-b", DataType::float32, SampleRate(1));
  const auto block_with = [](const Channel& c) {
    return full_gap(kTime, Duration(1'000'000'000), ChannelSet({c}));
  };
  EXPECT_THAT(failure_of(block_with(nowhere)), HasSubstr("'X1:A-b' has no partition_id"));
  nowhere.partition_id = "P";
  EXPECT_THAT(failure_of(block_with(nowhere)), HasSubstr("'X1:A-b' has no partition_index"));
}

TEST(RowEncoder, TwoTypesInOnePartitionAreNamed) {
  const ChannelSet channels({channel("X1:A-a", DataType::float32, 1, "P", 0),
                             channel("X1:B-a", DataType::float64, 1, "Q", 1),
                             channel("X1:A-b", DataType::float64, 1, "P", 1)});
  const std::string failure = failure_of(full_gap(kTime, Duration(1'000'000'000), channels));
  EXPECT_THAT(failure, HasSubstr("partition 'P'"));
  EXPECT_THAT(failure, HasSubstr("'X1:A-a' is float32"));
  EXPECT_THAT(failure, HasSubstr("'X1:A-b' is float64"));
}

TEST(RowEncoder, TwoChannelsOfOneIndexAreNamed) {
  const ChannelSet channels({channel("X1:A-a", DataType::float32, 1, "P", 9),
                             channel("X1:A-b", DataType::float32, 1, "P", 3),
                             channel("X1:A-c", DataType::float32, 1, "P", 9)});
  const std::string failure = failure_of(full_gap(kTime, Duration(1'000'000'000), channels));
  EXPECT_THAT(failure, HasSubstr("'X1:A-a', 'X1:A-c'"));
  EXPECT_THAT(failure, HasSubstr("index 9"));
}

}
}  // namespace arrakis::inline v1
