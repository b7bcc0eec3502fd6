#include "wire/row_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "core/result.hpp"
#include "wire/inflater.hpp"
#include "wire/row_message.hpp"
#include "wire/row_table.hpp"

namespace arrakis::inline v1 {
namespace {

using Bytes = std::span<const std::byte>;

// A topic's messages come in a few shapes: with gaps and without, with the slow channels and
// without them.
constexpr std::size_t kMaxKnownShapes = 4;
// What is kept to compare with: 12 bytes a row and the headers, so a million rows are enough.
constexpr std::size_t kMaxComparedBytes = std::size_t{16} << 20U;

/// What a message looks like outside of its times, samples and their validity: a message equal to
/// it in all other bytes was checked when the first such one was.
class Shape {
 public:
  /// None when the values overlap what decides where they lie, or there is too much to keep.
  static std::unique_ptr<const Shape> of(Bytes message, const RowBatch& batch,
                                         std::shared_ptr<const RowLayout> layout) {
    auto made = std::make_unique<Shape>();
    Shape& shape = *made;
    shape.size_ = message.size();
    shape.times_ = batch.buffers[time_values];
    shape.values_ = batch.buffers[sample_values];
    shape.validity_ = batch.buffers[sample_validity];
    shape.samples_ = batch.samples;
    shape.layout_ = std::move(layout);
    std::vector<ByteRange> free = {shape.times_, shape.values_};
    if (batch.sample_nulls != 0) {
      shape.nulls_field_ = batch.sample_nulls_field;
      free.push_back(shape.validity_);
      free.push_back(shape.nulls_field_);
    }
    for (const RowBuffer which : {id_validity, id_values, list_validity, list_offsets}) {
      if (overlap_any(free, batch.buffers[which])) return nullptr;
    }
    if (!shape.keep_all_but(message, std::move(free))) return nullptr;
    return made;
  }

  [[nodiscard]] bool fits(Bytes message) const {
    if (message.size() != size_) return false;
    const std::byte* kept = kept_.data();
    for (const ByteRange& range : compared_) {
      if (std::memcmp(message.data() + range.offset, kept, range.size) != 0) return false;
      kept += range.size;
    }
    // Zero nulls would make the bitmap meaningless, and more than there are samples is nonsense.
    if (nulls_field_.size == 0) return true;
    std::int64_t nulls = 0;
    std::memcpy(&nulls, message.data() + nulls_field_.offset, sizeof nulls);
    return nulls > 0 && static_cast<std::size_t>(nulls) <= samples_;
  }

  /// The part of a message that fits.
  [[nodiscard]] BlockPartPtr part_of(ReceivedBytes message) const {
    std::int64_t time = 0;
    std::memcpy(&time, message.bytes.data() + times_.offset, sizeof time);
    return std::make_shared<RowPart>(
        GpsTime::from_ns(time), layout_, message.bytes.data() + values_.offset,
        Bitmap{message.bytes.subspan(validity_.offset, validity_.size)}, std::move(message.owner));
  }

  [[nodiscard]] const RowLayout& layout() const { return *layout_; }

 private:
  static bool overlap_any(const std::vector<ByteRange>& ranges, const ByteRange& other) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const ByteRange& range) {
      return range.offset < other.end() && other.offset < range.end();
    });
  }

  bool keep_all_but(Bytes message, std::vector<ByteRange> free) {
    std::erase_if(free, [](const ByteRange& range) { return range.size == 0; });
    std::sort(free.begin(), free.end(),
              [](const ByteRange& a, const ByteRange& b) { return a.offset < b.offset; });
    free.push_back({message.size(), 0});
    std::size_t position = 0;
    std::size_t total = 0;
    for (const ByteRange& range : free) {
      if (range.offset < position) return false;
      if (range.offset > position) compared_.push_back({position, range.offset - position});
      total += range.offset - position;
      position = range.end();
    }
    if (total > kMaxComparedBytes) return false;
    kept_.reserve(total);
    for (const ByteRange& range : compared_) {
      const Bytes bytes = message.subspan(range.offset, range.size);
      kept_.insert(kept_.end(), bytes.begin(), bytes.end());
    }
    return true;
  }

  std::size_t size_ = 0;
  std::vector<ByteRange> compared_;
  std::vector<std::byte> kept_;  // of compared_, one after the other
  ByteRange times_, values_, validity_, nulls_field_;
  std::size_t samples_ = 0;
  std::shared_ptr<const RowLayout> layout_;
};

Bitmap bitmap_in(Bytes bytes) { return Bitmap{bytes, 0}; }

RowTable table_of(const RowMessage& message, const RowBatch& batch,
                  const std::array<Bytes, row_buffer_count>& buffers) {
  RowTable table;
  table.rows = batch.rows;
  table.times = buffers[time_values];
  table.ids = buffers[id_values];
  table.signed_ids = message.signed_ids;
  table.id_validity = bitmap_in(buffers[id_validity]);
  table.offsets = buffers[list_offsets];
  table.large_offsets = message.large_offsets;
  table.list_validity = bitmap_in(buffers[list_validity]);
  table.type = message.type;
  table.values = buffers[sample_values];
  table.value_count = batch.samples;
  table.validity = bitmap_in(buffers[sample_validity]);
  return table;
}

DecodeResult refused(std::string reason) {
  DecodeResult result;
  result.reason = std::move(reason);
  return result;
}

void add_part(DecodeResult& result, BlockPartPtr part) {
  result.status = DecodeResult::Status::decoded;
  if (result.part == nullptr) {
    result.part = std::move(part);
  } else {
    result.more.push_back(std::move(part));
  }
}

void add_drops(DecodeResult& result, const RowLayout& layout) {
  if (layout.dropped_rows == 0) return;
  if (result.dropped_rows == 0) result.reason = layout.drop_reason;
  result.dropped_rows += layout.dropped_rows;
}

}  // namespace

class RowDecoder::Impl {
 public:
  Impl(ChannelSet channels, DecodeLimits limits) : mapper_(std::move(channels)), limits_(limits) {}

  DecodeResult decode(ReceivedBytes message) {
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      if (!shapes_[i]->fits(message.bytes)) continue;
      bring_to_front(i);
      DecodeResult result;
      add_drops(result, shapes_.front()->layout());
      add_part(result, shapes_.front()->part_of(std::move(message)));
      return result;
    }
    return parse(message);
  }

 private:
  DecodeResult parse(const ReceivedBytes& received) {
    const Result<RowMessage> message = parse_row_message(received.bytes);
    if (!message) return refused(message.error().what());

    DecodeResult result;
    result.status = DecodeResult::Status::no_rows;
    bool has_useless = false;  // a batch of wanted rows of which none is usable
    Inflater inflater(limits_.max_decompressed_bytes);
    for (const RowBatch& batch : message->batches) {
      std::span<const ByteRange> ranges = batch.buffers;
      Bytes bytes = received.bytes;
      std::shared_ptr<const void> owner = received.owner;
      Inflater::Unfolded unfolded;
      if (batch.codec != BodyCodec::none) {
        auto done = inflater.unfold(received.bytes, ranges, batch.codec);
        if (!done) return refused(done.error().what());
        unfolded = *std::move(done);
        ranges = unfolded.ranges;
        bytes = unfolded.bytes;
        owner = std::move(unfolded.owner);
      }
      std::array<Bytes, row_buffer_count> buffers;
      for (std::size_t i = 0; i < row_buffer_count; ++i) {
        buffers[i] = bytes.subspan(ranges[i].offset, ranges[i].size);
      }
      const RowTable table = table_of(*message, batch, buffers);
      Result<RowLayout> mapped = mapper_.map(table);
      if (!mapped) return refused(mapped.error().what());
      add_drops(result, *mapped);
      if (!mapped->usable) {
        has_useless |= mapped->wanted_rows != 0;
        continue;
      }

      const auto layout = std::make_shared<const RowLayout>(*std::move(mapped));
      add_part(result, std::make_shared<RowPart>(first_time(table), layout, table.values.data(),
                                                 table.validity, std::move(owner)));
      const bool comparable = message->batches.size() == 1 && !message->has_empty_batches &&
                              batch.codec == BodyCodec::none;
      if (comparable) remember(received.bytes, batch, layout);
    }
    // A part of it would take the slot of a message that may still come.
    if (result.status == DecodeResult::Status::no_rows && has_useless) {
      result.status = DecodeResult::Status::bad;
    }
    return result;
  }

  void remember(Bytes message, const RowBatch& batch, std::shared_ptr<const RowLayout> layout) {
    std::unique_ptr<const Shape> shape = Shape::of(message, batch, std::move(layout));
    if (shape == nullptr) return;
    if (shapes_.size() == kMaxKnownShapes) shapes_.pop_back();
    shapes_.push_back(std::move(shape));
    bring_to_front(shapes_.size() - 1);
  }

  void bring_to_front(std::size_t index) {
    for (; index != 0; --index) std::swap(shapes_[index], shapes_[index - 1]);
  }

  RowMapper mapper_;
  DecodeLimits limits_;
  std::vector<std::unique_ptr<const Shape>> shapes_;  // the one that fitted last comes first
};

RowDecoder::RowDecoder(ChannelSet channels, DecodeLimits limits)
    : impl_(std::make_unique<Impl>(std::move(channels), limits)) {}
RowDecoder::~RowDecoder() = default;
RowDecoder::RowDecoder(RowDecoder&&) noexcept = default;
RowDecoder& RowDecoder::operator=(RowDecoder&&) noexcept = default;

DecodeResult RowDecoder::decode(ReceivedBytes message) { return impl_->decode(std::move(message)); }

}  // namespace arrakis::inline v1
