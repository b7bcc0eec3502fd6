#include "vectors/arrow_json.hpp"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace arrakis::vectors {
namespace {

using Json = nlohmann::json;

template <typename T>
T value_or_throw(arrow::Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().ToString());
  return *std::move(result);
}

Json metadata_json(const std::shared_ptr<const arrow::KeyValueMetadata>& metadata) {
  if (metadata == nullptr || metadata->size() == 0) return {};
  Json object = Json::object();
  for (std::int64_t i = 0; i < metadata->size(); ++i) object[metadata->key(i)] = metadata->value(i);
  return object;
}

Json child_json(const arrow::Field& field) {
  return {
      {"name", field.name()}, {"type", field.type()->ToString()}, {"nullable", field.nullable()}};
}

Json field_json(const arrow::Field& field) {
  Json object = child_json(field);
  if (Json metadata = metadata_json(field.metadata()); !metadata.is_null()) {
    object["metadata"] = std::move(metadata);
  }
  const arrow::DataType& type = *field.type();
  if (type.id() == arrow::Type::LIST || type.id() == arrow::Type::LARGE_LIST) {
    object["item"] = child_json(*type.field(0));
  } else if (type.id() == arrow::Type::MAP) {
    const auto& map = dynamic_cast<const arrow::MapType&>(type);
    object["key"] = child_json(*map.key_field());
    object["value"] = child_json(*map.item_field());
  }
  return object;
}

Json real_json(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

template <typename ArrayType>
auto typed_value(const arrow::Array& array, std::int64_t row) {
  return dynamic_cast<const ArrayType&>(array).GetView(row);
}

Json value_json(const arrow::Array& array, std::int64_t row);

template <typename ListArray>
Json elements_json(const arrow::Array& array, std::int64_t row) {
  const auto& lists = dynamic_cast<const ListArray&>(array);
  Json elements = Json::array();
  for (std::int64_t i = 0; i < lists.value_length(row); ++i) {
    elements.push_back(value_json(*lists.values(), lists.value_offset(row) + i));
  }
  return elements;
}

Json map_json(const arrow::Array& array, std::int64_t row) {
  const auto& maps = dynamic_cast<const arrow::MapArray&>(array);
  Json object = Json::object();
  for (std::int64_t i = 0; i < maps.value_length(row); ++i) {
    const std::int64_t entry = maps.value_offset(row) + i;
    object[value_json(*maps.keys(), entry).get<std::string>()] = value_json(*maps.items(), entry);
  }
  return object;
}

Json value_json(const arrow::Array& array, std::int64_t row) {
  if (array.IsNull(row)) return {};
  switch (array.type_id()) {
    case arrow::Type::INT8:
      return typed_value<arrow::Int8Array>(array, row);
    case arrow::Type::INT16:
      return typed_value<arrow::Int16Array>(array, row);
    case arrow::Type::INT32:
      return typed_value<arrow::Int32Array>(array, row);
    case arrow::Type::INT64:
      return typed_value<arrow::Int64Array>(array, row);
    case arrow::Type::UINT8:
      return typed_value<arrow::UInt8Array>(array, row);
    case arrow::Type::UINT16:
      return typed_value<arrow::UInt16Array>(array, row);
    case arrow::Type::UINT32:
      return typed_value<arrow::UInt32Array>(array, row);
    case arrow::Type::UINT64:
      return typed_value<arrow::UInt64Array>(array, row);
    case arrow::Type::FLOAT:
      return real_json(static_cast<double>(typed_value<arrow::FloatArray>(array, row)));
    case arrow::Type::DOUBLE:
      return real_json(typed_value<arrow::DoubleArray>(array, row));
    case arrow::Type::STRING:
      return std::string(typed_value<arrow::StringArray>(array, row));
    case arrow::Type::LIST:
      return elements_json<arrow::ListArray>(array, row);
    case arrow::Type::LARGE_LIST:
      return elements_json<arrow::LargeListArray>(array, row);
    case arrow::Type::MAP:
      return map_json(array, row);
    default:
      throw std::runtime_error(fmt::format("a column of type {}", array.type()->ToString()));
  }
}

Json column_json(const arrow::Array& array) {
  Json values = Json::array();
  for (std::int64_t row = 0; row < array.length(); ++row) values.push_back(value_json(array, row));
  return values;
}

}  // namespace

std::string read_bytes(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  std::string bytes(error ? 0 : size, '\0');
  std::ifstream input(path, std::ios::binary);
  input.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!input) {
    throw std::runtime_error(fmt::format("{} cannot be read", path.filename().string()));
  }
  return bytes;
}

IpcStream read_ipc(const std::string& bytes) {
  const auto input = std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes));
  const auto reader = value_or_throw(arrow::ipc::RecordBatchStreamReader::Open(input));
  IpcStream stream{reader->schema(), value_or_throw(reader->ToRecordBatches())};
  for (const auto& batch : stream.batches) {
    if (const arrow::Status status = batch->ValidateFull(); !status.ok()) {
      throw std::runtime_error(status.ToString());
    }
  }
  return stream;
}

Json schema_json(const arrow::Schema& schema) {
  Json fields = Json::array();
  for (const auto& field : schema.fields()) fields.push_back(field_json(*field));
  return {{"fields", std::move(fields)}, {"metadata", metadata_json(schema.metadata())}};
}

std::string schema_message(const arrow::Schema& schema) {
  return value_or_throw(arrow::ipc::SerializeSchema(schema))->ToString();
}

Json rows_json(const arrow::RecordBatch& batch) {
  Json rows = Json::array();
  for (std::int64_t row = 0; row < batch.num_rows(); ++row) {
    Json object = Json::object();
    for (int column = 0; column < batch.num_columns(); ++column) {
      object[batch.column_name(column)] = value_json(*batch.column(column), row);
    }
    rows.push_back(std::move(object));
  }
  return rows;
}

Json columns_json(const arrow::RecordBatch& batch) {
  Json time;
  Json columns = Json::object();
  for (int i = 0; i < batch.num_columns(); ++i) {
    Json values = column_json(*batch.column(i));
    if (i == 0) {
      time = std::move(values);
    } else {
      columns[batch.column_name(i)] = std::move(values);
    }
  }
  return {{"time", std::move(time)}, {"columns", std::move(columns)}};
}

}  // namespace arrakis::vectors
