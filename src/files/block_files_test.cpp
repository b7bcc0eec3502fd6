/// BlockWriter and BlockReader together.

#include <arrow/io/file.h>
#include <arrow/ipc/writer.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "arrakis/arrow.hpp"
#include "arrakis/files.hpp"
#include "arrakis/json.hpp"
#include "files/block_reader_exercise.hpp"
#include "files/file_size_limit.hpp"
#include "testing/channels.hpp"
#include "testing/corpus.hpp"
#include "testing/temporary_folder.hpp"

namespace arrakis {
namespace {

namespace fs = std::filesystem;
using arrakis::testing::kStride;
using arrakis::testing::TemporaryFolder;
using arrakis::testing::text_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr GpsTime kStart = GpsTime::from_ns(1'000'000'000'062'500'000);

ChannelSet some_channels() {
  return ChannelSet(
      {arrakis::testing::make_channel("X1:B-FLOAT", "P", 0),
       arrakis::testing::make_channel("X1:A-INT, \"quoted\"", "P", 1, DataType::int8, 32),
       arrakis::testing::make_channel("X1:C-LONG", "P", 2, DataType::uint64, 16)});
}

SeriesBlock some_block(const ChannelSet& channels, int number) {
  return arrakis::testing::make_block(kStart + number * kStride, channels, number);
}

std::vector<SeriesBlock> some_blocks(const ChannelSet& channels, int count) {
  std::vector<SeriesBlock> blocks;
  blocks.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) blocks.push_back(some_block(channels, i));
  return blocks;
}

void write_all(const fs::path& path, const std::vector<SeriesBlock>& blocks,
               FileOptions options = {}) {
  BlockWriter writer(path, blocks.front().channels(), options);
  for (const SeriesBlock& block : blocks) writer.write(block);
  writer.close();
}

std::vector<SeriesBlock> read_all(BlockReader& reader) {
  std::vector<SeriesBlock> blocks;
  while (std::optional<SeriesBlock> block = reader.next()) blocks.push_back(*std::move(block));
  return blocks;
}

// Equal in time, channels with all that is known of them, samples and gaps.
void expect_equal(const SeriesBlock& a, const SeriesBlock& b) {
  EXPECT_EQ(a.time(), b.time());
  EXPECT_EQ(a.duration(), b.duration());
  ASSERT_EQ(a.size(), b.size());
  for (const Channel& channel : a.channels()) {
    const Series one = a[channel.name()];
    const Series other = b[channel.name()];
    EXPECT_EQ(to_json(one.channel()), to_json(other.channel()));
    ASSERT_EQ(one.size(), other.size());
    const std::size_t width = size_of(channel.data_type());
    for (std::size_t i = 0; i < one.size(); ++i) {
      ASSERT_EQ(one.is_gap(i), other.is_gap(i)) << channel.name() << ' ' << i;
      if (one.is_gap(i)) continue;
      const auto sample = one.bytes().subspan(i * width, width);
      ASSERT_TRUE(std::ranges::equal(sample, other.bytes().subspan(i * width, width)))
          << channel.name() << ' ' << i;
    }
  }
}

template <typename F>
std::string error_of(Errc code, F&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "none";
}

constexpr const char* kAllFiles[] = {"f.arrow", "f.parquet", "f.h5", "f.csv", "f.npz"};

TEST(FileFormat, IsThatOfTheNamesEndingInAnyCase) {
  EXPECT_EQ(file_format_of("a.b/run.H5"), FileFormat::hdf5);
  EXPECT_EQ(file_format_of("run.Feather"), FileFormat::arrow);
  EXPECT_EQ(to_string(file_format_of("run.npz")), "npz");
  EXPECT_THAT(error_of(Errc::invalid_argument, [] { file_format_of("run.txt"); }),
              AllOf(HasSubstr("run.txt"), HasSubstr(".parquet"), HasSubstr(".hdf5")));
}

class RoundTrip : public ::testing::TestWithParam<const char*> {
 protected:
  TemporaryFolder folder_;
  const ChannelSet channels_ = some_channels();
};

TEST_P(RoundTrip, BlocksComeBackEqualWithGapsJumpsAndDescriptions) {
  std::vector<SeriesBlock> blocks = some_blocks(channels_, 100);
  blocks[3] = full_gap(blocks[3].time(), kStride, channels_);
  blocks[7] = BlockBuilder(blocks[7].time(), channels_)
                  .set(channels_[0].name(), std::vector<float>{1.0F, -0.0F, 3.5e-30F, 4.0F},
                       std::vector<bool>{false, false, false, true})
                  .set(channels_[1].name(), std::vector<std::int8_t>{-128, 127},
                       std::vector<bool>{true, false})
                  .set(channels_[2].name(), std::vector<std::uint64_t>{0xFFFF'FFFF'FFFF'FFFFU},
                       std::vector<bool>{false})
                  .build();
  blocks.erase(blocks.begin() + 20, blocks.begin() + 30);
  const fs::path path = folder_ / GetParam();
  write_all(path, blocks);

  BlockReader reader(path);
  EXPECT_EQ(reader.channels().size(), channels_.size());
  const std::vector<SeriesBlock> read = read_all(reader);
  ASSERT_EQ(read.size(), blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) expect_equal(read[i], blocks[i]);
  EXPECT_FALSE(reader.next());
}

TEST_P(RoundTrip, BlocksThatWereCutOffTheGridKeepTheTimeOfEverySample) {
  const std::vector<SeriesBlock> blocks = some_blocks(channels_, 3);
  constexpr Duration kCut = std::chrono::milliseconds(20);
  const SeriesBlock first = blocks[0].clip(blocks[0].time() + kCut, blocks[0].end());
  const SeriesBlock last = blocks[2].clip(blocks[2].time(), blocks[2].end() - kCut);
  write_all(folder_ / GetParam(), {first, blocks[1], last});
  BlockReader reader(folder_ / GetParam());
  const std::vector<SeriesBlock> read = read_all(reader);
  ASSERT_EQ(read.size(), 3U);
  expect_equal(read[1], blocks[1]);
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
    const SeriesBlock& cut = i == 0 ? first : last;
    EXPECT_EQ(read[i].time(), blocks[i].time());
    for (const Channel& channel : channels_) {
      const Series whole = blocks[i][channel.name()];
      const Series series = read[i][channel.name()];
      ASSERT_EQ(series.size(), whole.size());
      for (std::size_t k = 0; k < series.size(); ++k) {
        const bool is_inside = series.time_at(k) >= cut.time() && series.time_at(k) < cut.end();
        EXPECT_EQ(series.is_gap(k), !is_inside) << channel.name() << ' ' << k;
        if (!is_inside) continue;
        EXPECT_EQ(series.value_as_double(k), whole.value_as_double(k));
      }
    }
  }
}

TEST_P(RoundTrip, BlockThatFitsNoRowIsRefusedWithItsChannel) {
  BlockWriter writer(folder_ / GetParam(), channels_);
  const SeriesBlock off =
      arrakis::testing::make_block(kStart + std::chrono::milliseconds(1), channels_, 0);
  EXPECT_THAT(error_of(Errc::precondition,
                       [&] { writer.write(off.clip(off.time() + Duration(1), off.end())); }),
              HasSubstr("lie on no grid of"));
  writer.write(some_block(channels_, 5));
  writer.close();
}

TEST_P(RoundTrip, FileOfNoBlocksIsReadAsNone) {
  BlockWriter(folder_ / GetParam(), channels_).close();
  BlockReader reader(folder_ / GetParam());
  EXPECT_EQ(reader.channels().size(), channels_.size());
  EXPECT_FALSE(reader.next());
}

TEST_P(RoundTrip, DamagedFileIsAnErrorOrOtherBlocksAndNeverMore) {
  const fs::path path = folder_ / GetParam();
  write_all(path, some_blocks(channels_, 20));
  const std::string whole = text_of(path);
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    std::string damaged = whole;
    for (int k = 0; k < 3; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    if (i % 2 == 0) damaged.resize(random() % damaged.size());
    std::ofstream(path, std::ios::binary) << damaged;
    try {
      BlockReader reader(path);
      read_all(reader);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::decode);
      EXPECT_THAT(error.what(), HasSubstr(path.filename().string()));
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
}

INSTANTIATE_TEST_SUITE_P(Tables, RoundTrip, ::testing::Values("blocks.arrow", "blocks.parquet"),
                         [](const auto& tested) { return std::string(tested.param).substr(7); });

TEST(BlockReader, LinesOfJsonAsTheStreamPrintsThemAreBlocksFromAnyInput) {
  const ChannelSet channels = some_channels();
  std::vector<SeriesBlock> blocks = some_blocks(channels, 5);
  blocks[2] = full_gap(blocks[2].time(), kStride, channels);
  std::stringstream lines;
  for (const SeriesBlock& block : blocks) lines << to_json(block) << "\n\n";
  BlockReader reader(lines, "standard input");
  const std::vector<SeriesBlock> read = read_all(reader);
  ASSERT_EQ(read.size(), blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) expect_equal(read[i], blocks[i]);
}

TEST(BlockReader, ArrowStreamWithoutOurMetadataIsReadByItsRates) {
  const TemporaryFolder folder;
  const ChannelSet channels = some_channels();
  const std::shared_ptr<arrow::Schema> schema = column_schema(channels);
  auto file = *arrow::io::FileOutputStream::Open((folder / "s").string());
  auto writer = *arrow::ipc::MakeStreamWriter(file, schema);
  const std::vector<SeriesBlock> blocks = some_blocks(channels, 3);
  for (const SeriesBlock& block : blocks) {
    ASSERT_TRUE(writer->WriteRecordBatch(*to_column_batch(block, schema)).ok());
  }
  ASSERT_TRUE(writer->Close().ok() && file->Close().ok());

  std::ifstream in(folder / "s", std::ios::binary);
  BlockReader reader(in, "standard input");
  EXPECT_EQ(reader.channels()[0].name(), channels[1].name());  // sorted
  EXPECT_EQ(reader.channels().at("X1:C-LONG").sample_rate(), SampleRate(16));
  const std::vector<SeriesBlock> read = read_all(reader);
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[2].time(), blocks[2].time());
  EXPECT_EQ(read[2]["X1:B-FLOAT"].values<float>()[3], blocks[2].at(0).values<float>()[3]);
}

TEST(BlockReader, SavedInputsOfTheFuzzerDoNoHarm) {
  for (const arrakis::testing::SavedInput& input : arrakis::testing::corpus("block_reader_fuzz")) {
    exercise_block_reader(input.bytes);
  }
}

TEST(BlockReader, BadLineIsNamedAndEndsTheReading) {
  const ChannelSet channels = some_channels();
  const std::string good = to_json(some_block(channels, 0));
  const std::string other = to_json(some_block(ChannelSet({channels[0]}), 1));
  std::string wide = good;
  wide.replace(wide.find("[-24"), 4, "[300");
  for (const auto& [line, why] :
       {std::pair{std::string("{\"time_ns\": 5}"), "'channels' is missing"},
        {std::string("[1, 2]"), "a block is an object"},
        {good.substr(0, 100), "not valid JSON"},
        {other, "1 channels, the first line 3"},
        {wide, "a number that fits int8"}}) {
    std::stringstream lines;
    lines << good << '\n' << line << '\n' << good;
    BlockReader reader(lines, "standard input");
    EXPECT_TRUE(reader.next());
    EXPECT_THAT(error_of(Errc::decode, [&] { reader.next(); }),
                AllOf(StartsWith("'standard input': line 2: "), HasSubstr(why)));
    EXPECT_FALSE(reader.next());
  }
}

TEST(BlockReader, WhatHoldsNoBlocksIsRefusedByNameAndNothingIsNoBlock) {
  const TemporaryFolder folder;
  write_all(folder / "f.h5", some_blocks(some_channels(), 1));
  write_all(folder / "f.npz", some_blocks(some_channels(), 1));
  write_all(folder / "f.csv", some_blocks(some_channels(), 1));
  for (const char* name : {"f.h5", "f.npz", "f.csv"}) {
    EXPECT_THAT(error_of(Errc::decode, [&] { BlockReader reader(folder / name); }),
                AllOf(HasSubstr(name), HasSubstr("JSON lines")));
  }
  EXPECT_THAT(error_of(Errc::io, [&] { BlockReader reader(folder / "none"); }),
              HasSubstr("No such file"));
  EXPECT_THAT(error_of(Errc::io, [&] { BlockReader reader(folder.path()); }),
              HasSubstr("could not be read"));
  std::istringstream nothing;
  BlockReader reader(nothing, "standard input");
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.channels().empty());
}

TEST(BlockWriter, FileThatIsNotClosedNeverAppearsAndNothingIsLeft) {
  const TemporaryFolder folder;
  const ChannelSet channels = some_channels();
  for (const char* name : kAllFiles) {
    {
      BlockWriter writer(folder / name, channels);
      for (const SeriesBlock& block : some_blocks(channels, 20)) writer.write(block);
    }
    EXPECT_EQ(folder.entries(), 0U) << name;
  }
}

TEST(BlockWriter, BlockThatDoesNotFitIsRefusedAndTheFileGoesOn) {
  const TemporaryFolder folder;
  const ChannelSet channels = some_channels();
  for (const char* name : kAllFiles) {
    BlockWriter writer(folder / name, channels);
    writer.write(some_block(channels, 5));
    EXPECT_THAT(error_of(Errc::precondition, [&] { writer.write(some_block(channels, 5)); }),
                HasSubstr("can't follow one that ends at 1000000000437500000 ns"));
    const ChannelSet fewer({channels[0], channels[1]});
    EXPECT_THAT(error_of(Errc::precondition, [&] { writer.write(some_block(fewer, 6)); }),
                HasSubstr("'X1:C-LONG' of the file is not in the block"));
    const ChannelSet other(
        {channels[0], channels[1],
         arrakis::testing::make_channel("X1:C-LONG", "P", 2, DataType::int64, 16)});
    EXPECT_THAT(error_of(Errc::precondition, [&] { writer.write(some_block(other, 6)); }),
                AllOf(HasSubstr("uint64"), HasSubstr("int64")));
    writer.write(some_block(channels, 6));
    EXPECT_EQ(writer.bytes(), 2U * (4 * 4 + 2 + 8));
    writer.close();
    writer.close();
    EXPECT_THAT(error_of(Errc::failed_precondition, [&] { writer.write(some_block(channels, 7)); }),
                HasSubstr("closed"));
  }
  EXPECT_EQ(folder.entries(), std::size(kAllFiles));
}

TEST(BlockWriter, ChannelsInAnotherOrderLandInTheirOwnColumns) {
  const TemporaryFolder folder;
  const ChannelSet channels = some_channels();
  const SeriesBlock block = some_block(channels, 0);
  const SeriesBlock turned = block.filter({"X1:C-LONG", "X1:B-FLOAT", channels[1].name()});
  BlockWriter one(folder / "one.csv", channels);
  BlockWriter two(folder / "two.csv", channels);
  one.write(block);
  two.write(turned);
  one.close();
  two.close();
  EXPECT_EQ(text_of(folder / "one.csv"), text_of(folder / "two.csv"));
}

TEST(BlockWriter, CsvHasALineASampleTimeAndEmptyCellsBetweenTheSlowOnes) {
  const TemporaryFolder folder;
  const ChannelSet channels = some_channels();
  const SeriesBlock block = BlockBuilder(kStart, channels)
                                .set("X1:B-FLOAT", std::vector<float>{0.1F, -1e30F, 3, 4},
                                     std::vector<bool>{false, false, true, false})
                                .set(channels[1].name(), std::vector<std::int8_t>{-5, 7})
                                .set("X1:C-LONG", std::vector<std::uint64_t>{18446744073709551615U})
                                .build();
  write_all(folder / "f.csv", {block});
  const std::string text = text_of(folder / "f.csv");
  EXPECT_THAT(text, StartsWith("# arrakis blocks as CSV, version 1\n"));
  EXPECT_EQ(text.substr(text.find("\ntime,") + 1),
            "time,X1:B-FLOAT,\"X1:A-INT, \"\"quoted\"\"\",X1:C-LONG\n"
            "1000000000.0625,0.1,-5,18446744073709551615\n"
            "1000000000.078125,-1e+30,,\n"
            "1000000000.09375,,7,\n"
            "1000000000.109375,4,,\n");
  write_all(folder / "f.csv", {block}, {.gaps = GapForm::nan});
  EXPECT_THAT(text_of(folder / "f.csv"), HasSubstr("\n1000000000.09375,nan,7,\n"));
}

TEST(BlockWriter, NameThatAFormatCannotHoldIsRefusedWithIt) {
  const TemporaryFolder folder;
  const ChannelSet slash({arrakis::testing::make_channel("X1:A/B", "P", 0)});
  EXPECT_THAT(error_of(Errc::invalid_argument, [&] { BlockWriter(folder / "f.h5", slash); }),
              HasSubstr("X1:A/B"));
  const ChannelSet alike({arrakis::testing::make_channel("X1:A-B", "P", 0),
                          arrakis::testing::make_channel("mask/X1:A-B", "P", 1)});
  EXPECT_THAT(error_of(Errc::invalid_argument, [&] { BlockWriter(folder / "f.npz", alike); }),
              HasSubstr("mask/X1:A-B"));
  EXPECT_EQ(folder.entries(), 0U);
  for (const char* name : {"f.arrow", "f.parquet", "f.csv", "f.npz"}) {
    write_all(folder / name, {some_block(slash, 0)});
  }
}

// Blocks large enough that every format has written some of them long before the limit.
std::vector<SeriesBlock> large_blocks() {
  Channel channel("X1:LARGE", DataType::float64, SampleRate(1 << 20));
  const ChannelSet channels({channel});
  std::mt19937_64 random(2);
  std::vector<SeriesBlock> blocks;
  for (int i = 0; i < 24; ++i) {
    std::vector<double> samples(1 << 18);
    for (double& sample : samples) sample = static_cast<double>(random());
    blocks.push_back(BlockBuilder(kStart + i * std::chrono::milliseconds(250), channels)
                         .set<double>("X1:LARGE", samples)
                         .build());
  }
  return blocks;
}

class FullDisk : public ::testing::TestWithParam<const char*> {
 protected:
  /// Writes until it fails; the number of blocks that were taken.
  std::size_t fill(BlockWriter& writer) {
    std::size_t taken = 0;
    const std::string said = error_of(Errc::io, [&] {
      for (const SeriesBlock& block : blocks_) {
        writer.write(block);
        ++taken;
      }
      writer.close();
    });
    EXPECT_THAT(said, AllOf(HasSubstr(GetParam()), HasSubstr("File too large")));
    return taken;
  }

  static constexpr std::uint64_t kLimit = 40'000'000;
  TemporaryFolder folder_;
  const std::vector<SeriesBlock> blocks_ = large_blocks();
};

TEST_P(FullDisk, ErrorNamesPathAndReasonAndNothingIsLeft) {
  {
    const FileSizeLimit limit(kLimit);
    BlockWriter writer(folder_ / GetParam(), blocks_.front().channels());
    fill(writer);
  }
  EXPECT_EQ(folder_.entries(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Formats, FullDisk, ::testing::ValuesIn(kAllFiles),
                         [](const auto& tested) { return std::string(tested.param).substr(2); });

class FullDiskKeeps : public FullDisk {};

TEST_P(FullDiskKeeps, WhatWasWrittenBeforeInAFileThatIsWhole) {
  const FileSizeLimit limit(kLimit);
  BlockWriter writer(folder_ / GetParam(), blocks_.front().channels());
  const std::size_t taken = fill(writer);
  writer.close();
  ASSERT_TRUE(fs::exists(folder_ / GetParam()));
  if (file_format_of(GetParam()) == FileFormat::csv) {
    const std::string text = text_of(folder_ / GetParam());
    const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
    const auto header = static_cast<std::size_t>(std::count(
        text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("\n1")), '\n'));
    EXPECT_EQ(lines - header - 1, taken * blocks_.front().at(0).size());
    EXPECT_EQ(text.back(), '\n');
    return;
  }
  BlockReader reader(folder_ / GetParam());
  const std::vector<SeriesBlock> read = read_all(reader);
  // All but those that were gathered for one batch.
  ASSERT_GE(read.size() + 8, taken);
  ASSERT_GE(read.size(), 8U);
  for (std::size_t i = 0; i < read.size(); ++i) expect_equal(read[i], blocks_[i]);
}

INSTANTIATE_TEST_SUITE_P(Formats, FullDiskKeeps, ::testing::Values("f.arrow", "f.csv"),
                         [](const auto& tested) { return std::string(tested.param).substr(2); });

}  // namespace
}  // namespace arrakis
