#include "wire/row_message.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "wire/ipc_metadata.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr std::uint32_t kContinuation = 0xFFFFFFFF;

// Limits that no honest message comes near; they bound the work a small message can ask for.
constexpr std::size_t kMaxBatches = 256;  // each costs a table of the stream's channels
constexpr std::size_t kMaxColumns = 1024;

tl::unexpected<Error> bad(const std::string& reason) { return failure(Errc::decode, reason); }

struct Columns {
  std::optional<FieldPlace> time, id, data;
  bool signed_ids = false;
  bool large_offsets = false;
  DataType type = DataType::int8;
};

/// Walks the schema's fields.
class SchemaReader {
 public:
  Result<void> read(const FlatTable& field) {
    const std::string_view name = field_name(field);
    if (auto plain = refuse_encodings(field, name); !plain) return plain;
    if (name == "time") return read_time(field);
    if (name == "id") return read_id(field);
    if (name == "data") return read_data(field);
    return counter_.pass_over(field, name);
  }

  [[nodiscard]] Result<Columns> finish() const {
    if (!columns_.time) return bad("no column 'time'");
    if (!columns_.id) return bad("no column 'id'");
    if (!columns_.data) return bad("no column 'data'");
    return columns_;
  }

 private:
  Result<void> take(std::optional<FieldPlace>& place, std::string_view name) {
    if (place) return bad(fmt::format("two columns '{}'", name));
    place = counter_.place();
    return {};
  }

  Result<void> read_time(const FlatTable& field) {
    if (sample_type_of(field) != DataType::int64) return bad("column 'time' is not int64");
    auto taken = take(columns_.time, "time");
    counter_.count_flat();
    return taken;
  }

  Result<void> read_id(const FlatTable& field) {
    const std::optional<DataType> type = sample_type_of(field);
    if (type != DataType::uint32 && type != DataType::int32) {
      return bad("column 'id' is neither uint32 nor int32");
    }
    columns_.signed_ids = type == DataType::int32;
    auto taken = take(columns_.id, "id");
    counter_.count_flat();
    return taken;
  }

  Result<void> read_data(const FlatTable& field) {
    const Result<ListType> type = list_type_of(field, "data");
    if (!type) return tl::unexpected(type.error());
    columns_.large_offsets = type->large_offsets;
    columns_.type = type->item;
    auto taken = take(columns_.data, "data");
    counter_.count_list();
    return taken;
  }

  Columns columns_;
  FieldCounter counter_;
};

Result<Columns> read_schema(const FlatTable& schema) {
  const Result<FlatVector> fields = schema_fields(schema);
  if (!fields) return tl::unexpected(fields.error());
  if (fields->size() > kMaxColumns) return bad(fmt::format("{} columns", fields->size()));
  SchemaReader reader;
  for (std::size_t i = 0; i < fields->size(); ++i) {
    if (auto read = reader.read(fields->table(i)); !read) return tl::unexpected(read.error());
  }
  return reader.finish();
}

/// Reads a record batch's header, `metadata_offset` bytes into the message, by the columns.
Result<RowBatch> read_batch(IpcBatch header, const Columns& columns, std::size_t metadata_offset) {
  if (header.rows() < 0) return bad(header.problem());
  RowBatch batch;
  batch.rows = static_cast<std::size_t>(header.rows());
  const Result<BodyCodec> codec = header.codec();
  if (!codec) return tl::unexpected(codec.error());
  batch.codec = *codec;
  if (batch.rows == 0) return batch;

  const FieldPlace& data = *columns.data;
  const FieldPlace item{data.node + 1, data.buffer + 2, data.views};
  const IpcBatch::Node time = header.node(*columns.time);
  const IpcBatch::Node ids = header.node(*columns.id);
  const IpcBatch::Node lists = header.node(data);
  const IpcBatch::Node samples = header.node(item);
  if (!header.problem().empty()) return bad(header.problem());
  if (time.nulls != 0) return bad("null in 'time'");
  if (time.length != header.rows() || ids.length != header.rows() ||
      lists.length != header.rows()) {
    return bad("columns of different lengths");
  }

  batch.buffers[time_values] = header.buffer(*columns.time, 1);
  batch.buffers[id_validity] = header.validity(*columns.id, ids.nulls);
  batch.buffers[id_values] = header.buffer(*columns.id, 1);
  batch.buffers[list_validity] = header.validity(data, lists.nulls);
  batch.buffers[list_offsets] = header.buffer(data, 1);
  batch.buffers[sample_validity] = header.validity(item, samples.nulls);
  batch.buffers[sample_values] = header.buffer(item, 1);
  if (!header.problem().empty()) return bad(header.problem());
  batch.samples = static_cast<std::size_t>(samples.length);
  batch.sample_nulls = static_cast<std::size_t>(samples.nulls);
  batch.sample_nulls_field = header.nulls_field(item);
  batch.sample_nulls_field.offset += metadata_offset;
  return batch;
}

/// Cuts the stream into encapsulated messages.
class FrameReader {
 public:
  explicit FrameReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  /// The next message's metadata; empty at the end of the stream, marked or not.
  Result<ByteRange> next_metadata() {
    const std::size_t left = bytes_.size() - position_;
    if (left < sizeof(std::uint32_t)) return ByteRange{};
    std::size_t prefix = sizeof(std::uint32_t);
    std::uint32_t length = word(position_);
    if (length == kContinuation) {  // absent before Arrow 0.15
      prefix += sizeof(std::uint32_t);
      if (left < prefix) return ByteRange{};
      length = word(position_ + sizeof(std::uint32_t));
    }
    if (length == 0) return ByteRange{};
    if (length > left - prefix) {
      return bad(fmt::format("cut off, or not Arrow: {} bytes of metadata announced, {} left",
                             length, left - prefix));
    }
    const ByteRange metadata{position_ + prefix, length};
    position_ = metadata.end();
    return metadata;
  }

  /// The body that follows the metadata.
  Result<ByteRange> take_body(std::int64_t length) {
    const std::size_t left = bytes_.size() - position_;
    if (length < 0 || static_cast<std::size_t>(length) > left) {
      return bad(fmt::format("cut off: a body of {} bytes announced, {} left", length, left));
    }
    const ByteRange body{position_, static_cast<std::size_t>(length)};
    position_ = body.end();
    return body;
  }

  [[nodiscard]] std::span<const std::byte> of(ByteRange range) const {
    return bytes_.subspan(range.offset, range.size);
  }

 private:
  [[nodiscard]] std::uint32_t word(std::size_t position) const {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes_.data() + position, sizeof value);
    return value;
  }

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

}  // namespace

Result<RowMessage> parse_row_message(std::span<const std::byte> message) {
  if (message.empty()) return bad("empty");
  FrameReader frames(message);
  std::optional<Columns> columns;
  RowMessage result;
  for (;;) {
    const Result<ByteRange> metadata = frames.next_metadata();
    if (!metadata) return tl::unexpected(metadata.error());
    if (metadata->size == 0) break;

    FlatBuffer buffer(frames.of(*metadata));
    const Result<IpcMessage> ipc = read_ipc_message(buffer);
    if (!ipc) return tl::unexpected(ipc.error());
    const Result<ByteRange> body = frames.take_body(ipc->body_length);
    if (!body) return tl::unexpected(body.error());

    if (ipc->kind == IpcHeader::schema && !columns) {
      Result<Columns> read = read_schema(ipc->header);
      if (buffer.damaged()) return bad("damaged schema");
      if (!read) return tl::unexpected(read.error());
      columns = *read;
    } else if (ipc->kind == IpcHeader::record_batch && columns) {
      Result<RowBatch> batch = read_batch(IpcBatch(ipc->header, *body), *columns, metadata->offset);
      if (buffer.damaged()) return bad("damaged batch header");
      if (!batch) return tl::unexpected(batch.error());
      if (batch->rows == 0) {
        result.has_empty_batches = true;
        continue;
      }
      if (result.batches.size() == kMaxBatches) {
        return bad(fmt::format("more than {} batches", kMaxBatches));
      }
      result.batches.push_back(*batch);
    } else {
      return bad(columns ? "a message that is no record batch" : "no schema at its start");
    }
  }
  if (!columns) return bad("no schema");
  result.signed_ids = columns->signed_ids;
  result.large_offsets = columns->large_offsets;
  result.type = columns->type;
  return result;
}

}  // namespace arrakis::inline v1
