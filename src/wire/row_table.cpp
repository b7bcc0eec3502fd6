#include "wire/row_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

namespace arrakis::inline v1 {
namespace {

template <typename T>
T load(std::span<const std::byte> column, std::size_t row) {
  T value{};
  std::memcpy(&value, column.data() + row * sizeof(T), sizeof(T));
  return value;
}

bool holds(std::span<const std::byte> column, std::size_t count, std::size_t bytes_each) {
  return count <= column.size() / bytes_each;
}

/// The offsets of a list column, each within the values and none before its predecessor.
class ListOffsets {
 public:
  explicit ListOffsets(const RowTable& table) : table_(table) {}

  [[nodiscard]] std::size_t operator[](std::size_t i) const {
    // A negative one becomes greater than any count of values.
    return static_cast<std::size_t>(table_.large_offsets ? load<std::int64_t>(table_.offsets, i)
                                                         : load<std::int32_t>(table_.offsets, i));
  }

  [[nodiscard]] Result<void> check() const {
    if (!holds(table_.offsets, table_.rows + 1, table_.large_offsets ? 8 : 4)) {
      return failure(Errc::decode, fmt::format("{} bytes of list offsets for {} rows",
                                               table_.offsets.size(), table_.rows));
    }
    std::size_t before = 0;
    for (std::size_t i = 0; i <= table_.rows; ++i) {
      const std::size_t offset = (*this)[i];
      if (offset < before || offset > table_.value_count) {
        return failure(Errc::decode,
                       fmt::format("list offset {} of row {} after {} and with {} samples in all",
                                   offset, i, before, table_.value_count));
      }
      before = offset;
    }
    return {};
  }

 private:
  const RowTable& table_;
};

Result<void> check_columns(const RowTable& table) {
  // Every row has a time of eight bytes, so that the counts below can't overflow.
  if (!holds(table.times, table.rows, sizeof(std::int64_t))) {
    return failure(Errc::decode,
                   fmt::format("{} bytes of 'time' for {} rows", table.times.size(), table.rows));
  }
  if (!holds(table.ids, table.rows, sizeof(std::uint32_t)) ||
      !table.id_validity.covers(table.rows)) {
    return failure(Errc::decode,
                   fmt::format("{} bytes of 'id' for {} rows", table.ids.size(), table.rows));
  }
  if (!table.list_validity.covers(table.rows)) {
    return failure(
        Errc::decode,
        fmt::format("the validity bitmap of 'data' is too short for {} rows", table.rows));
  }
  if (!holds(table.values, table.value_count, size_of(table.type)) ||
      !table.validity.covers(table.value_count)) {
    return failure(Errc::decode,
                   fmt::format("{} bytes of samples for {} samples of {} bytes",
                               table.values.size(), table.value_count, size_of(table.type)));
  }
  return {};
}

std::optional<std::uint32_t> id_of(const RowTable& table, std::size_t row) {
  if (table.signed_ids && load<std::int32_t>(table.ids, row) < 0) return std::nullopt;
  return load<std::uint32_t>(table.ids, row);
}

void drop(RowLayout& layout, std::string reason) {
  if (layout.dropped_rows++ == 0) layout.drop_reason = std::move(reason);
}

/// Why a row can't be its channel's, or nothing.
std::optional<std::string> fault_of(const Channel& channel, DataType type, std::size_t samples) {
  if (channel.data_type() != type) {
    return fmt::format("{}: {} samples where {} is declared", channel.name(), to_string(type),
                       to_string(channel.data_type()));
  }
  if (samples == 0) return fmt::format("{}: a row of no samples", channel.name());
  const Duration duration = channel.sample_rate().duration_of(samples);
  if (channel.stride && duration != *channel.stride) {
    return fmt::format("{}: {} samples are {} ns where the stride is {} ns", channel.name(),
                       samples, duration.count(), channel.stride->count());
  }
  return std::nullopt;
}

/// The duration that the most channels have; the lesser of equally frequent ones.
std::optional<Duration> prevalent_duration(const ChannelSet& channels, const RowLayout& layout) {
  std::map<Duration, std::size_t> counts;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const std::size_t samples = layout.spans[i].size;
    if (samples != 0) ++counts[channels[i].sample_rate().duration_of(samples)];
  }
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  if (most == counts.end()) return std::nullopt;
  return most->first;
}

RowLayout::Span covering(const std::vector<RowLayout::Span>& spans) {
  std::size_t first = std::numeric_limits<std::size_t>::max();
  std::size_t last = 0;
  for (const RowLayout::Span& span : spans) {
    if (span.size == 0) continue;
    first = std::min(first, span.first);
    last = std::max(last, span.first + span.size);
  }
  return last == 0 ? RowLayout::Span{} : RowLayout::Span{first, last - first};
}

}  // namespace

RowMapper::RowMapper(ChannelSet channels) : channels_(std::move(channels)) {
  channel_of_id_.reserve(channels_.size());
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    const Channel& channel = channels_[i];
    if (!channel.partition_index) {
      throw Error(Errc::precondition,
                  fmt::format("channel '{}' has no partition_index", channel.name()));
    }
    const auto [it, inserted] =
        channel_of_id_.emplace(*channel.partition_index, static_cast<std::uint32_t>(i));
    if (!inserted) {
      throw Error(
          Errc::precondition,
          fmt::format("channels '{}' and '{}' both have partition_index {}",
                      channels_[it->second].name(), channel.name(), *channel.partition_index));
    }
    if (!stride_) stride_ = channel.stride;
  }
}

Result<RowLayout> RowMapper::map(const RowTable& table) const {
  if (auto checked = check_columns(table); !checked) return tl::unexpected(checked.error());
  const ListOffsets offsets(table);
  if (auto checked = offsets.check(); !checked) return tl::unexpected(checked.error());

  RowLayout layout;
  layout.type = table.type;
  layout.sample_bytes = size_of(table.type);
  layout.spans.resize(channels_.size());
  for (std::size_t row = 0; row < table.rows; ++row) {
    if (!table.id_validity.is_valid(row)) {
      drop(layout, fmt::format("row {} has no id", row));
      continue;
    }
    const std::optional<std::uint32_t> id = id_of(table, row);
    const auto it = id ? channel_of_id_.find(*id) : channel_of_id_.end();
    if (it == channel_of_id_.end()) continue;
    ++layout.wanted_rows;
    RowLayout::Span& span = layout.spans[it->second];
    span = {};
    if (!table.list_validity.is_valid(row)) {
      layout.usable = true;
      continue;
    }
    const std::size_t size = offsets[row + 1] - offsets[row];
    if (auto fault = fault_of(channels_[it->second], table.type, size)) {
      drop(layout, *std::move(fault));
      continue;
    }
    span = {offsets[row], size};
  }
  for (const RowLayout::Span& span : layout.spans) layout.usable |= span.size != 0;
  if (!layout.usable) return layout;

  const std::optional<Duration> duration = prevalent_duration(channels_, layout);
  if (!duration && !stride_) {
    return failure(Errc::decode,
                   layout.dropped_rows != 0
                       ? layout.drop_reason
                       : std::string("only null lists, of channels without a stride"));
  }
  layout.duration = duration.value_or(stride_.value_or(Duration{}));
  layout.complete = true;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    RowLayout::Span& span = layout.spans[i];
    if (span.size != 0) {
      const Duration own = channels_[i].sample_rate().duration_of(span.size);
      if (own != layout.duration) {
        drop(layout,
             fmt::format("{}: {} samples are {} ns where other channels have {} ns",
                         channels_[i].name(), span.size, own.count(), layout.duration.count()));
        span = {};
      }
    }
    if (span.size == 0) layout.complete = false;
  }
  layout.covered = covering(layout.spans);
  return layout;
}

RowPart::RowPart(GpsTime time, std::shared_ptr<const RowLayout> layout, const std::byte* values,
                 Bitmap validity, std::shared_ptr<const void> owner)
    : BlockPart(time, layout->duration, layout->covered.size * layout->sample_bytes),
      layout_(std::move(layout)),
      owner_(std::move(owner)),
      values_(layout_->covered.size == 0
                  ? std::span<const std::byte>()
                  : std::span(values + layout_->covered.first * layout_->sample_bytes, bytes()),
              layout_->sample_bytes),
      validity_(validity) {}

Samples RowPart::samples(std::size_t channel) const {
  if (channel >= layout_->spans.size()) return {};
  const RowLayout::Span span = layout_->spans[channel];
  if (span.size == 0) return {};
  Samples samples;
  samples.present = true;
  samples.size = span.size;
  samples.values = values_.data() + (span.first - layout_->covered.first) * layout_->sample_bytes;
  if (validity_.all_valid()) return samples;
  const std::size_t bit = validity_.offset + span.first;
  samples.gap_count = count_zero_bits(validity_.bits(), bit, span.size);
  if (samples.gap_count != 0) {
    samples.validity = validity_.bits();
    samples.validity_offset = bit;
  }
  return samples;
}

bool RowPart::has_gaps() const {
  if (!layout_->complete) return true;
  if (validity_.all_valid()) return false;
  return std::any_of(layout_->spans.begin(), layout_->spans.end(), [this](RowLayout::Span span) {
    return count_zero_bits(validity_.bits(), validity_.offset + span.first, span.size) != 0;
  });
}

GpsTime first_time(const RowTable& table) {
  return GpsTime::from_ns(load<std::int64_t>(table.times, 0));
}

}  // namespace arrakis::inline v1
