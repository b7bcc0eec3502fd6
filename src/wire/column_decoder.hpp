#pragma once

/// Decodes the messages of one Flight stream, a column a channel and a row a batch, into parts.
///
/// Messages are untrusted, as for RowDecoder: whatever arrives is either decoded, or refused with a
/// reason. As long as a stream has the same channels with gaps, the metadata of its batches are
/// equal byte for byte; such a batch is compared, not parsed: what is left to check are the offsets
/// of its lists. Not safe from several threads at once.

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "arrakis/channel.hpp"
#include "arrakis/fwd.hpp"
#include "wire/row_decoder.hpp"

namespace arrakis::inline v1 {

struct ColumnResult {
  enum class Status {
    decoded,  ///< a part; its channels are gaps where the batch has no samples of them
    schema,   ///< the schema, which the batches after it go by
    empty,    ///< a batch without rows
    bad,      ///< refused; `reason` says why
  };
  Status status = Status::bad;
  BlockPartPtr part;
  std::string reason;
};

class ColumnDecoder {
 public:
  /// Channels are found by their names. Columns of others are passed over, and a channel without a
  /// column is a gap.
  explicit ColumnDecoder(ChannelSet channels, DecodeLimits limits = {});
  ~ColumnDecoder();
  ColumnDecoder(ColumnDecoder&&) noexcept;
  ColumnDecoder& operator=(ColumnDecoder&&) noexcept;

  /// `metadata` is the message's flatbuffer without a prefix, `body` what follows it. A batch is
  /// bad when it has no schema or does not fit it, when a channel's column is no list of its type,
  /// when there is more than one row or no time, and when columns with samples differ in length. A
  /// null or empty list is a gap of its channel, as is one of another length in which everything is
  /// null: servers count one sample too few where rate and stride don't divide.
  ColumnResult decode(std::span<const std::byte> metadata, ReceivedBytes body);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace arrakis::inline v1
