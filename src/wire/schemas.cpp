#include "wire/schemas.hpp"

#include <arrow/type.h>

namespace arrakis::inline v1::schemas {
namespace {

constexpr bool kNotNull = false;

arrow::FieldVector partition_fields() {
  return {
      arrow::field("channel", arrow::utf8(), kNotNull),
      arrow::field("data_type", arrow::utf8(), kNotNull),
      arrow::field("sample_rate", arrow::int32(), kNotNull),
      arrow::field("partition_id", arrow::utf8()),
      arrow::field("partition_index", arrow::uint32()),
  };
}

}

std::shared_ptr<arrow::Schema> metadata() {
  arrow::FieldVector fields = partition_fields();
  fields.push_back(arrow::field("publisher", arrow::utf8()));
  fields.push_back(arrow::field("stride", arrow::uint64()));
  fields.push_back(arrow::field("max_latency", arrow::uint64()));
  fields.push_back(arrow::field("replay_id", arrow::utf8()));
  return arrow::schema(std::move(fields));
}

std::shared_ptr<arrow::Schema> partition() { return arrow::schema(partition_fields()); }

std::shared_ptr<arrow::Schema> count() {
  return arrow::schema({arrow::field("count", arrow::int64())});
}

std::shared_ptr<arrow::Schema> publish() {
  return arrow::schema(
      {arrow::field("properties", arrow::map(arrow::utf8(), arrow::utf8()), kNotNull)});
}

}  // namespace arrakis::inline v1::schemas
