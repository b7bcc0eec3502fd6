#pragma once

/// The frame of a row message: an Arrow IPC stream of one schema and its record batches.
///
/// Says where in the message each buffer of the columns `time`, `id` and `data` lies; looks at no
/// buffer itself. Arrow's own reader is not used here: it would read extra columns and allocate
/// what a message declares, and the positions are what lets the next message be compared with this
/// one.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "arrakis/channel.hpp"
#include "core/result.hpp"
#include "wire/ipc_metadata.hpp"

namespace arrakis::inline v1 {

/// The buffers of the three columns.
enum RowBuffer : std::size_t {
  time_values,
  id_validity,
  id_values,
  list_validity,
  list_offsets,
  sample_validity,
  sample_values,
  row_buffer_count
};

struct RowBatch {
  std::size_t rows = 0;
  std::size_t samples = 0;       ///< elements of the list's child
  std::size_t sample_nulls = 0;  ///< of them declared null
  ByteRange sample_nulls_field;  ///< where the message says so
  BodyCodec codec = BodyCodec::none;
  /// In the message; a validity of size 0 means that nothing is null.
  std::array<ByteRange, row_buffer_count> buffers{};
};

struct RowMessage {
  bool signed_ids = false;
  bool large_offsets = false;
  DataType type = DataType::int8;
  std::vector<RowBatch> batches;  ///< those with rows
  bool has_empty_batches = false;
};

/// Reads the frame. Error(decode) says what is wrong with it: cut off, not Arrow, other columns or
/// types, dictionaries, nested and extension types, nulls among the times.
Result<RowMessage> parse_row_message(std::span<const std::byte> message);

}  // namespace arrakis::inline v1
