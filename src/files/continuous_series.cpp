#include "files/continuous_series.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "wire/sample_grid.hpp"
#include "wire/series_buffers.hpp"

namespace arrakis::inline v1 {
namespace {

using Array = ContinuousSeries::Array;

// A chunk is a minute long, so that short files of slow channels stay small, and not longer than
// what a disk takes in one go.
constexpr double kChunkSeconds = 64;
constexpr std::size_t kLeastChunk = 256;
constexpr std::size_t kGreatestChunk = 65536;
constexpr std::size_t kRunsAChunk = 64;

std::size_t chunk_samples(const Channel& channel, std::size_t memory) {
  const double wanted =
      std::min(channel.sample_rate().hz() * kChunkSeconds, double{kGreatestChunk});
  const std::size_t affordable = memory / (sizeof(double) + 1);
  return std::max(std::min(static_cast<std::size_t>(wanted), affordable), kLeastChunk);
}

template <typename T>
std::vector<std::byte> bytes_of(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::vector<std::byte> gap_sample(DataType type, GapForm gaps) {
  return visit_type(stored_type(type, gaps), [&]<typename T>(T) {
    return bytes_of(gaps == GapForm::nan ? std::numeric_limits<T>::quiet_NaN() : T{});
  });
}

// How many samples lie between two times, to the nearest.
std::uint64_t samples_between(SampleRate rate, GpsTime from, GpsTime to) {
  constexpr long double kNsASecond = 1e9L;
  const auto ns = static_cast<long double>((to - from).count());
  return static_cast<std::uint64_t>(
      std::max(0.0L, std::round(ns * static_cast<long double>(rate.hz()) / kNsASecond)));
}

// The samples as `Stored`, NaN under gaps.
template <typename Stored>
void write_with_nan(const Series& series, std::vector<std::byte>& out) {
  visit_type(series.channel().data_type(), [&]<typename T>(T) {
    const std::span<const T> values = series.values<T>();
    out.resize(values.size() * sizeof(Stored));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Stored value = series.is_gap(i) ? std::numeric_limits<Stored>::quiet_NaN()
                                            : static_cast<Stored>(values[i]);
      std::memcpy(out.data() + i * sizeof value, &value, sizeof value);
    }
  });
}

}  // namespace

DataType stored_type(DataType type, GapForm gaps) {
  const bool holds_nan = type == DataType::float32 || type == DataType::float64;
  return gaps == GapForm::nan && !holds_nan ? DataType::float64 : type;
}

ContinuousSeries::ContinuousSeries(const Channel& channel, GapForm gaps, std::size_t memory)
    : rate_(channel.sample_rate()), gaps_(gaps) {
  const std::size_t chunk = chunk_samples(channel, memory);
  arrays_.emplace_back(gap_sample(channel.data_type(), gaps), chunk);
  arrays_.emplace_back(bytes_of(std::uint8_t{1}), chunk);
  arrays_.emplace_back(std::vector<std::byte>(2 * sizeof(std::int64_t)), kRunsAChunk);
}

void ContinuousSeries::append(const Series& series, const OnChunk& on_chunk) {
  if (series.empty()) return;
  place(series.time(), on_chunk);
  put_samples(series, on_chunk);
  if (gaps_ == GapForm::mask) put_mask(series, on_chunk);
}

void ContinuousSeries::flush(const OnChunk& on_chunk) {
  for (const Array array : kArrays) {
    of(array).flush([&](std::uint64_t number, std::span<const std::byte> bytes) {
      on_chunk(array, number, bytes);
    });
  }
}

void ContinuousSeries::put(Array array, std::span<const std::byte> bytes, const OnChunk& on_chunk) {
  of(array).append(bytes, [&](std::uint64_t number, std::span<const std::byte> chunk) {
    on_chunk(array, number, chunk);
  });
}

void ContinuousSeries::put_fill(Array array, std::uint64_t count, const OnChunk& on_chunk) {
  of(array).append_fill(count, [&](std::uint64_t number, std::span<const std::byte> chunk) {
    on_chunk(array, number, chunk);
  });
}

void ContinuousSeries::begin_run(Run run, const OnChunk& on_chunk) {
  run_ = run;
  const std::int64_t entry[] = {static_cast<std::int64_t>(run.first), run.time.ns()};
  put(Array::runs, std::as_bytes(std::span(entry)), on_chunk);
}

// Makes the next sample that of `time`.
void ContinuousSeries::place(GpsTime time, const OnChunk& on_chunk) {
  if (!start_) {
    start_ = time;
    begin_run({0, time}, on_chunk);
    return;
  }
  const std::uint64_t end = array(Array::samples).size();
  const std::uint64_t index = std::max(end, run_.first + samples_between(rate_, run_.time, time));
  put_fill(Array::samples, index - end, on_chunk);
  if (gaps_ == GapForm::mask) put_fill(Array::mask, index - end, on_chunk);
  if (run_.time + sample_offset(rate_, index - run_.first) != time) {
    begin_run({index, time}, on_chunk);
  }
}

void ContinuousSeries::put_samples(const Series& series, const OnChunk& on_chunk) {
  const DataType type = series.channel().data_type();
  const DataType stored = stored_type(type, gaps_);
  if (!series.has_gaps() && stored == type) {
    put(Array::samples, series.bytes(), on_chunk);
    return;
  }
  if (gaps_ == GapForm::mask) {
    scratch_.resize(series.bytes().size());
    write_values(series, scratch_.data());
  } else if (stored == DataType::float32) {
    write_with_nan<float>(series, scratch_);
  } else {
    write_with_nan<double>(series, scratch_);
  }
  put(Array::samples, scratch_, on_chunk);
}

void ContinuousSeries::put_mask(const Series& series, const OnChunk& on_chunk) {
  scratch_.assign(series.size(), std::byte{0});
  if (series.has_gaps()) {
    for (std::size_t i = 0; i < series.size(); ++i) {
      scratch_[i] = std::byte{static_cast<unsigned char>(series.is_gap(i))};
    }
  }
  put(Array::mask, scratch_, on_chunk);
}

}  // namespace arrakis::inline v1
