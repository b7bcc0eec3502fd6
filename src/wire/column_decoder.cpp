#include "wire/column_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "core/budget.hpp"
#include "core/quote.hpp"
#include "core/result.hpp"
#include "wire/aligned_bytes.hpp"
#include "wire/bitmap.hpp"
#include "wire/inflater.hpp"
#include "wire/ipc_metadata.hpp"
#include "wire/part.hpp"

namespace arrakis::inline v1 {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kTimeColumn = "time";
// What no honest message comes near.
constexpr std::size_t kMaxColumns = 1'000'000;
constexpr std::size_t kMaxMetadataBytes = std::size_t{256} << 20U;
// A stream's batches come in a few shapes: with gaps and without.
constexpr std::size_t kMaxKnownShapes = 4;
// A body's buffers begin at multiples of it.
constexpr std::size_t kAlignment = 8;

tl::unexpected<Error> bad(const std::string& reason) { return failure(Errc::decode, reason); }

template <typename T>
T load(Bytes bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

/// The column of one channel, by the schema.
struct Column {
  std::size_t channel = 0;
  FieldPlace place;
  bool large_offsets = false;
};

/// What the schema says of the columns.
struct ColumnPlan {
  FieldPlace time;
  std::vector<Column> columns;
};

/// Where each channel's samples lie in a body; the same for every batch with the same metadata and
/// the same list offsets.
struct ColumnLayout {
  struct Span {
    std::size_t values = 0;  ///< where the first sample stands, in bytes
    std::size_t size = 0;    ///< samples; 0: the channel is absent
    ByteRange validity;      ///< size 0: nothing is null
    std::size_t validity_bit = 0;
  };
  struct Offsets {
    std::size_t position = 0;
    std::int64_t first = 0;
    std::int64_t end = 0;
    bool large = false;
  };
  std::vector<Span> spans;       ///< by channel
  std::vector<Offsets> offsets;  ///< of the lists that have samples
  std::size_t time = 0;
  Duration duration{};
  bool complete = false;      ///< no channel is absent
  std::size_t alignment = 1;  ///< that every channel's samples need
  /// Whether every batch with the same metadata and offsets has this layout, and not only those
  /// with the same samples missing.
  bool is_repeatable = false;
};

/// The first and the end of a list's items.
std::pair<std::int64_t, std::int64_t> read_offsets(Bytes body, std::size_t position, bool large) {
  if (large) {
    return {load<std::int64_t>(body, position),
            load<std::int64_t>(body, position + sizeof(std::int64_t))};
  }
  return {load<std::int32_t>(body, position),
          load<std::int32_t>(body, position + sizeof(std::int32_t))};
}

class ColumnMessagePart final : public BlockPart {
 public:
  ColumnMessagePart(std::shared_ptr<const ColumnLayout> layout, ReceivedBytes body)
      : BlockPart(GpsTime::from_ns(load<std::int64_t>(body.bytes, layout->time)), layout->duration,
                  body.bytes.size()),
        layout_(std::move(layout)),
        owner_(std::move(body.owner)),
        bytes_(body.bytes),
        aligned_(bytes_, layout_->alignment) {}

  [[nodiscard]] Samples samples(std::size_t channel) const override {
    if (channel >= layout_->spans.size()) return {};
    const ColumnLayout::Span& span = layout_->spans[channel];
    if (span.size == 0) return {};
    Samples samples;
    samples.present = true;
    samples.size = span.size;
    samples.values = aligned_.data() + span.values;
    samples.gap_count = gaps_in(span);
    if (samples.gap_count != 0) {
      samples.validity = validity_of(span);
      samples.validity_offset = span.validity_bit;
    }
    return samples;
  }

  [[nodiscard]] bool has_gaps() const override {
    return !layout_->complete ||
           std::any_of(layout_->spans.begin(), layout_->spans.end(),
                       [this](const ColumnLayout::Span& span) { return gaps_in(span) != 0; });
  }

 private:
  [[nodiscard]] const std::uint8_t* validity_of(const ColumnLayout::Span& span) const {
    return reinterpret_cast<const std::uint8_t*>(bytes_.data()) + span.validity.offset;
  }
  [[nodiscard]] std::size_t gaps_in(const ColumnLayout::Span& span) const {
    if (span.validity.size == 0) return 0;
    return count_zero_bits(validity_of(span), span.validity_bit, span.size);
  }

  std::shared_ptr<const ColumnLayout> layout_;
  std::shared_ptr<const void> owner_;
  Bytes bytes_;
  AlignedBytes aligned_;
};

Result<ColumnPlan> read_plan(const FlatTable& schema, const ChannelSet& channels) {
  const Result<FlatVector> fields = schema_fields(schema);
  if (!fields) return tl::unexpected(fields.error());
  if (fields->size() > kMaxColumns) return bad(fmt::format("{} columns", fields->size()));
  ColumnPlan plan;
  FieldCounter counter;
  std::vector<bool> found(channels.size());
  bool has_time = false;
  for (std::size_t i = 0; i < fields->size(); ++i) {
    const FlatTable field = fields->table(i);
    const std::string_view name = field_name(field);
    if (name == kTimeColumn) {
      if (std::exchange(has_time, true)) return bad("two columns 'time'");
      if (sample_type_of(field) != DataType::int64) return bad("column 'time' is not int64");
      plan.time = counter.place();
      counter.count_flat();
      continue;
    }
    if (auto plain = refuse_encodings(field, name); !plain) return tl::unexpected(plain.error());
    const std::optional<std::size_t> channel = channels.find(name);
    const Result<ListType> type = list_type_of(field, name);
    if (!channel && !type) {
      if (auto passed = counter.pass_over(field, name); !passed) {
        return tl::unexpected(passed.error());
      }
      continue;
    }
    if (channel) {
      if (!type) return tl::unexpected(type.error());
      const DataType wanted = channels[*channel].data_type();
      if (type->item != wanted) {
        return bad(fmt::format("column {} is a list of {} where {} is declared", quoted(name),
                               to_string(type->item), to_string(wanted)));
      }
      if (found[*channel]) return bad(fmt::format("two columns {}", quoted(name)));
      found[*channel] = true;
      plan.columns.push_back({*channel, counter.place(), type->large_offsets});
    }
    counter.count_list();
  }
  if (!has_time) return bad("no column 'time'");
  return plan;
}

/// Finds the samples of one batch.
class BatchMapper {
 public:
  BatchMapper(const ChannelSet& channels, std::optional<Duration> stride, const ColumnPlan& plan)
      : channels_(channels), stride_(stride), plan_(plan) {}

  /// Reads the header: which buffers there are. rows() is known afterwards.
  Result<void> read(IpcBatch batch) {
    rows_ = batch.rows();
    if (rows_ < 0) return bad(batch.problem());
    const Result<BodyCodec> codec = batch.codec();
    if (!codec) return tl::unexpected(codec.error());
    codec_ = *codec;
    if (rows_ == 0) return {};
    if (rows_ != 1) return bad(fmt::format("{} rows; a batch has one, the block", rows_));
    const IpcBatch::Node time = batch.node(plan_.time);
    ranges_.reserve(1 + plan_.columns.size() * 3);
    ranges_.push_back(batch.buffer(plan_.time, 1));
    if (time.nulls != 0) return bad("the block's time is null");
    items_.reserve(plan_.columns.size());
    for (const Column& column : plan_.columns) {
      const FieldPlace item{column.place.node + 1, column.place.buffer + 2, column.place.views};
      const IpcBatch::Node list = batch.node(column.place);
      const IpcBatch::Node samples = batch.node(item);
      items_.push_back({samples, list.nulls != 0});
      ranges_.push_back(batch.buffer(column.place, 1));
      ranges_.push_back(batch.validity(item, samples.nulls));
      ranges_.push_back(batch.buffer(item, 1));
      if (!batch.problem().empty() || list.length != 1 || samples.length < 0) {
        return bad(fmt::format("column {}: {}", quoted(channels_[column.channel].name()),
                               batch.problem().empty() ? "not one row" : batch.problem()));
      }
    }
    if (!batch.problem().empty()) return bad(batch.problem());
    if (time.length != 1) return bad("column 'time' has not one row");
    return {};
  }

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] BodyCodec codec() const { return codec_; }
  /// In the body: the time, then offsets, validity and values of each column.
  std::vector<ByteRange>& ranges() { return ranges_; }

  /// Looks at the lists' offsets and says where the samples are.
  Result<ColumnLayout> map(Bytes body) const {
    ColumnLayout layout;
    if (ranges_[0].size < sizeof(std::int64_t)) return bad("the block has no time");
    layout.time = ranges_[0].offset;
    layout.spans.resize(channels_.size());
    layout.offsets.reserve(plan_.columns.size());
    for (std::size_t i = 0; i < plan_.columns.size(); ++i) {
      if (items_[i].is_null) continue;
      const Column& column = plan_.columns[i];
      auto span = span_of(i, body, layout);
      if (!span) {
        return bad(fmt::format("column {}: {}", quoted(channels_[column.channel].name()),
                               span.error().what()));
      }
      layout.spans[column.channel] = *span;
      layout.alignment = std::max(layout.alignment, size_of(channels_[column.channel].data_type()));
    }
    if (auto settled = settle_duration(body, layout); !settled) {
      return tl::unexpected(settled.error());
    }
    return layout;
  }

 private:
  struct Items {
    IpcBatch::Node samples;
    bool is_null = false;  ///< the list itself
  };

  Result<ColumnLayout::Span> span_of(std::size_t i, Bytes body, ColumnLayout& layout) const {
    const Column& column = plan_.columns[i];
    const ByteRange& offsets = ranges_[1 + 3 * i];
    const ByteRange& validity = ranges_[2 + 3 * i];
    const ByteRange& values = ranges_[3 + 3 * i];
    const auto length = static_cast<std::size_t>(items_[i].samples.length);
    const std::size_t width = size_of(channels_[column.channel].data_type());
    if (offsets.size < 2 * (column.large_offsets ? sizeof(std::int64_t) : sizeof(std::int32_t))) {
      // Arrow leaves them out where there is nothing.
      if (offsets.size == 0 && length == 0) return ColumnLayout::Span{};
      return bad(fmt::format("{} bytes of list offsets", offsets.size));
    }
    const auto [first, end] = read_offsets(body, offsets.offset, column.large_offsets);
    if (first < 0 || end < first || end > items_[i].samples.length) {
      return bad(fmt::format("a list from {} to {} of {} samples", first, end, length));
    }
    layout.offsets.push_back({offsets.offset, first, end, column.large_offsets});
    if (length > values.size / width) {
      return bad(fmt::format("{} bytes for {} samples of {} bytes", values.size, length, width));
    }
    if (values.offset % kAlignment != 0) return bad("its samples are misaligned");
    if (validity.size != 0 && validity.size < bitmap_bytes(length)) {
      return bad(fmt::format("a bitmap of {} bytes for {} samples", validity.size, length));
    }
    ColumnLayout::Span span;
    span.values = values.offset + static_cast<std::size_t>(first) * width;
    span.size = static_cast<std::size_t>(end - first);
    span.validity = validity;
    span.validity_bit = static_cast<std::size_t>(first);
    return span;
  }

  /// The duration of the block: the stride where some column has it, else that of the first column
  /// with a sample. Columns of other lengths must be all gaps.
  Result<void> settle_duration(Bytes body, ColumnLayout& layout) const {
    std::optional<std::size_t> leader;
    bool has_stride = false;
    for (std::size_t c = 0; c < layout.spans.size() && !has_stride; ++c) {
      const ColumnLayout::Span& span = layout.spans[c];
      if (span.size == 0) continue;
      has_stride = duration_of(c, span) == stride_;
      if (has_stride || (!leader && !is_all_null(body, span))) leader = c;
    }
    if (leader) {
      layout.duration = duration_of(*leader, layout.spans[*leader]);
    } else if (stride_) {
      layout.duration = *stride_;
    } else {
      return bad("no samples, of channels without a common stride");
    }
    layout.complete = true;
    layout.is_repeatable = has_stride;
    for (std::size_t c = 0; c < layout.spans.size(); ++c) {
      ColumnLayout::Span& span = layout.spans[c];
      if (span.size != 0 && duration_of(c, span) != layout.duration) {
        if (!is_all_null(body, span)) {
          return bad(fmt::format("column {} has {} samples, {} ns, in a block of {} ns",
                                 quoted(channels_[c].name()), span.size,
                                 duration_of(c, span).count(), layout.duration.count()));
        }
        span = {};
        layout.is_repeatable = false;
      }
      if (span.size == 0) layout.complete = false;
    }
    return {};
  }

  [[nodiscard]] Duration duration_of(std::size_t channel, const ColumnLayout::Span& span) const {
    return channels_[channel].sample_rate().duration_of(span.size);
  }

  static bool is_all_null(Bytes body, const ColumnLayout::Span& span) {
    if (span.validity.size == 0) return false;
    const auto* bits = reinterpret_cast<const std::uint8_t*>(body.data()) + span.validity.offset;
    return count_zero_bits(bits, span.validity_bit, span.size) == span.size;
  }

  const ChannelSet& channels_;
  std::optional<Duration> stride_;
  const ColumnPlan& plan_;
  std::int64_t rows_ = 0;
  BodyCodec codec_ = BodyCodec::none;
  std::vector<Items> items_;
  std::vector<ByteRange> ranges_;
};

/// What a batch looks like outside of its time, samples and their validity.
struct Shape {
  std::vector<std::byte> metadata;
  std::size_t body_size = 0;
  std::shared_ptr<const ColumnLayout> layout;

  [[nodiscard]] bool fits(Bytes its_metadata, Bytes body) const {
    if (its_metadata.size() != metadata.size() || body.size() != body_size ||
        std::memcmp(its_metadata.data(), metadata.data(), metadata.size()) != 0) {
      return false;
    }
    return std::all_of(
        layout->offsets.begin(), layout->offsets.end(), [body](const ColumnLayout::Offsets& list) {
          return read_offsets(body, list.position, list.large) == std::pair(list.first, list.end);
        });
  }
};

ColumnResult refused(std::string reason) {
  return {ColumnResult::Status::bad, nullptr, std::move(reason)};
}

}  // namespace

class ColumnDecoder::Impl {
 public:
  Impl(ChannelSet channels, DecodeLimits limits) : channels_(std::move(channels)), limits_(limits) {
    if (auto stride = common_stride(channels_.channels())) stride_ = *stride;
  }

  ColumnResult decode(Bytes metadata, ReceivedBytes body) {
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      if (!shapes_[i].fits(metadata, body.bytes)) continue;
      bring_to_front(i);
      return decoded(shapes_.front().layout, std::move(body));
    }
    if (metadata.size() > kMaxMetadataBytes) {
      return refused(fmt::format("{} bytes of metadata", metadata.size()));
    }
    FlatBuffer buffer(metadata);
    const Result<IpcMessage> message = read_ipc_message(buffer);
    if (!message) return refused(message.error().what());
    if (message->kind == IpcHeader::schema) return read_schema(buffer, message->header);
    if (message->kind != IpcHeader::record_batch) return refused("no record batch");
    return read_batch(buffer, metadata, *message, body);
  }

 private:
  ColumnResult read_schema(const FlatBuffer& buffer, const FlatTable& header) {
    shapes_.clear();
    plan_ = read_plan(header, channels_);
    if (buffer.damaged()) plan_ = bad("a damaged schema");
    ColumnResult result;
    result.status = ColumnResult::Status::schema;
    if (!*plan_) result.reason = plan_->error().what();
    return result;
  }

  ColumnResult read_batch(const FlatBuffer& buffer, Bytes metadata, const IpcMessage& message,
                          ReceivedBytes& body) {
    if (!plan_) return refused("a batch before its schema");
    if (!*plan_) return refused(plan_->error().what());
    if (message.body_length < 0 ||
        static_cast<std::size_t>(message.body_length) > body.bytes.size()) {
      return refused(fmt::format("cut off: a body of {} bytes announced, {} there",
                                 message.body_length, body.bytes.size()));
    }
    BatchMapper mapper(channels_, stride_, **plan_);
    const auto read = mapper.read(IpcBatch(message.header, {0, body.bytes.size()}));
    if (buffer.damaged()) return refused("a damaged batch header");
    if (!read) return refused(read.error().what());
    if (mapper.rows() == 0) return {ColumnResult::Status::empty, nullptr, {}};

    const bool is_plain = mapper.codec() == BodyCodec::none;
    if (!is_plain) {
      Inflater inflater(limits_.max_decompressed_bytes);
      auto unfolded = inflater.unfold(body.bytes, mapper.ranges(), mapper.codec());
      if (!unfolded) return refused(unfolded.error().what());
      mapper.ranges() = std::move(unfolded->ranges);
      body = {unfolded->bytes, std::move(unfolded->owner)};
    }
    Result<ColumnLayout> layout = mapper.map(body.bytes);
    if (!layout) return refused(layout.error().what());
    auto shared = std::make_shared<const ColumnLayout>(*std::move(layout));
    if (is_plain && shared->is_repeatable) remember(metadata, body.bytes.size(), shared);
    return decoded(std::move(shared), std::move(body));
  }

  static ColumnResult decoded(std::shared_ptr<const ColumnLayout> layout, ReceivedBytes body) {
    return {ColumnResult::Status::decoded,
            std::make_shared<ColumnMessagePart>(std::move(layout), std::move(body)),
            {}};
  }

  void remember(Bytes metadata, std::size_t body_size, std::shared_ptr<const ColumnLayout> layout) {
    if (shapes_.size() == kMaxKnownShapes) shapes_.pop_back();
    shapes_.push_back({{metadata.begin(), metadata.end()}, body_size, std::move(layout)});
    bring_to_front(shapes_.size() - 1);
  }

  void bring_to_front(std::size_t index) {
    for (; index != 0; --index) std::swap(shapes_[index], shapes_[index - 1]);
  }

  ChannelSet channels_;
  DecodeLimits limits_;
  std::optional<Duration> stride_;
  std::optional<Result<ColumnPlan>> plan_;
  std::vector<Shape> shapes_;  // the one that fitted last comes first
};

ColumnDecoder::ColumnDecoder(ChannelSet channels, DecodeLimits limits)
    : impl_(std::make_unique<Impl>(std::move(channels), limits)) {}
ColumnDecoder::~ColumnDecoder() = default;
ColumnDecoder::ColumnDecoder(ColumnDecoder&&) noexcept = default;
ColumnDecoder& ColumnDecoder::operator=(ColumnDecoder&&) noexcept = default;

ColumnResult ColumnDecoder::decode(Bytes metadata, ReceivedBytes body) {
  return impl_->decode(metadata, std::move(body));
}

}  // namespace arrakis::inline v1
