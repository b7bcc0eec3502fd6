#include "wire/block_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "wire/bitmap.hpp"
#include "wire/sample_grid.hpp"

namespace arrakis::inline v1 {
namespace {

// More than any machine holds: a rate or a duration that nobody meant.
constexpr std::size_t kMaxSeriesSamples = std::size_t{1} << 40U;

ChannelSet all_channels(const std::vector<ChannelSet>& streams) {
  if (streams.size() == 1) return streams.front();
  std::vector<Channel> channels;
  std::unordered_set<std::string_view> names;
  for (const ChannelSet& stream : streams) {
    for (const Channel& channel : stream) {
      if (!names.insert(channel.name()).second) {
        throw Error(Errc::precondition,
                    fmt::format("channel '{}' is carried by two streams", channel.name()));
      }
      channels.push_back(channel);
    }
  }
  return ChannelSet(std::move(channels));
}

std::vector<BlockLayout::Place> all_places(const std::vector<ChannelSet>& streams) {
  std::vector<BlockLayout::Place> places;
  for (std::uint32_t stream = 0; stream < streams.size(); ++stream) {
    for (std::uint32_t channel = 0; channel < streams[stream].size(); ++channel) {
      places.push_back({stream, channel});
    }
  }
  return places;
}

/// Adds what of one stream's slots lies in the block, and gaps where none does.
void add_slots(BlockData& data, std::vector<PartSlot>&& slots) {
  const GpsTime end = data.time + data.duration;
  GpsTime cursor = data.time;
  const auto add_gap_until = [&](GpsTime to) {
    if (cursor < to) data.slots.push_back({cursor, to, cursor, to - cursor, nullptr});
  };
  for (PartSlot& slot : slots) {
    const GpsTime time = slot.part ? slot.part->time() : slot.time;
    const Duration duration = slot.part ? slot.part->duration() : slot.duration;
    const GpsTime from = std::max(time, cursor);
    const GpsTime to = std::min(time + duration, end);
    if (to <= from) continue;
    add_gap_until(from);
    data.slots.push_back({from, to, time, duration, std::move(slot.part)});
    cursor = to;
  }
  add_gap_until(end);
}

/// One channel's samples in one slot.
struct Piece {
  Samples samples;  ///< without values: all gaps
  GpsTime time;     ///< of the first
};

Piece piece_of(const BlockData::Slot& slot, const Channel& channel, std::size_t index_in_part) {
  Piece piece;
  if (slot.part) piece.samples = slot.part->samples(index_in_part);
  if (!piece.samples.present) {
    piece.samples = {};
    piece.samples.size = channel.sample_rate().samples_in(slot.duration);
    piece.samples.gap_count = piece.samples.size;
  }
  piece.time = slot.time;
  if (slot.is_whole()) return piece;

  Samples& samples = piece.samples;
  const SampleRate rate = channel.sample_rate();
  const std::size_t first = first_sample_from(rate, slot.time, slot.from, samples.size);
  const std::size_t last = first_sample_from(rate, slot.time, slot.to, samples.size);
  samples.size = last - first;
  if (samples.values != nullptr) samples.values += first * size_of(channel.data_type());
  if (samples.validity != nullptr) {
    samples.validity_offset += first;
    samples.gap_count = count_zero_bits(samples.validity, samples.validity_offset, samples.size);
  } else if (samples.gap_count != 0) {
    samples.gap_count = samples.size;
  }
  piece.time = slot.time + sample_offset(rate, first);
  return piece;
}

/// Samples put together of several pieces.
struct Assembled {
  std::shared_ptr<const BlockData> block;  // keeps the channel
  std::unique_ptr<std::uint64_t[]> values;
  std::unique_ptr<std::uint8_t[]> validity;
};

void copy_validity(const Samples& from, std::uint8_t* bits, std::size_t offset) {
  if (from.gap_count == 0) return;
  for (std::size_t i = 0; i < from.size; ++i) {
    if (from.validity == nullptr || !bit_at(from.validity, from.validity_offset + i)) {
      clear_bit(bits, offset + i);
    }
  }
}

/// `bits` start as all ones, values as all zeros.
std::shared_ptr<Assembled> assemble(const std::vector<Piece>& pieces, std::size_t sample_bytes,
                                    std::size_t size, std::size_t gap_count) {
  auto result = std::make_shared<Assembled>();
  result->values =
      std::make_unique<std::uint64_t[]>(size * sample_bytes / sizeof(std::uint64_t) + 1);
  if (gap_count != 0) {
    result->validity = std::make_unique_for_overwrite<std::uint8_t[]>(bitmap_bytes(size));
    std::memset(result->validity.get(), 0xFF, bitmap_bytes(size));
  }
  auto* values = reinterpret_cast<std::byte*>(result->values.get());
  std::size_t offset = 0;
  for (const Piece& piece : pieces) {
    const Samples& samples = piece.samples;
    if (samples.values != nullptr) {
      std::memcpy(values + offset * sample_bytes, samples.values, samples.size * sample_bytes);
    }
    copy_validity(samples, result->validity.get(), offset);
    offset += samples.size;
  }
  return result;
}

struct SampleCount {
  std::size_t size = 0;
  std::size_t gaps = 0;
};

SampleCount count_samples(const BlockData& data, std::size_t index) {
  const BlockLayout::Place place = data.layout->place(index);
  SampleCount count;
  for (const BlockData::Slot& slot : data.slots_of(place.stream)) {
    const Piece piece = piece_of(slot, data.layout->channels()[index], place.channel);
    count.size += piece.samples.size;
    count.gaps += piece.samples.gap_count;
  }
  return count;
}

bool find_gap(const BlockData& data) {
  const bool clean = std::all_of(data.slots.begin(), data.slots.end(), [](const auto& slot) {
    return slot.part != nullptr && !slot.part->has_gaps();
  });
  if (clean) return false;
  for (std::size_t i = 0; i < data.layout->channels().size(); ++i) {
    if (count_samples(data, i).gaps != 0) return true;
  }
  return false;
}

}  // namespace

Duration sample_offset(SampleRate rate, std::size_t i) {
  // Exact to the nanosecond: i * 1e9 fits the 64 bits of a long double's fraction.
  const long double ns = std::round(static_cast<long double>(i) * 1e9L / rate.hz());
  constexpr auto kMost = static_cast<long double>(std::numeric_limits<std::int64_t>::max());
  return ns >= kMost ? Duration::max() : Duration(static_cast<std::int64_t>(ns));
}

std::size_t first_sample_from(SampleRate rate, GpsTime start, GpsTime t, std::size_t count) {
  if (t <= start) return 0;
  const double estimate =
      static_cast<double>((t - start).count()) * 1e-9 * rate.hz() - 2.0;  // rounded up below
  if (estimate >= static_cast<double>(count)) return count;
  std::size_t i = estimate > 0 ? static_cast<std::size_t>(estimate) : 0;
  while (i < count && start + sample_offset(rate, i) < t) ++i;
  return i;
}

BlockLayout::BlockLayout(const std::vector<ChannelSet>& streams)
    : channels_(all_channels(streams)), places_(all_places(streams)), streams_(streams.size()) {}

BlockLayout::BlockLayout(ChannelSet channels, std::vector<Place> places, std::size_t streams)
    : channels_(std::move(channels)), places_(std::move(places)), streams_(streams) {}

SeriesBlock make_block(std::shared_ptr<const BlockLayout> layout, GpsTime time, Duration duration,
                       std::vector<std::vector<PartSlot>> slots) {
  auto data = std::make_shared<BlockData>();
  data->time = time;
  data->duration = std::max(duration, Duration::zero());
  const std::size_t streams = layout->stream_count();
  slots.resize(streams);
  data->slots.reserve(streams);
  data->first_slot.reserve(streams + 1);
  for (std::vector<PartSlot>& stream : slots) {
    data->first_slot.push_back(data->slots.size());
    add_slots(*data, std::move(stream));
  }
  data->first_slot.push_back(data->slots.size());
  data->layout = std::move(layout);
  return BlockData::block(std::move(data));
}

Series BlockData::series(const std::shared_ptr<const BlockData>& self, std::size_t index) {
  const BlockLayout::Place place = self->layout->place(index);
  const std::span<const Slot> slots = self->slots_of(place.stream);
  if (slots.size() == 1 && slots.front().part && slots.front().is_whole()) {
    const Samples samples = slots.front().part->samples(place.channel);
    if (samples.present && samples.size != 0) {
      return view(self, self->layout->channels()[index], samples, slots.front().time);
    }
  }
  return joined(self, index, slots);
}

Series BlockData::view(std::shared_ptr<const void> owner, const Channel& channel,
                       const Samples& samples, GpsTime time) {
  Series series;
  series.channel_ = &channel;
  series.time_ = time;
  series.values_ = samples.values;
  series.validity_ = samples.validity;
  series.validity_offset_ = samples.validity_offset;
  series.size_ = samples.size;
  series.gap_count_ = samples.gap_count;
  series.owner_ = std::move(owner);
  return series;
}

Series BlockData::joined(const std::shared_ptr<const BlockData>& self, std::size_t index,
                         std::span<const Slot> slots) {
  const Channel& channel = self->layout->channels()[index];
  std::vector<Piece> pieces;
  pieces.reserve(slots.size());
  Samples all;
  all.present = true;
  for (const Slot& slot : slots) {
    const Piece piece = piece_of(slot, channel, self->layout->place(index).channel);
    if (piece.samples.size == 0) continue;
    if (piece.samples.size > kMaxSeriesSamples - all.size) {
      throw Error(Errc::precondition,
                  fmt::format("'{}': more than {} samples in {} ns at {} Hz", channel.name(),
                              kMaxSeriesSamples, self->duration.count(),
                              channel.sample_rate().to_string()));
    }
    all.size += piece.samples.size;
    all.gap_count += piece.samples.gap_count;
    pieces.push_back(piece);
  }
  if (pieces.empty()) return view(self, channel, {}, self->time);
  const Piece& first = pieces.front();
  if (pieces.size() == 1 && first.samples.present) {
    return view(self, channel, first.samples, first.time);
  }
  std::shared_ptr<Assembled> assembled =
      assemble(pieces, size_of(channel.data_type()), all.size, all.gap_count);
  assembled->block = self;
  all.values = reinterpret_cast<const std::byte*>(assembled->values.get());
  all.validity = assembled->validity.get();
  return view(std::move(assembled), channel, all, first.time);
}

SeriesBlock BlockData::block(std::shared_ptr<const BlockData> data) {
  return SeriesBlock(std::move(data));
}

const std::shared_ptr<const BlockData>& BlockData::of(const SeriesBlock& block) {
  return block.data_;
}

const std::shared_ptr<const void>& BlockData::owner_of(const Series& series) {
  return series.owner_;
}

bool BlockData::has_gaps() const {
  Known known = gaps_known.load(std::memory_order_relaxed);
  if (known == Known::nothing) {
    known = find_gap(*this) ? Known::yes : Known::no;
    gaps_known.store(known, std::memory_order_relaxed);
  }
  return known == Known::yes;
}

bool BlockData::is_all_gap() const {
  bool any = false;
  for (std::size_t i = 0; i < layout->channels().size(); ++i) {
    const SampleCount count = count_samples(*this, i);
    if (count.gaps != count.size) return false;
    any = any || count.size != 0;
  }
  return any;
}

}  // namespace arrakis::inline v1
