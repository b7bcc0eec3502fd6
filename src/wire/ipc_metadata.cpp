#include "wire/ipc_metadata.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/quote.hpp"

namespace arrakis::inline v1 {
namespace {

// Numbers of Arrow's Message.fbs and Schema.fbs.
constexpr std::int16_t kVersionV4 = 3;
constexpr std::int16_t kVersionV5 = 4;
constexpr std::int16_t kLittleEndian = 0;
constexpr std::size_t kReferenceBytes = 4;
constexpr std::size_t kNodeBytes = 16;    // length, null count
constexpr std::size_t kBufferBytes = 16;  // offset, length
constexpr std::size_t kInt64Bytes = 8;
constexpr std::string_view kExtensionKey = "ARROW:extension:name";

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

// No honest message comes near; it bounds the work that a small one can ask for.
constexpr std::size_t kMaxMetadataKeys = 1024;  // of one column
constexpr std::size_t kMaxShownName = 40;       // bytes of it in a message

tl::unexpected<Error> bad(const std::string& reason) { return failure(Errc::decode, reason); }

Type type_of(const FlatTable& field) {
  return Type{field.scalar<std::uint8_t>(field_field::type_type, 0)};
}

}  // namespace

Result<IpcMessage> read_ipc_message(FlatBuffer& metadata) {
  const FlatTable root = FlatTable::root(metadata);
  const auto version = root.scalar<std::int16_t>(message_field::version, 0);
  IpcMessage message;
  message.kind = IpcHeader{root.scalar<std::uint8_t>(message_field::header_type, 0)};
  message.header = root.table(message_field::header);
  message.body_length = root.scalar<std::int64_t>(message_field::body_length, 0);
  if (metadata.damaged() || !message.header) return bad("not Arrow: damaged metadata");
  if (version != kVersionV4 && version != kVersionV5) {
    return bad(fmt::format("Arrow metadata of version {}", version + 1));
  }
  return message;
}

Result<FlatVector> schema_fields(const FlatTable& schema) {
  if (schema.scalar<std::int16_t>(schema_field::endianness, kLittleEndian) != kLittleEndian) {
    return bad("big-endian data");
  }
  return schema.vector(schema_field::fields, kReferenceBytes);
}

std::string_view field_name(const FlatTable& field) { return field.string(field_field::name); }

std::optional<DataType> sample_type_of(const FlatTable& field) {
  const FlatTable type = field.table(field_field::type);
  switch (type_of(field)) {
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

Result<ListType> list_type_of(const FlatTable& field, std::string_view name) {
  const FlatVector children = field.vector(field_field::children, kReferenceBytes);
  const Type type = type_of(field);
  if ((type != Type::list && type != Type::large_list) || children.size() != 1) {
    return bad(fmt::format("column {} is not a list", quoted(name, kMaxShownName)));
  }
  const FlatTable item = children.table(0);
  if (auto plain = refuse_encodings(item, name); !plain) return tl::unexpected(plain.error());
  const std::optional<DataType> item_type = sample_type_of(item);
  if (!item_type) {
    return bad(
        fmt::format("column {} is not a list of a sample type", quoted(name, kMaxShownName)));
  }
  return ListType{type == Type::large_list, *item_type};
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

Result<void> FieldCounter::pass_over(const FlatTable& field, std::string_view name) {
  if (field.vector(field_field::children, kReferenceBytes).size() != 0) {
    return bad(fmt::format("column {} is of a nested type", quoted(name, kMaxShownName)));
  }
  switch (type_of(field)) {
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

IpcBatch::IpcBatch(const FlatTable& header, ByteRange body)
    : header_(header),
      nodes_(header.vector(batch_field::nodes, kNodeBytes)),
      buffers_(header.vector(batch_field::buffers, kBufferBytes)),
      variadic_counts_(header.vector(batch_field::variadic_counts, kInt64Bytes)),
      body_(body),
      rows_(header.scalar<std::int64_t>(batch_field::length, 0)) {
  if (rows_ < 0) problem_ = fmt::format("{} rows", rows_);
}

Result<BodyCodec> IpcBatch::codec() const {
  const FlatTable compression = header_.table(batch_field::compression);
  if (!compression) return BodyCodec::none;
  const auto codec = compression.scalar<std::int8_t>(compression_field::codec, 0);
  const auto method = compression.scalar<std::int8_t>(compression_field::method, 0);
  if (method != 0 || (codec != 0 && codec != 1)) {
    return bad(fmt::format("unknown compression {}, method {}", codec, method));
  }
  return codec == 0 ? BodyCodec::lz4_frame : BodyCodec::zstd;
}

IpcBatch::Node IpcBatch::node(const FieldPlace& field) {
  if (field.node >= nodes_.size()) {
    problem_ = "a batch of fewer columns than its schema";
    return {};
  }
  const Node node{nodes_.read<std::int64_t>(field.node),
                  nodes_.read<std::int64_t>(field.node, sizeof(std::int64_t))};
  if (node.nulls < 0 || node.nulls > node.length) {
    problem_ = fmt::format("{} nulls among {} elements", node.nulls, node.length);
  }
  return node;
}

ByteRange IpcBatch::nulls_field(const FieldPlace& field) const {
  return {nodes_.position(field.node) + sizeof(std::int64_t), sizeof(std::int64_t)};
}

ByteRange IpcBatch::refuse(std::string problem) {
  problem_ = std::move(problem);
  return {};
}

ByteRange IpcBatch::buffer(const FieldPlace& field, std::size_t nth) {
  std::size_t index = field.buffer + nth;
  for (std::size_t i = 0; i < field.views; ++i) {
    const std::int64_t more =
        i < variadic_counts_.size() ? variadic_counts_.read<std::int64_t>(i) : -1;
    if (more < 0 || static_cast<std::size_t>(more) > buffers_.size()) {
      return refuse("wrong number of variadic buffers");
    }
    index += static_cast<std::size_t>(more);
  }
  if (index >= buffers_.size()) return refuse("a batch of fewer buffers than its schema asks for");
  const auto offset = buffers_.read<std::int64_t>(index);
  const auto size = buffers_.read<std::int64_t>(index, sizeof(std::int64_t));
  if (offset < 0 || size < 0 || static_cast<std::size_t>(offset) > body_.size ||
      static_cast<std::size_t>(size) > body_.size - static_cast<std::size_t>(offset)) {
    return refuse(
        fmt::format("a buffer of {} bytes at {} in a body of {} bytes", size, offset, body_.size));
  }
  return {body_.offset + static_cast<std::size_t>(offset), static_cast<std::size_t>(size)};
}

ByteRange IpcBatch::validity(const FieldPlace& field, std::int64_t nulls) {
  if (nulls == 0) return {};
  const ByteRange range = buffer(field, 0);
  return range.size == 0 ? refuse("nulls without a validity bitmap") : range;
}

}  // namespace arrakis::inline v1
