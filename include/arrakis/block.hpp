#pragma once

/// Blocks: the samples of many channels over one span of time.
///
/// A block costs streams, not channels: it keeps the received messages and finds a channel's
/// samples when they are asked for. Everything here is immutable and safe to read from any thread.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "arrakis/channel.hpp"
#include "arrakis/export.hpp"
#include "arrakis/fwd.hpp"
#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

struct BlockData;  // what a block holds; not public

/// One channel's samples in one block. A value that shares the block's storage: it stays valid when
/// the block is gone.
class ARRAKIS_API Series {
 public:
  [[nodiscard]] const Channel& channel() const { return *channel_; }
  /// Time of the first sample.
  [[nodiscard]] GpsTime time() const { return time_; }
  /// Number of samples, gaps included.
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// size() samples' time: trunc(n * 1e9 / rate).
  [[nodiscard]] Duration duration() const { return channel().sample_rate().duration_of(size_); }
  /// time() + round(i * 1e9 / rate), exact to the nanosecond.
  [[nodiscard]] GpsTime time_at(std::size_t i) const;

  /// The samples; under a gap the value is unspecified. T must be the C++ type of
  /// channel().data_type(), else Error(invalid_argument). Aligned for T. Valid as long as this
  /// series or the block it came from.
  template <typename T>
  [[nodiscard]] std::span<const T> values() const {
    require_type(data_type_of<T>());
    return {static_cast<const T*>(values_), size_};
  }
  /// The samples' bytes, size() * size_of(data_type()), in this machine's byte order.
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(values_), size_ * size_of(channel().data_type())};
  }
  /// Sample i as a double, NaN where it is a gap.
  [[nodiscard]] double value_as_double(std::size_t i) const;

  /// Whether any sample is a gap.
  [[nodiscard]] bool has_gaps() const { return gap_count_ != 0; }
  [[nodiscard]] std::size_t gap_count() const { return gap_count_; }
  /// Whether sample i is a gap. i < size().
  [[nodiscard]] bool is_gap(std::size_t i) const {
    if (gap_count_ == 0) return false;
    const std::size_t bit = validity_offset_ + i;
    return ((unsigned{validity_[bit / 8]} >> (bit % 8)) & 1U) == 0;
  }
  /// Bits, least significant first, 1 = a sample, 0 = a gap; bit validity_offset() belongs to
  /// sample 0. nullptr when there is no gap.
  [[nodiscard]] const std::uint8_t* validity() const {
    return gap_count_ == 0 ? nullptr : validity_;
  }
  [[nodiscard]] std::size_t validity_offset() const { return validity_offset_; }

 private:
  friend struct BlockData;
  Series() = default;
  void require_type(DataType type) const;

  const Channel* channel_ = nullptr;
  GpsTime time_;
  const void* values_ = nullptr;
  const std::uint8_t* validity_ = nullptr;
  std::size_t size_ = 0;
  std::size_t validity_offset_ = 0;
  std::size_t gap_count_ = 0;
  std::shared_ptr<const void> owner_;  // keeps channel_, values_ and validity_ alive
};

/// The samples of a set of channels over [time(), end()). A cheap value: copies share storage.
class ARRAKIS_API SeriesBlock {
 public:
  /// A block of no channels at time zero.
  SeriesBlock();

  [[nodiscard]] GpsTime time() const;
  [[nodiscard]] Duration duration() const;
  [[nodiscard]] GpsTime end() const { return time() + duration(); }
  [[nodiscard]] const ChannelSet& channels() const;
  /// Number of channels.
  [[nodiscard]] std::size_t size() const { return channels().size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }

  /// The samples of a channel; Error(not_found) names it. O(1), and free of allocation when the
  /// channel's samples lie in one received message; else they are put together the first time that
  /// somebody asks, and the block keeps them.
  [[nodiscard]] Series operator[](std::string_view channel) const;
  /// The samples of channels()[index].
  [[nodiscard]] Series at(std::size_t index) const;
  /// Whether any sample of any channel is a gap. Remembered; the first call may look at every
  /// channel when something is missing.
  [[nodiscard]] bool has_gaps() const;
  /// Whether there are samples and every one of every channel is a gap.
  [[nodiscard]] bool is_all_gap() const;

  /// The same block in storage of its own, so that no received message stays in memory for it.
  [[nodiscard]] SeriesBlock detach() const;
  /// Only the channels named, in that order; all of them when `names` is empty. Error(not_found)
  /// names an unknown one.
  [[nodiscard]] SeriesBlock filter(std::span<const std::string_view> names) const;
  [[nodiscard]] SeriesBlock filter(std::initializer_list<std::string_view> names) const {
    return filter(std::span(names.begin(), names.size()));
  }
  /// Only what lies in [from, to): duration() is that of the overlap, and a channel keeps the
  /// samples whose times lie in it.
  [[nodiscard]] SeriesBlock clip(GpsTime from, GpsTime to) const;
  /// This block and, all gaps, those of `wanted` that it does not have.
  [[nodiscard]] SeriesBlock with_gaps_for(const ChannelSet& wanted) const;

 private:
  friend struct BlockData;
  explicit SeriesBlock(std::shared_ptr<const BlockData> data);
  std::shared_ptr<const BlockData> data_;
};

/// A block in which every sample is a gap; each channel has sample_rate().samples_in(duration).
ARRAKIS_API SeriesBlock full_gap(GpsTime time, Duration duration, const ChannelSet& channels);
/// Blocks of the same channels, each starting where the one before it ended, as one. Throws
/// Error(invalid_argument) for none, Error(precondition) with the numbers for what doesn't fit.
ARRAKIS_API SeriesBlock concatenate(std::span<const SeriesBlock> blocks);
/// Blocks of the same span and distinct channels, as one. Throws as concatenate.
ARRAKIS_API SeriesBlock combine(std::span<const SeriesBlock> blocks);

/// Makes a block from a program's own samples, copying them.
///
///     SeriesBlock block = BlockBuilder(time, channels).set<float>("H1:A-B", samples).build();
///
/// Not safe from several threads at once.
class ARRAKIS_API BlockBuilder {
 public:
  BlockBuilder(GpsTime time, ChannelSet channels);
  ~BlockBuilder();
  BlockBuilder(BlockBuilder&&) noexcept;
  BlockBuilder& operator=(BlockBuilder&&) noexcept;

  /// Sets a channel's samples; where `gaps` is not empty, it has one flag a sample, true = gap.
  /// Throws Error(not_found) for an unknown channel and Error(invalid_argument) for another type or
  /// a number of flags that is not the number of samples.
  template <typename T>
  BlockBuilder& set(std::string_view channel, std::span<const T> samples,
                    std::span<const bool> gaps = {}) {
    return set_bytes(channel, data_type_of<T>(), std::as_bytes(samples), gaps);
  }
  template <typename T>
  BlockBuilder& set(std::string_view channel, const std::vector<T>& samples,
                    std::span<const bool> gaps = {}) {
    return set(channel, std::span<const T>(samples), gaps);
  }
  template <typename T, std::same_as<bool> Flag>
  BlockBuilder& set(std::string_view channel, const std::vector<T>& samples,
                    const std::vector<Flag>& gaps) {
    const auto flags = std::make_unique<bool[]>(gaps.size());
    std::copy(gaps.begin(), gaps.end(), flags.get());
    return set(channel, std::span<const T>(samples), std::span(flags.get(), gaps.size()));
  }
  BlockBuilder& set_bytes(std::string_view channel, DataType type,
                          std::span<const std::byte> samples, std::span<const bool> gaps = {});

  /// The block. Throws Error(precondition), with the numbers, when a channel has no samples set or
  /// the channels' durations differ. Leaves the builder empty.
  [[nodiscard]] SeriesBlock build();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace arrakis::inline v1
