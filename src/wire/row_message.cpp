#include "wire/row_message.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string_view>
#include <utility>

#include "core/quote.hpp"
#include "wire/flat_table.hpp"

namespace arrakis::inline v1 {
namespace {

// Numbers of Arrow's Message.fbs and Schema.fbs.
constexpr std::uint32_t kContinuation = 0xFFFFFFFF;
constexpr std::int16_t kVersionV4 = 3;
constexpr std::int16_t kVersionV5 = 4;
constexpr std::int16_t kLittleEndian = 0;
constexpr std::size_t kReferenceBytes = 4;
constexpr std::size_t kNodeBytes = 16;    // length, null count
constexpr std::size_t kBufferBytes = 16;  // offset, length
constexpr std::size_t kInt64Bytes = 8;
constexpr std::string_view kExtensionKey = "ARROW:extension:name";

enum class Header : std::uint8_t { none, schema, dictionary_batch, record_batch };

enum class Type : std::uint8_t {
  none,
  null,
  integer,
  floating_point,
  binary,
  utf8,
  boolean,
  decimal,
  date,
  time,
  timestamp,
  interval,
  list,
  structure,
  sum,
  fixed_size_binary,
  fixed_size_list,
  map,
  duration,
  large_binary,
  large_utf8,
  large_list,
  run_end_encoded,
  binary_view,
  utf8_view,
};

namespace message_field {
enum : unsigned { version = 0, header_type = 1, header = 2, body_length = 3 };
}
namespace schema_field {
enum : unsigned { endianness = 0, fields = 1 };
}
namespace field_field {
enum : unsigned { name = 0, type_type = 2, type = 3, dictionary = 4, children = 5, metadata = 6 };
}
namespace int_field {
enum : unsigned { bit_width = 0, is_signed = 1 };
}
namespace float_field {
enum : unsigned { precision = 0 };
}
namespace batch_field {
enum : unsigned { length = 0, nodes = 1, buffers = 2, compression = 3, variadic_counts = 4 };
}
namespace compression_field {
enum : unsigned { codec = 0, method = 1 };
}

// Limits that no honest message comes near; they bound the work a small message can ask for.
constexpr std::size_t kMaxBatches = 256;  // each costs a table of the stream's channels
constexpr std::size_t kMaxColumns = 1024;
constexpr std::size_t kMaxMetadataKeys = 1024;  // of one column
constexpr std::size_t kMaxShownName = 40;       // bytes of it in a message

tl::unexpected<Error> bad(const std::string& reason) { return failure(Errc::decode, reason); }

/// Where a column stands among a batch's nodes and buffers.
struct Column {
  std::size_t node = 0;
  std::size_t buffer = 0;  ///< not counting the variadic ones
  std::size_t views = 0;   ///< columns before it that have variadic buffers
};

struct Columns {
  std::optional<Column> time, id, data;
  bool signed_ids = false;
  bool large_offsets = false;
  DataType type = DataType::int8;
};

std::optional<DataType> data_type_of_field(const FlatTable& field) {
  const FlatTable type = field.table(field_field::type);
  switch (Type{field.scalar<std::uint8_t>(field_field::type_type, 0)}) {
    case Type::integer: {
      const bool is_signed = type.scalar<std::uint8_t>(int_field::is_signed, 0) != 0;
      switch (type.scalar<std::int32_t>(int_field::bit_width, 0)) {
        case 8:
          return is_signed ? DataType::int8 : DataType::uint8;
        case 16:
          return is_signed ? DataType::int16 : DataType::uint16;
        case 32:
          return is_signed ? DataType::int32 : DataType::uint32;
        case 64:
          return is_signed ? DataType::int64 : DataType::uint64;
        default:
          return std::nullopt;
      }
    }
    case Type::floating_point:
      switch (type.scalar<std::int16_t>(float_field::precision, 0)) {
        case 1:
          return DataType::float32;
        case 2:
          return DataType::float64;
        default:
          return std::nullopt;
      }
    default:
      return std::nullopt;
  }
}

Result<void> refuse_encodings(const FlatTable& field, std::string_view name) {
  if (field.table(field_field::dictionary)) {
    return bad(fmt::format("column {} is dictionary-encoded", quoted(name, kMaxShownName)));
  }
  const FlatVector metadata = field.vector(field_field::metadata, kReferenceBytes);
  if (metadata.size() > kMaxMetadataKeys) {
    return bad(fmt::format("column {} has {} metadata keys", quoted(name, kMaxShownName),
                           metadata.size()));
  }
  for (std::size_t i = 0; i < metadata.size(); ++i) {
    if (metadata.table(i).string(0) == kExtensionKey) {
      return bad(fmt::format("column {} is of an extension type", quoted(name, kMaxShownName)));
    }
  }
  return {};
}

/// Walks the schema's fields, keeping count of the nodes and buffers that stand for each.
class SchemaReader {
 public:
  Result<void> read(const FlatTable& field) {
    const std::string_view name = field.string(field_field::name);
    if (auto plain = refuse_encodings(field, name); !plain) return plain;
    if (name == "time") return read_time(field);
    if (name == "id") return read_id(field);
    if (name == "data") return read_data(field);
    return pass_over(field, name);
  }

  [[nodiscard]] Result<Columns> finish() const {
    if (!columns_.time) return bad("no column 'time'");
    if (!columns_.id) return bad("no column 'id'");
    if (!columns_.data) return bad("no column 'data'");
    return columns_;
  }

 private:
  static Result<void> take(std::optional<Column>& place, const Column& column,
                           std::string_view name) {
    if (place) return bad(fmt::format("two columns '{}'", name));
    place = column;
    return {};
  }

  void count(std::size_t nodes, std::size_t buffers) {
    next_.node += nodes;
    next_.buffer += buffers;
  }

  Result<void> read_time(const FlatTable& field) {
    if (data_type_of_field(field) != DataType::int64) return bad("column 'time' is not int64");
    auto taken = take(columns_.time, next_, "time");
    count(1, 2);
    return taken;
  }

  Result<void> read_id(const FlatTable& field) {
    const std::optional<DataType> type = data_type_of_field(field);
    if (type != DataType::uint32 && type != DataType::int32) {
      return bad("column 'id' is neither uint32 nor int32");
    }
    columns_.signed_ids = type == DataType::int32;
    auto taken = take(columns_.id, next_, "id");
    count(1, 2);
    return taken;
  }

  Result<void> read_data(const FlatTable& field) {
    const Type type{field.scalar<std::uint8_t>(field_field::type_type, 0)};
    const FlatVector children = field.vector(field_field::children, kReferenceBytes);
    if ((type != Type::list && type != Type::large_list) || children.size() != 1) {
      return bad("column 'data' is not a list");
    }
    const FlatTable item = children.table(0);
    if (auto plain = refuse_encodings(item, "data.item"); !plain) return plain;
    const std::optional<DataType> item_type = data_type_of_field(item);
    if (!item_type) return bad("column 'data' is not a list of a sample type");
    columns_.large_offsets = type == Type::large_list;
    columns_.type = *item_type;
    auto taken = take(columns_.data, next_, "data");
    count(2, 4);
    return taken;
  }

  Result<void> pass_over(const FlatTable& field, std::string_view name) {
    if (field.vector(field_field::children, kReferenceBytes).size() != 0) {
      return bad(fmt::format("column {} is of a nested type", quoted(name, kMaxShownName)));
    }
    switch (Type{field.scalar<std::uint8_t>(field_field::type_type, 0)}) {
      case Type::null:
        count(1, 0);
        return {};
      case Type::integer:
      case Type::floating_point:
      case Type::boolean:
      case Type::decimal:
      case Type::date:
      case Type::time:
      case Type::timestamp:
      case Type::interval:
      case Type::duration:
      case Type::fixed_size_binary:
        count(1, 2);
        return {};
      case Type::binary:
      case Type::utf8:
      case Type::large_binary:
      case Type::large_utf8:
        count(1, 3);
        return {};
      case Type::binary_view:
      case Type::utf8_view:
        count(1, 2);
        ++next_.views;
        return {};
      default:
        return bad(
            fmt::format("column {} is of a nested or unknown type", quoted(name, kMaxShownName)));
    }
  }

  Columns columns_;
  Column next_;
};

Result<Columns> read_schema(const FlatTable& schema) {
  if (schema.scalar<std::int16_t>(schema_field::endianness, kLittleEndian) != kLittleEndian) {
    return bad("big-endian data");
  }
  const FlatVector fields = schema.vector(schema_field::fields, kReferenceBytes);
  if (fields.size() > kMaxColumns) return bad(fmt::format("{} columns", fields.size()));
  SchemaReader reader;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (auto read = reader.read(fields.table(i)); !read) return tl::unexpected(read.error());
  }
  return reader.finish();
}

/// Reads one record batch's header against the schema's columns.
class BatchReader {
 public:
  BatchReader(const FlatTable& batch, ByteRange body, std::size_t metadata_offset)
      : nodes_(batch.vector(batch_field::nodes, kNodeBytes)),
        buffers_(batch.vector(batch_field::buffers, kBufferBytes)),
        variadic_counts_(batch.vector(batch_field::variadic_counts, kInt64Bytes)),
        table_(batch),
        body_(body),
        metadata_offset_(metadata_offset) {}

  Result<RowBatch> read(const Columns& columns) {
    RowBatch batch;
    const auto rows = table_.scalar<std::int64_t>(batch_field::length, 0);
    if (rows < 0) return bad(fmt::format("{} rows", rows));
    batch.rows = static_cast<std::size_t>(rows);
    if (auto read = read_codec(batch); !read) return tl::unexpected(read.error());
    if (batch.rows == 0) return batch;

    if (node(*columns.time).nulls != 0) return bad("null in 'time'");
    use_buffer(batch, time_values, *columns.time, 1);
    use_validity(batch, id_validity, *columns.id, node(*columns.id).nulls);
    use_buffer(batch, id_values, *columns.id, 1);
    use_validity(batch, list_validity, *columns.data, node(*columns.data).nulls);
    use_buffer(batch, list_offsets, *columns.data, 1);
    for (const Column* column : {&*columns.time, &*columns.id, &*columns.data}) {
      if (node(*column).length != rows) problem_ = "columns of different lengths";
    }

    Column item = *columns.data;
    ++item.node;
    item.buffer += 2;
    const Node samples = node(item);
    if (samples.length < 0) return bad(fmt::format("{} samples", samples.length));
    batch.samples = static_cast<std::size_t>(samples.length);
    use_validity(batch, sample_validity, item, samples.nulls);
    use_buffer(batch, sample_values, item, 1);
    if (!problem_.empty()) return bad(problem_);
    batch.sample_nulls = static_cast<std::size_t>(samples.nulls);
    batch.sample_nulls_field = {
        metadata_offset_ + nodes_.position(item.node) + sizeof(std::int64_t), sizeof(std::int64_t)};
    return batch;
  }

 private:
  struct Node {
    std::int64_t length = 0;
    std::int64_t nulls = 0;
  };

  Node node(const Column& column) {
    if (column.node >= nodes_.size()) {
      problem_ = "a batch of fewer columns than its schema";
      return {};
    }
    const Node node{nodes_.read<std::int64_t>(column.node),
                    nodes_.read<std::int64_t>(column.node, sizeof(std::int64_t))};
    if (node.nulls < 0 || node.nulls > node.length) {
      problem_ = fmt::format("{} nulls among {} elements", node.nulls, node.length);
    }
    return node;
  }

  void use_buffer(RowBatch& batch, RowBuffer which, const Column& column, std::size_t nth) {
    std::size_t index = column.buffer + nth;
    for (std::size_t i = 0; i < column.views; ++i) {
      const std::int64_t more =
          i < variadic_counts_.size() ? variadic_counts_.read<std::int64_t>(i) : -1;
      if (more < 0 || static_cast<std::size_t>(more) > buffers_.size()) {
        problem_ = "wrong number of variadic buffers";
        return;
      }
      index += static_cast<std::size_t>(more);
    }
    if (index >= buffers_.size()) {
      problem_ = "a batch of fewer buffers than its schema asks for";
      return;
    }
    const auto offset = buffers_.read<std::int64_t>(index);
    const auto size = buffers_.read<std::int64_t>(index, sizeof(std::int64_t));
    if (offset < 0 || size < 0 || static_cast<std::size_t>(offset) > body_.size ||
        static_cast<std::size_t>(size) > body_.size - static_cast<std::size_t>(offset)) {
      problem_ =
          fmt::format("a buffer of {} bytes at {} in a body of {} bytes", size, offset, body_.size);
      return;
    }
    batch.buffers[which] = {body_.offset + static_cast<std::size_t>(offset),
                            static_cast<std::size_t>(size)};
  }

  /// Without nulls a bitmap means nothing, whether it is there or not.
  void use_validity(RowBatch& batch, RowBuffer which, const Column& column, std::int64_t nulls) {
    if (nulls == 0) return;
    use_buffer(batch, which, column, 0);
    if (batch.buffers[which].size == 0) problem_ = "nulls without a validity bitmap";
  }

  Result<void> read_codec(RowBatch& batch) const {
    const FlatTable compression = table_.table(batch_field::compression);
    if (!compression) return {};
    const auto codec = compression.scalar<std::int8_t>(compression_field::codec, 0);
    const auto method = compression.scalar<std::int8_t>(compression_field::method, 0);
    if (method != 0 || (codec != 0 && codec != 1)) {
      return bad(fmt::format("unknown compression {}, method {}", codec, method));
    }
    batch.codec = codec == 0 ? BodyCodec::lz4_frame : BodyCodec::zstd;
    return {};
  }

  FlatVector nodes_, buffers_, variadic_counts_;
  FlatTable table_;
  ByteRange body_;
  std::size_t metadata_offset_;
  std::string problem_;
};

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
    const FlatTable root = FlatTable::root(buffer);
    const auto version = root.scalar<std::int16_t>(message_field::version, 0);
    const Header kind{root.scalar<std::uint8_t>(message_field::header_type, 0)};
    const FlatTable header = root.table(message_field::header);
    const auto body_length = root.scalar<std::int64_t>(message_field::body_length, 0);
    if (buffer.damaged() || !header) return bad("not Arrow: damaged metadata");
    if (version != kVersionV4 && version != kVersionV5) {
      return bad(fmt::format("Arrow metadata of version {}", version + 1));
    }
    const Result<ByteRange> body = frames.take_body(body_length);
    if (!body) return tl::unexpected(body.error());

    if (kind == Header::schema && !columns) {
      Result<Columns> read = read_schema(header);
      if (buffer.damaged()) return bad("damaged schema");
      if (!read) return tl::unexpected(read.error());
      columns = *read;
    } else if (kind == Header::record_batch && columns) {
      Result<RowBatch> batch = BatchReader(header, *body, metadata->offset).read(*columns);
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
