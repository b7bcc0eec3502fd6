#pragma once

/// A channel's blocks as one array without holes: what was never sent is a gap in it.
///
/// Beside the samples it keeps which of them are gaps and, exactly, when they were taken: in runs,
/// of which each says the index of its first sample and the time of that. A run's sample i follows
/// its first one by round(i * 1e9 / rate) ns. One run is enough for as long as times stay on that
/// grid, gaps included.
/// Not safe from several threads at once.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/files.hpp"
#include "files/chunk_buffer.hpp"

namespace arrakis::inline v1 {

/// The sample type in the array: NaN can stand for a gap only among floating-point numbers.
DataType stored_type(DataType type, GapForm gaps);

class ContinuousSeries {
 public:
  enum class Array : std::uint8_t {
    samples,  ///< stored_type
    mask,     ///< a byte a sample, 1 = a gap; only with GapForm::mask
    runs,     ///< two int64 a run: index and GPS ns
  };
  static constexpr Array kArrays[] = {Array::samples, Array::mask, Array::runs};
  using OnChunk =
      std::function<void(Array array, std::uint64_t number, std::span<const std::byte> bytes)>;

  /// `memory`: about how many bytes it may hold.
  ContinuousSeries(const Channel& channel, GapForm gaps, std::size_t memory);

  /// `series` must not begin before the end of the one before it.
  void append(const Series& series, const OnChunk& on_chunk);
  /// Hands over what is begun; nothing can be appended afterwards.
  void flush(const OnChunk& on_chunk);

  [[nodiscard]] const ChunkBuffer& array(Array array) const {
    return arrays_[static_cast<std::size_t>(array)];
  }
  /// Time of the first sample; none before the first block.
  [[nodiscard]] std::optional<GpsTime> start() const { return start_; }

 private:
  struct Run {
    std::uint64_t first = 0;
    GpsTime time;
  };
  static constexpr std::size_t kArrayCount = std::size(kArrays);

  void put(Array array, std::span<const std::byte> bytes, const OnChunk& on_chunk);
  void put_fill(Array array, std::uint64_t count, const OnChunk& on_chunk);
  void begin_run(Run run, const OnChunk& on_chunk);
  void place(GpsTime time, const OnChunk& on_chunk);
  void put_samples(const Series& series, const OnChunk& on_chunk);
  void put_mask(const Series& series, const OnChunk& on_chunk);
  ChunkBuffer& of(Array array) { return arrays_[static_cast<std::size_t>(array)]; }

  SampleRate rate_;
  GapForm gaps_;
  std::vector<ChunkBuffer> arrays_;
  std::optional<GpsTime> start_;
  Run run_;
  std::vector<std::byte> scratch_;
};

}  // namespace arrakis::inline v1
