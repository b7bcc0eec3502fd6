#pragma once

/// Rows of answers about channels (wire 3): to channels, and counts.

#include <arrow/record_batch.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arrakis/channel.hpp"

namespace arrakis::inline v1 {

/// A row that is no channel here: a type that can't travel, a rate that its column can't hold.
struct RefusedRow {
  std::string name;
  std::string reason;  ///< "its data type 'halffloat' is none that is known"
};
struct MetadataRows {
  std::vector<Channel> channels;
  std::vector<RefusedRow> refused;
};
/// The rows of an answer to Find or Describe. The batch must have been validated. Throws
/// Error(protocol) that names a column which is missing or has another type, behind `origin`: what
/// was asked where.
MetadataRows read_metadata(const arrow::RecordBatch& batch, std::string_view origin);

/// The sum of the rows of an answer to Count. Throws the same.
std::uint64_t read_count(const arrow::RecordBatch& batch, std::string_view origin);

}  // namespace arrakis::inline v1
