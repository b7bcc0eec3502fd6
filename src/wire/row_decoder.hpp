#pragma once

/// Decodes the messages of one stream (one partition's topic) into parts.
///
/// Messages are untrusted: whatever arrives is either decoded, or refused with a reason; nothing
/// outside the message is read, nothing large is allocated. From message to message everything but
/// times and samples repeats byte for byte, so a message that compares equal to the last one in all
/// other places reuses its layout and is not parsed.
/// Not safe from several threads at once.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arrakis/channel.hpp"
#include "arrakis/fwd.hpp"

namespace arrakis::inline v1 {

/// A received message and what keeps its memory alive. The bytes need no alignment.
struct ReceivedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

struct DecodeLimits {
  /// Bytes that a compressed message may unfold to, in all.
  std::size_t max_decompressed_bytes = std::size_t{64} << 20U;
};

struct DecodeResult {
  enum class Status {
    decoded,  ///< at least one part; its channels are gaps where no row was usable
    no_rows,  ///< well-formed, but no row of a wanted channel
    bad,      ///< refused; `reason` says why
  };
  Status status = Status::bad;
  BlockPartPtr part;               ///< the first part; nullptr unless decoded
  std::vector<BlockPartPtr> more;  ///< further ones: a message may hold several batches
  /// Rows without an id, and wanted ones of the wrong type or length, now gaps.
  std::size_t dropped_rows = 0;
  std::string reason;  ///< why the message is bad, or why the first of the dropped rows is
};

class RowDecoder {
 public:
  /// `channels`: the stream's, told apart in messages by their partition_index, which each must
  /// have. A channel whose stride is known must have rows of that duration.
  explicit RowDecoder(ChannelSet channels, DecodeLimits limits = {});
  ~RowDecoder();
  RowDecoder(RowDecoder&&) noexcept;
  RowDecoder& operator=(RowDecoder&&) noexcept;

  DecodeResult decode(ReceivedBytes message);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace arrakis::inline v1
