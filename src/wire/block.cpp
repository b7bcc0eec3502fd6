#include "arrakis/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/immortal.hpp"
#include "wire/bitmap.hpp"
#include "wire/block_data.hpp"
#include "wire/column_part.hpp"
#include "wire/part.hpp"
#include "wire/sample_grid.hpp"

namespace arrakis::inline v1 {
namespace {

using Place = BlockLayout::Place;

[[noreturn]] void refuse(Errc code, const std::string& message) { throw Error(code, message); }

SeriesBlock block_of_slots(ChannelSet channels, GpsTime time, Duration duration, PartSlot slot) {
  std::vector<ChannelSet> streams = {std::move(channels)};
  std::vector<std::vector<PartSlot>> slots(1);
  slots[0].push_back(std::move(slot));
  return make_block(std::make_shared<const BlockLayout>(std::move(streams)), time, duration,
                    std::move(slots));
}

std::shared_ptr<BlockData> same_span(const BlockData& data) {
  auto copy = std::make_shared<BlockData>();
  copy->time = data.time;
  copy->duration = data.duration;
  return copy;
}

/// Appends the streams of `from`, each with its slots.
void append_streams(BlockData& to, const BlockData& from) {
  const std::size_t before = to.slots.size();
  for (std::size_t stream = 0; stream < from.layout->stream_count(); ++stream) {
    to.first_slot.push_back(before + from.first_slot[stream]);
  }
  to.slots.insert(to.slots.end(), from.slots.begin(), from.slots.end());
}

/// Samples in memory of their own; grows channel by channel.
class OwnedSamples {
 public:
  OwnedSamples(std::size_t value_bytes, std::size_t bitmap_bytes)
      : values_(std::make_shared<std::vector<std::uint64_t>>(
            (value_bytes + bitmap_bytes) / sizeof(std::uint64_t) + 1)),
        next_value_(reinterpret_cast<std::byte*>(values_->data())),
        next_bitmap_(next_value_ + value_bytes) {}

  /// Bytes that a channel's samples take, so that the next channel's are aligned.
  static std::size_t padded(std::size_t bytes) {
    return (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t) * sizeof(std::uint64_t);
  }

  Samples copy(const Samples& from, std::size_t sample_bytes) {
    Samples to = from;
    if (from.size == 0) return to;
    to.values = next_value_;
    std::memcpy(next_value_, from.values, from.size * sample_bytes);
    next_value_ += padded(from.size * sample_bytes);
    if (from.validity == nullptr) return to;
    auto* bits = reinterpret_cast<std::uint8_t*>(next_bitmap_);
    for (std::size_t i = 0; i < from.size; ++i) {
      if (bit_at(from.validity, from.validity_offset + i)) set_bit(bits, i);
    }
    to.validity = bits;
    to.validity_offset = 0;
    next_bitmap_ += bitmap_bytes(from.size);
    return to;
  }

  [[nodiscard]] std::shared_ptr<const void> owner() const { return values_; }

 private:
  std::shared_ptr<std::vector<std::uint64_t>> values_;
  std::byte* next_value_;
  std::byte* next_bitmap_;
};

/// The part's samples of the channels asked for, in memory of their own; the others absent.
BlockPartPtr copy_of(const BlockPart& part, std::span<const std::optional<DataType>> wanted) {
  std::vector<Samples> samples(wanted.size());
  std::size_t value_bytes = 0;
  std::size_t bits_bytes = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    samples[i] = part.samples(i);
    value_bytes += OwnedSamples::padded(samples[i].size * size_of(*wanted[i]));
    if (samples[i].validity != nullptr) bits_bytes += bitmap_bytes(samples[i].size);
  }
  OwnedSamples owned(value_bytes, bits_bytes);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (samples[i].present) samples[i] = owned.copy(samples[i], size_of(*wanted[i]));
  }
  return std::make_shared<ColumnPart>(part.time(), part.duration(), std::move(samples),
                                      owned.owner());
}

/// One channel of another part, as a stream of its own.
class OneChannelPart final : public BlockPart {
 public:
  OneChannelPart(BlockPartPtr part, std::size_t channel)
      : BlockPart(part->time(), part->duration()), part_(std::move(part)), channel_(channel) {}
  [[nodiscard]] Samples samples(std::size_t channel) const override {
    return channel == 0 ? part_->samples(channel_) : Samples{};
  }
  [[nodiscard]] bool has_gaps() const override {
    const Samples samples = part_->samples(channel_);
    return !samples.present || samples.gap_count != 0;
  }

 private:
  BlockPartPtr part_;
  std::size_t channel_;
};

void require_same_channels(const SeriesBlock& first, const SeriesBlock& other) {
  if (first.channels().same_table(other.channels())) return;
  for (const Channel& channel : other.channels()) {
    const std::optional<std::size_t> index = first.channels().find(channel.name());
    if (!index) {
      refuse(Errc::precondition,
             fmt::format("can't concatenate: '{}' is in the block at {} ns, not in the first one",
                         channel.name(), other.time().ns()));
    }
    if (!matches(first.channels()[*index], channel)) {
      refuse(Errc::precondition,
             fmt::format("can't concatenate: {} in the first block, {} at {} ns",
                         describe(first.channels()[*index]), describe(channel), other.time().ns()));
    }
  }
  for (const Channel& channel : first.channels()) {
    if (!other.channels().contains(channel.name())) {
      refuse(Errc::precondition,
             fmt::format("can't concatenate: '{}' is in the first block, not in the one at {} ns",
                         channel.name(), other.time().ns()));
    }
  }
}

bool same_places(const BlockData& a, const BlockData& b) {
  if (a.layout == b.layout) return true;
  return a.layout->channels().same_table(b.layout->channels()) &&
         a.layout->places() == b.layout->places() &&
         a.layout->stream_count() == b.layout->stream_count();
}

/// Slots of blocks that are laid out alike, stream by stream.
void join_streams(BlockData& joined, std::span<const SeriesBlock> blocks) {
  joined.layout = BlockData::of(blocks.front())->layout;
  for (std::size_t stream = 0; stream < joined.layout->stream_count(); ++stream) {
    joined.first_slot.push_back(joined.slots.size());
    for (const SeriesBlock& block : blocks) {
      const auto slots = BlockData::of(block)->slots_of(stream);
      joined.slots.insert(joined.slots.end(), slots.begin(), slots.end());
    }
  }
}

/// Slots of blocks that are laid out differently: each channel becomes a stream of its own.
void join_channels(BlockData& joined, std::span<const SeriesBlock> blocks) {
  const ChannelSet& channels = blocks.front().channels();
  std::vector<Place> places;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    places.push_back({static_cast<std::uint32_t>(i), 0});
    joined.first_slot.push_back(joined.slots.size());
    for (const SeriesBlock& block : blocks) {
      const BlockData& data = *BlockData::of(block);
      const Place place = data.layout->place(*data.layout->channels().find(channels[i].name()));
      for (const BlockData::Slot& slot : data.slots_of(place.stream)) {
        joined.slots.push_back(slot);
        if (slot.part) {
          joined.slots.back().part = std::make_shared<OneChannelPart>(slot.part, place.channel);
        }
      }
    }
  }
  joined.layout = std::make_shared<const BlockLayout>(channels, std::move(places), channels.size());
}

const std::shared_ptr<const BlockData>& empty_data() {
  static const Immortal<std::shared_ptr<const BlockData>> kEmpty(
      BlockData::of(make_block(std::make_shared<const BlockLayout>(std::vector<ChannelSet>{}),
                               GpsTime(), Duration::zero(), {})));
  return *kEmpty;
}

}  // namespace

GpsTime Series::time_at(std::size_t i) const {
  return time_ + sample_offset(channel().sample_rate(), i);
}

double Series::value_as_double(std::size_t i) const {
  if (is_gap(i)) return std::numeric_limits<double>::quiet_NaN();
  return visit_type(channel().data_type(), [&](auto type) {
    return static_cast<double>(static_cast<const decltype(type)*>(values_)[i]);
  });
}

void Series::require_type(DataType type) const {
  if (type == channel().data_type()) return;
  refuse(Errc::invalid_argument, fmt::format("'{}' holds {} samples, not {}", channel().name(),
                                             to_string(channel().data_type()), to_string(type)));
}

SeriesBlock::SeriesBlock() : data_(empty_data()) {}
SeriesBlock::SeriesBlock(std::shared_ptr<const BlockData> data) : data_(std::move(data)) {}

GpsTime SeriesBlock::time() const { return data_->time; }
Duration SeriesBlock::duration() const { return data_->duration; }
const ChannelSet& SeriesBlock::channels() const { return data_->layout->channels(); }

Series SeriesBlock::operator[](std::string_view channel) const {
  const std::optional<std::size_t> index = channels().find(channel);
  if (!index) {
    refuse(Errc::not_found,
           fmt::format("channel '{}' is not among the {} of this block", channel, size()));
  }
  return BlockData::series(data_, *index);
}

Series SeriesBlock::at(std::size_t index) const {
  if (index >= size()) {
    refuse(Errc::not_found, fmt::format("channel {} of a block of {}", index, size()));
  }
  return BlockData::series(data_, index);
}

bool SeriesBlock::has_gaps() const { return data_->has_gaps(); }
bool SeriesBlock::is_all_gap() const { return data_->is_all_gap(); }

SeriesBlock SeriesBlock::detach() const {
  std::vector<std::vector<std::optional<DataType>>> wanted(data_->layout->stream_count());
  for (std::size_t i = 0; i < size(); ++i) {
    const Place place = data_->layout->place(i);
    auto& stream = wanted[place.stream];
    if (stream.size() <= place.channel) stream.resize(place.channel + std::size_t{1});
    stream[place.channel] = channels()[i].data_type();
  }
  const std::shared_ptr<BlockData> copy = same_span(*data_);
  copy->layout = data_->layout;
  append_streams(*copy, *data_);
  copy->first_slot.push_back(copy->slots.size());
  for (std::size_t stream = 0; stream < wanted.size(); ++stream) {
    for (std::size_t i = copy->first_slot[stream]; i < copy->first_slot[stream + 1]; ++i) {
      BlockPartPtr& part = copy->slots[i].part;
      if (part) part = copy_of(*part, wanted[stream]);
    }
  }
  return BlockData::block(copy);
}

SeriesBlock SeriesBlock::filter(std::span<const std::string_view> names) const {
  if (names.empty()) return *this;
  std::vector<Channel> kept;
  std::vector<Place> places;
  kept.reserve(names.size());
  places.reserve(names.size());
  for (const std::string_view name : names) {
    const std::optional<std::size_t> index = channels().find(name);
    if (!index) {
      refuse(Errc::not_found,
             fmt::format("channel '{}' is not among the {} of this block", name, size()));
    }
    kept.push_back(channels()[*index]);
    places.push_back(data_->layout->place(*index));
  }
  const std::shared_ptr<BlockData> filtered = same_span(*data_);
  filtered->layout = std::make_shared<const BlockLayout>(
      ChannelSet(std::move(kept)), std::move(places), data_->layout->stream_count());
  append_streams(*filtered, *data_);
  filtered->first_slot.push_back(filtered->slots.size());
  return BlockData::block(filtered);
}

SeriesBlock SeriesBlock::clip(GpsTime from, GpsTime to) const {
  const auto clipped = std::make_shared<BlockData>();
  clipped->layout = data_->layout;
  clipped->time = std::clamp(from, time(), end());
  const GpsTime clipped_end = std::clamp(to, clipped->time, end());
  clipped->duration = clipped_end - clipped->time;
  for (std::size_t stream = 0; stream < data_->layout->stream_count(); ++stream) {
    clipped->first_slot.push_back(clipped->slots.size());
    for (BlockData::Slot slot : data_->slots_of(stream)) {
      slot.from = std::max(slot.from, clipped->time);
      slot.to = std::min(slot.to, clipped_end);
      if (slot.from < slot.to) clipped->slots.push_back(std::move(slot));
    }
  }
  clipped->first_slot.push_back(clipped->slots.size());
  return BlockData::block(clipped);
}

SeriesBlock SeriesBlock::with_gaps_for(const ChannelSet& wanted) const {
  std::vector<Channel> missing;
  for (const Channel& channel : wanted) {
    if (!channels().contains(channel.name())) missing.push_back(channel);
  }
  if (missing.empty()) return *this;
  const SeriesBlock gaps = full_gap(time(), duration(), ChannelSet(std::move(missing)));
  return combine(std::vector<SeriesBlock>{*this, gaps});
}

SeriesBlock full_gap(GpsTime time, Duration duration, const ChannelSet& channels) {
  if (duration < Duration::zero()) {
    refuse(Errc::invalid_argument, fmt::format("a block of {} ns", duration.count()));
  }
  return block_of_slots(channels, time, duration, {time, duration, nullptr});
}

SeriesBlock block_of(ChannelSet channels, BlockPartPtr part) {
  const GpsTime time = part->time();
  const Duration duration = part->duration();
  return block_of_slots(std::move(channels), time, duration, {time, duration, std::move(part)});
}

SeriesBlock concatenate(std::span<const SeriesBlock> blocks) {
  if (blocks.empty()) refuse(Errc::invalid_argument, "no blocks to concatenate");
  if (blocks.size() == 1) return blocks.front();
  const SeriesBlock& first = blocks.front();
  const auto joined = std::make_shared<BlockData>();
  joined->time = first.time();
  bool alike = true;
  GpsTime end = first.time();
  for (const SeriesBlock& block : blocks) {
    if (block.time() != end) {
      refuse(
          Errc::precondition,
          fmt::format("can't concatenate: a block starts at {} ns, the one before it ends at {} ns",
                      block.time().ns(), end.ns()));
    }
    require_same_channels(first, block);
    alike = alike && same_places(*BlockData::of(first), *BlockData::of(block));
    end = block.end();
  }
  joined->duration = end - first.time();
  if (alike) {
    join_streams(*joined, blocks);
  } else {
    join_channels(*joined, blocks);
  }
  joined->first_slot.push_back(joined->slots.size());
  return BlockData::block(joined);
}

SeriesBlock combine(std::span<const SeriesBlock> blocks) {
  if (blocks.empty()) refuse(Errc::invalid_argument, "no blocks to combine");
  if (blocks.size() == 1) return blocks.front();
  const SeriesBlock& first = blocks.front();
  const std::shared_ptr<BlockData> combined = same_span(*BlockData::of(first));
  std::vector<Channel> channels;
  std::vector<Place> places;
  std::unordered_map<std::string_view, std::size_t> seen;
  std::uint32_t streams = 0;
  for (const SeriesBlock& block : blocks) {
    if (block.time() != first.time() || block.duration() != first.duration()) {
      refuse(Errc::precondition,
             fmt::format("can't combine: a block of {} ns at {} ns with one of {} ns at {} ns",
                         first.duration().count(), first.time().ns(), block.duration().count(),
                         block.time().ns()));
    }
    const BlockData& data = *BlockData::of(block);
    for (std::size_t i = 0; i < block.size(); ++i) {
      const Channel& channel = block.channels()[i];
      if (!seen.emplace(channel.name(), i).second) {
        refuse(Errc::precondition,
               fmt::format("can't combine: '{}' is in two blocks", channel.name()));
      }
      const Place place = data.layout->place(i);
      channels.push_back(channel);
      places.push_back({streams + place.stream, place.channel});
    }
    append_streams(*combined, data);
    streams += static_cast<std::uint32_t>(data.layout->stream_count());
  }
  combined->first_slot.push_back(combined->slots.size());
  combined->layout = std::make_shared<const BlockLayout>(ChannelSet(std::move(channels)),
                                                         std::move(places), streams);
  return BlockData::block(combined);
}

struct BlockBuilder::Impl {
  struct Storage {
    std::unique_ptr<std::uint64_t[]> values;
    std::unique_ptr<std::uint8_t[]> validity;
  };
  using Storages = std::vector<Storage>;

  Impl(GpsTime block_time, ChannelSet block_channels)
      : time(block_time),
        channels(std::move(block_channels)),
        samples(channels.size()),
        storages(std::make_shared<Storages>(channels.size())) {}

  GpsTime time;
  ChannelSet channels;
  std::vector<Samples> samples;
  std::shared_ptr<Storages> storages;
};

BlockBuilder::BlockBuilder(GpsTime time, ChannelSet channels)
    : impl_(std::make_unique<Impl>(time, std::move(channels))) {}
BlockBuilder::~BlockBuilder() = default;
BlockBuilder::BlockBuilder(BlockBuilder&&) noexcept = default;
BlockBuilder& BlockBuilder::operator=(BlockBuilder&&) noexcept = default;

BlockBuilder& BlockBuilder::set_bytes(std::string_view channel, DataType type,
                                      std::span<const std::byte> samples,
                                      std::span<const bool> gaps) {
  const std::optional<std::size_t> index = impl_->channels.find(channel);
  if (!index) {
    refuse(Errc::not_found, fmt::format("channel '{}' is not among the {} of this block", channel,
                                        impl_->channels.size()));
  }
  const DataType declared = impl_->channels[*index].data_type();
  if (type != declared) {
    refuse(Errc::invalid_argument, fmt::format("'{}' holds {} samples, not {}", channel,
                                               to_string(declared), to_string(type)));
  }
  if (samples.size() % size_of(type) != 0) {
    refuse(Errc::invalid_argument, fmt::format("'{}': {} bytes are no whole number of {} samples",
                                               channel, samples.size(), to_string(type)));
  }
  Samples view;
  view.present = true;
  view.size = samples.size() / size_of(type);
  if (!gaps.empty() && gaps.size() != view.size) {
    refuse(Errc::invalid_argument,
           fmt::format("'{}': {} gap flags for {} samples", channel, gaps.size(), view.size));
  }
  Impl::Storage storage;
  storage.values =
      std::make_unique_for_overwrite<std::uint64_t[]>(samples.size() / sizeof(std::uint64_t) + 1);
  if (!samples.empty()) std::memcpy(storage.values.get(), samples.data(), samples.size());
  view.values = reinterpret_cast<const std::byte*>(storage.values.get());
  view.gap_count = static_cast<std::size_t>(std::count(gaps.begin(), gaps.end(), true));
  if (view.gap_count != 0) {
    storage.validity = std::make_unique<std::uint8_t[]>(bitmap_bytes(view.size));
    for (std::size_t i = 0; i < view.size; ++i) {
      if (!gaps[i]) set_bit(storage.validity.get(), i);
    }
    view.validity = storage.validity.get();
  }
  impl_->samples[*index] = view;
  (*impl_->storages)[*index] = std::move(storage);
  return *this;
}

SeriesBlock BlockBuilder::build() {
  std::optional<Duration> duration;
  for (std::size_t i = 0; i < impl_->channels.size(); ++i) {
    const Channel& channel = impl_->channels[i];
    const Samples& samples = impl_->samples[i];
    if (!samples.present) {
      refuse(Errc::precondition, fmt::format("no samples were set for '{}'", channel.name()));
    }
    const Duration own = channel.sample_rate().duration_of(samples.size);
    if (duration && own != *duration) {
      refuse(
          Errc::precondition,
          fmt::format("'{}' has {} samples, {} ns at {} Hz, where '{}' has {} samples, {} ns",
                      channel.name(), samples.size, own.count(), channel.sample_rate().to_string(),
                      impl_->channels[0].name(), impl_->samples[0].size, duration->count()));
    }
    duration = own;
  }
  const Impl built = std::exchange(*impl_, Impl(GpsTime(), ChannelSet()));
  return block_of(built.channels,
                  std::make_shared<ColumnPart>(built.time, duration.value_or(Duration::zero()),
                                               built.samples, built.storages));
}

}  // namespace arrakis::inline v1
