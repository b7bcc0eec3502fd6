#include "files/continuous_series.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <utility>

namespace arrakis {
namespace {

using Array = ContinuousSeries::Array;

constexpr GpsTime kStart = GpsTime::from_ns(1'000'000'000'000'000'000);

/// Puts the chunks together again.
class Collected {
 public:
  explicit Collected(ContinuousSeries& series) : series_(series) {}

  ContinuousSeries::OnChunk sink() {
    return [this](Array array, std::uint64_t number, std::span<const std::byte> bytes) {
      const ChunkBuffer& buffer = series_.array(array);
      EXPECT_EQ(bytes.size(), buffer.chunk_elements() * buffer.element_bytes());
      EXPECT_TRUE(chunks_[array].empty() || chunks_[array].rbegin()->first < number);
      chunks_[array][number].assign(bytes.begin(), bytes.end());
    };
  }
  template <typename T>
  T at(Array array, std::uint64_t index, std::size_t part = 0) const {
    const ChunkBuffer& buffer = series_.array(array);
    EXPECT_LT(index, buffer.size());
    const auto found = chunks_.find(array);
    const std::uint64_t number = index / buffer.chunk_elements();
    const std::byte* element = buffer.fill().data();
    if (found != chunks_.end() && found->second.contains(number)) {
      element = found->second.at(number).data() +
                index % buffer.chunk_elements() * buffer.element_bytes();
    }
    T value;
    std::memcpy(&value, element + part * sizeof value, sizeof value);
    return value;
  }
  [[nodiscard]] std::size_t chunk_count(Array array) const {
    const auto found = chunks_.find(array);
    return found == chunks_.end() ? 0 : found->second.size();
  }
  [[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> runs() const {
    std::vector<std::pair<std::int64_t, std::int64_t>> all;
    for (std::uint64_t i = 0; i < series_.array(Array::runs).size(); ++i) {
      all.emplace_back(at<std::int64_t>(Array::runs, i, 0), at<std::int64_t>(Array::runs, i, 1));
    }
    return all;
  }

 private:
  ContinuousSeries& series_;
  std::map<Array, std::map<std::uint64_t, std::vector<std::byte>>> chunks_;
};

constexpr std::size_t kMemory = 1 << 20U;

template <typename T>
SeriesBlock block(const Channel& channel, GpsTime time, const std::vector<T>& samples,
                  const std::vector<bool>& gaps = {}) {
  return BlockBuilder(time, ChannelSet({channel})).set<T>(channel.name(), samples, gaps).build();
}

TEST(ContinuousSeries, SkippedTimeIsAGapOfTheRightLengthUnderAnyGapForm) {
  const Channel channel("X1:A-B", DataType::int32, SampleRate(4));
  for (const GapForm form : {GapForm::mask, GapForm::nan}) {
    ContinuousSeries series(channel, form, kMemory);
    Collected collected(series);
    series.append(
        block<std::int32_t>(channel, kStart, {1, 2, 3, 4}, {false, true, false, false}).at(0),
        collected.sink());
    series.append(
        block<std::int32_t>(channel, kStart + std::chrono::seconds(3), {5, 6, 7, 8}).at(0),
        collected.sink());
    series.flush(collected.sink());

    ASSERT_EQ(series.array(Array::samples).size(), 16U);
    const double expected[] = {1, NAN, 3, 4, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 5, 6, 7, 8};
    for (std::uint64_t i = 0; i < 16; ++i) {
      const bool is_gap = std::isnan(expected[i]);
      if (form == GapForm::mask) {
        EXPECT_EQ(collected.at<std::uint8_t>(Array::mask, i), is_gap ? 1 : 0) << i;
        EXPECT_EQ(collected.at<std::int32_t>(Array::samples, i), is_gap ? 0 : expected[i]) << i;
      } else if (is_gap) {
        EXPECT_TRUE(std::isnan(collected.at<double>(Array::samples, i))) << i;
      } else {
        EXPECT_EQ(collected.at<double>(Array::samples, i), expected[i]) << i;
      }
    }
    EXPECT_EQ(collected.runs(), (std::vector{std::pair{std::int64_t{0}, kStart.ns()}}));
  }
}

TEST(ContinuousSeries, BlocksOfAnOddLengthKeepTheirExactTimesAndLeaveNoHole) {
  const Channel channel("X1:A-B", DataType::float32, SampleRate(3));
  constexpr Duration kThird{333'333'333};
  constexpr std::int64_t kBlocks = 200;
  ContinuousSeries series(channel, GapForm::mask, kMemory);
  Collected collected(series);
  for (std::int64_t i = 0; i < kBlocks; ++i) {
    series.append(block<float>(channel, kStart + i * kThird, {static_cast<float>(i)}).at(0),
                  collected.sink());
  }
  series.flush(collected.sink());
  ASSERT_EQ(series.array(Array::samples).size(), static_cast<std::uint64_t>(kBlocks));
  const auto runs = collected.runs();
  for (std::int64_t i = 0, run = 0; i < kBlocks; ++i) {
    EXPECT_EQ(collected.at<float>(Array::samples, static_cast<std::uint64_t>(i)),
              static_cast<float>(i));
    if (static_cast<std::size_t>(run) + 1 < runs.size() &&
        runs[static_cast<std::size_t>(run) + 1].first == i) {
      ++run;
    }
    const auto [first, time] = runs[static_cast<std::size_t>(run)];
    const std::int64_t after = ((i - first) * 2'000'000'000 + 3) / 6;
    EXPECT_EQ(time + after, (kStart + i * kThird).ns()) << i;
  }
}

TEST(ContinuousSeries, RateThatDoesNotDivideASecondStaysOnOneGrid) {
  const Channel channel("X1:A-B", DataType::int16, SampleRate(48));
  constexpr Duration kStride{62'500'000};
  ContinuousSeries series(channel, GapForm::mask, kMemory);
  Collected collected(series);
  for (int i = 0; i < 1000; ++i) {
    if (i % 7 == 3) continue;
    series.append(block<std::int16_t>(channel, kStart + i * kStride, {1, 2, 3}).at(0),
                  collected.sink());
  }
  series.flush(collected.sink());
  EXPECT_EQ(collected.runs().size(), 1U);
  EXPECT_EQ(series.array(Array::samples).size(), 3000U);
}

TEST(ContinuousSeries, YearsThatWereSkippedCostNothing) {
  const Channel channel("X1:A-B", DataType::float64, SampleRate(16384));
  ContinuousSeries series(channel, GapForm::mask, kMemory);
  Collected collected(series);
  const std::vector<double> samples(1024, 1);
  series.append(block(channel, kStart, samples).at(0), collected.sink());
  constexpr Duration kYears = std::chrono::hours(24 * 365 * 20);
  series.append(block(channel, kStart + kYears, samples).at(0), collected.sink());
  series.flush(collected.sink());
  const std::uint64_t expected = 16384ULL * 3600 * 24 * 365 * 20 + 1024;
  EXPECT_EQ(series.array(Array::samples).size(), expected);
  EXPECT_LE(collected.chunk_count(Array::samples), 3U);
  EXPECT_EQ(collected.at<std::uint8_t>(Array::mask, expected / 2), 1);
  EXPECT_EQ(collected.at<double>(Array::samples, expected - 1), 1);
}

TEST(ContinuousSeries, LittleMemoryMakesSmallChunksAndTheSameArray) {
  const Channel channel("X1:A-B", DataType::uint16, SampleRate(16384));
  ContinuousSeries series(channel, GapForm::mask, 1);
  Collected collected(series);
  std::vector<std::uint16_t> samples(16384);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<std::uint16_t>(i);
  series.append(block(channel, kStart, samples).at(0), collected.sink());
  series.flush(collected.sink());
  EXPECT_LT(series.array(Array::samples).chunk_elements(), 1000U);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    ASSERT_EQ(collected.at<std::uint16_t>(Array::samples, i), samples[i]);
  }
}

}  // namespace
}  // namespace arrakis
