#pragma once

/// Arrow's sample types and statuses in terms of ours.

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <optional>
#include <utility>

#include "arrakis/channel.hpp"

namespace arrakis::inline v1 {

const std::shared_ptr<arrow::DataType>& arrow_type(DataType type);
/// Nothing for what is not a sample type.
std::optional<DataType> sample_type(const arrow::DataType& type);

/// For Arrow calls that fail only for want of memory or by a fault of ours: throws std::bad_alloc
/// or Error(unsupported) with Arrow's text.
void require_ok(const arrow::Status& status);
template <typename T>
T require_value(arrow::Result<T> result) {
  require_ok(result.status());
  return std::move(result).ValueUnsafe();
}

}  // namespace arrakis::inline v1
