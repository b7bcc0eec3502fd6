#pragma once

/// Arrow data as vectors describe it in JSON, and the files that they come with.

#include <arrow/type_fwd.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace arrakis::vectors {

/// The bytes of a file; throws when it can't be read.
std::string read_bytes(const std::filesystem::path& path);

struct IpcStream {
  std::shared_ptr<arrow::Schema> schema;
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
};
/// Reads an Arrow IPC stream; throws when it isn't a valid one.
IpcStream read_ipc(const std::string& bytes);

/// {"fields": [{"name", "type", "nullable", "metadata"?, "item"?, "key"?, "value"?}], "metadata"}
nlohmann::json schema_json(const arrow::Schema& schema);
/// The schema as an encapsulated IPC message.
std::string schema_message(const arrow::Schema& schema);
/// Each row as an object of its columns.
nlohmann::json rows_json(const arrow::RecordBatch& batch);
/// {"time": [...], "columns": {NAME: [[samples]]}}
nlohmann::json columns_json(const arrow::RecordBatch& batch);

}  // namespace arrakis::vectors
