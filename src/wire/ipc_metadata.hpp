#pragma once

/// The metadata of Arrow's IPC messages: what messages of rows and messages of columns have in
/// common. Arrow's own reader is not used for them, because it makes objects of every column,
/// wanted or not, and allocates what a message declares.
///
/// Nothing read here is trusted: every position is checked against the message.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "arrakis/channel.hpp"
#include "core/result.hpp"
#include "wire/flat_table.hpp"

namespace arrakis::inline v1 {

struct ByteRange {
  std::size_t offset = 0;
  std::size_t size = 0;
  [[nodiscard]] std::size_t end() const { return offset + size; }
};

enum class BodyCodec : std::uint8_t { none, lz4_frame, zstd };

enum class IpcHeader : std::uint8_t { none, schema, dictionary_batch, record_batch };

/// What the metadata of one message says of it.
struct IpcMessage {
  IpcHeader kind = IpcHeader::none;
  FlatTable header;
  std::int64_t body_length = 0;
};
/// `metadata` must outlive the result. What is damaged inside the header shows in it later.
Result<IpcMessage> read_ipc_message(FlatBuffer& metadata);

/// The fields of a schema. Error(decode) for big-endian data.
Result<FlatVector> schema_fields(const FlatTable& schema);
std::string_view field_name(const FlatTable& field);
/// Nothing for what is not a sample type.
std::optional<DataType> sample_type_of(const FlatTable& field);
struct ListType {
  bool large_offsets = false;
  DataType item = DataType::int8;
};
/// Error(decode) for what is no list of samples, in plain encoding.
Result<ListType> list_type_of(const FlatTable& field, std::string_view name);
/// Error(decode) for dictionaries and extension types.
Result<void> refuse_encodings(const FlatTable& field, std::string_view name);

/// Where a field stands among a batch's nodes and buffers.
struct FieldPlace {
  std::size_t node = 0;
  std::size_t buffer = 0;  ///< not counting the variadic ones
  std::size_t views = 0;   ///< fields before it that have variadic buffers
};
/// Counts the nodes and buffers that stand for a schema's fields, one after the other.
class FieldCounter {
 public:
  /// Of the next field.
  [[nodiscard]] FieldPlace place() const { return next_; }
  void count_flat() { count(1, 2); }
  void count_list() { count(2, 4); }
  /// A field of any type that is not nested.
  Result<void> pass_over(const FlatTable& field, std::string_view name);

 private:
  void count(std::size_t nodes, std::size_t buffers) {
    next_.node += nodes;
    next_.buffer += buffers;
  }
  FieldPlace next_;
};

/// One record batch's header. What is wrong with it is kept for problem().
class IpcBatch {
 public:
  /// `body` lies where the caller's ranges are to point into.
  IpcBatch(const FlatTable& header, ByteRange body);

  struct Node {
    std::int64_t length = 0;
    std::int64_t nulls = 0;
  };
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  /// Error(decode) for an unknown compression.
  [[nodiscard]] Result<BodyCodec> codec() const;
  Node node(const FieldPlace& field);
  /// Where in the metadata the node's null count stands.
  [[nodiscard]] ByteRange nulls_field(const FieldPlace& field) const;
  /// The field's nth buffer, inside the body.
  ByteRange buffer(const FieldPlace& field, std::size_t nth);
  /// The field's validity bitmap; empty when nothing is null. Without nulls a bitmap means nothing,
  /// whether it is there or not.
  ByteRange validity(const FieldPlace& field, std::int64_t nulls);
  /// Empty as long as nothing is.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  ByteRange refuse(std::string problem);

  FlatTable header_;
  FlatVector nodes_, buffers_, variadic_counts_;
  ByteRange body_;
  std::int64_t rows_;
  std::string problem_;
};

}  // namespace arrakis::inline v1
