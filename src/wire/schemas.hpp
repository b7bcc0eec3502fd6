#pragma once

/// The Arrow schemas of metadata, counts and publish answers (docs/protocol.md).

#include <arrow/type_fwd.h>

#include <memory>

namespace arrakis::inline v1::schemas {

std::shared_ptr<arrow::Schema> metadata();   ///< Find and Describe: nine columns
std::shared_ptr<arrow::Schema> partition();  ///< Partition exchange: the first five of them
std::shared_ptr<arrow::Schema> count();
std::shared_ptr<arrow::Schema> publish();

}  // namespace arrakis::inline v1::schemas
