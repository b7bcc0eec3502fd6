/// Every format as others read it: GWpy, pyarrow, NumPy, the csv module. Both sides know the
/// samples by the formula that also stands in check.py.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "arrakis/files.hpp"
#include "testing/real_broker.hpp"
#include "testing/temporary_folder.hpp"

namespace arrakis {
namespace {

constexpr GpsTime kStart = GpsTime::from_ns(1'126'259'462'062'500'000);
constexpr Duration kBlock = std::chrono::seconds(1);
// The fourth second was never sent.
constexpr int kSeconds[] = {0, 1, 2, 4, 5};

ChannelSet channels() {
  std::vector<Channel> all = {
      Channel("X1:INT-I8", DataType::int8, SampleRate(64)),
      Channel("X1:INT-U8", DataType::uint8, SampleRate(64)),
      Channel("X1:INT-I16", DataType::int16, SampleRate(128)),
      Channel("X1:INT-U16", DataType::uint16, SampleRate(32)),
      Channel("X1:INT-I32", DataType::int32, SampleRate(16)),
      Channel("X1:INT-U32", DataType::uint32, SampleRate(64)),
      Channel("X1:INT-I64", DataType::int64, SampleRate(64)),
      Channel("X1:INT-U64", DataType::uint64, SampleRate(64)),
      Channel("X1:FLT-F32", DataType::float32, SampleRate(16384)),
      Channel("X1:FLT-F64", DataType::float64, SampleRate(3)),
  };
  std::uint32_t index = 0;
  for (Channel& channel : all) {
    channel.publisher = "PUB";
    channel.partition_id = "PART";
    channel.partition_index = index++;
    channel.stride = kBlock;
    channel.max_latency = std::chrono::seconds(2);
  }
  return ChannelSet(std::move(all));
}

// Sample `i` of channel `c`, counted from the start.
template <typename T>
T value(std::size_t c, std::size_t i) {
  const auto whole = static_cast<int>((c * 31 + i * 7) % 120);
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(whole) / T{7};
  } else {
    return static_cast<T>(whole);
  }
}
bool is_gap(std::size_t c, std::size_t i) { return (i + c) % 11 == 0; }

SeriesBlock block(const ChannelSet& set, int second) {
  BlockBuilder builder(kStart + second * kBlock, set);
  for (std::size_t c = 0; c < set.size(); ++c) {
    visit_type(set[c].data_type(), [&]<typename T>(T) {
      const std::size_t count = set[c].sample_rate().samples_in(kBlock);
      const std::size_t first = count * static_cast<std::size_t>(second);
      std::vector<T> samples;
      std::vector<bool> gaps;
      for (std::size_t i = first; i < first + count; ++i) {
        samples.push_back(value<T>(c, i));
        gaps.push_back(is_gap(c, i));
      }
      builder.set<T>(set[c].name(), samples, gaps);
    });
  }
  return builder.build();
}

struct Case {
  const char* file;
  GapForm gaps;
};

class FilesInPython : public ::testing::TestWithParam<Case> {
 protected:
  testing::TemporaryFolder folder_;
};

TEST_P(FilesInPython, ValuesGapsAndTimesAreReadBackEqual) {
  const std::filesystem::path path = folder_ / GetParam().file;
  const ChannelSet set = channels();
  BlockWriter writer(path, set, {.gaps = GetParam().gaps});
  for (const int second : kSeconds) writer.write(block(set, second));
  writer.close();

  const std::string said = testing::run(
      fmt::format("PYTHONDONTWRITEBYTECODE=1 '{}' '{}/tests/files/check.py' '{}' {} 2>&1 || true",
                  testing::python(), ARRAKIS_SOURCE_DIR, path.string(),
                  GetParam().gaps == GapForm::nan ? "nan" : "mask"));
  EXPECT_EQ(said, "equal\n");
}

INSTANTIATE_TEST_SUITE_P(
    Formats, FilesInPython,
    ::testing::Values(Case{"blocks.arrow", GapForm::mask}, Case{"blocks.parquet", GapForm::mask},
                      Case{"blocks.h5", GapForm::mask}, Case{"blocks.hdf5", GapForm::nan},
                      Case{"blocks.csv", GapForm::mask}, Case{"blocks_nan.csv", GapForm::nan},
                      Case{"blocks.npz", GapForm::mask}, Case{"blocks_nan.npz", GapForm::nan}),
    [](const auto& tested) {
      std::string name = tested.param.file;
      for (char& c : name) c = c == '.' ? '_' : c;
      return name;
    });

}  // namespace
}  // namespace arrakis
