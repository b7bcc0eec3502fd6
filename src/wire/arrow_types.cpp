#include "wire/arrow_types.hpp"

#include <arrow/type.h>

#include <new>

namespace arrakis::inline v1 {

const std::shared_ptr<arrow::DataType>& arrow_type(DataType type) {
  switch (type) {
    case DataType::int8:
      return arrow::int8();
    case DataType::int16:
      return arrow::int16();
    case DataType::int32:
      return arrow::int32();
    case DataType::int64:
      return arrow::int64();
    case DataType::uint8:
      return arrow::uint8();
    case DataType::uint16:
      return arrow::uint16();
    case DataType::uint32:
      return arrow::uint32();
    case DataType::uint64:
      return arrow::uint64();
    case DataType::float32:
      return arrow::float32();
    case DataType::float64:
      break;
  }
  return arrow::float64();
}

std::optional<DataType> sample_type(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::INT8:
      return DataType::int8;
    case arrow::Type::INT16:
      return DataType::int16;
    case arrow::Type::INT32:
      return DataType::int32;
    case arrow::Type::INT64:
      return DataType::int64;
    case arrow::Type::UINT8:
      return DataType::uint8;
    case arrow::Type::UINT16:
      return DataType::uint16;
    case arrow::Type::UINT32:
      return DataType::uint32;
    case arrow::Type::UINT64:
      return DataType::uint64;
    case arrow::Type::FLOAT:
      return DataType::float32;
    case arrow::Type::DOUBLE:
      return DataType::float64;
    default:
      return std::nullopt;
  }
}

void require_ok(const arrow::Status& status) {
  if (status.ok()) return;
  if (status.IsOutOfMemory()) throw std::bad_alloc();
  throw Error(Errc::unsupported, status.ToString());
}

}  // namespace arrakis::inline v1
