#include "wire/schemas.hpp"

#include <arrow/type.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrakis/arrow.hpp"
#include "vectors/arrow_json.hpp"
#include "vectors/compare.hpp"
#include "vectors/handlers.hpp"
#include "vectors/vector_json.hpp"

namespace arrakis::vectors {
namespace {

using SchemaPtr = std::shared_ptr<arrow::Schema>;

constexpr std::string_view kRowPrefix = "kafka_row_";
constexpr std::string_view kStreamPrefix = "stream_";

DataType arrow_type_named(const std::string& name) {
  if (name == "float") return DataType::float32;
  const std::optional<DataType> type = parse_data_type(name);
  if (!type) throw std::runtime_error(fmt::format("malformed: '{}' is no sample type", name));
  return *type;
}

/// The channels of the list columns described, last one first: the library must sort them.
ChannelSet channels_described(const Json& description) {
  std::vector<Channel> channels;
  for (const Json& field : description.at("fields")) {
    if (!field.contains("item")) continue;
    const Json rate = Json::parse(string_at(field.at("metadata"), "rate"));
    channels.emplace_back(string_at(field, "name"),
                          arrow_type_named(string_at(field.at("item"), "type")), rate_of(rate));
  }
  std::ranges::reverse(channels);
  return ChannelSet(std::move(channels));
}

/// The library's schema of that name, or nullptr.
SchemaPtr schema_named(std::string_view name, const Json& description) {
  if (name == "find_describe") return schemas::metadata();
  if (name == "partition") return schemas::partition();
  if (name == "count") return schemas::count();
  if (name == "publish") return schemas::publish();
  if (name.starts_with(kStreamPrefix)) return column_schema(channels_described(description));
  if (name.starts_with(kRowPrefix)) {
    const std::optional<DataType> type = parse_data_type(name.substr(kRowPrefix.size()));
    if (type) return row_schema(*type);
  }
  return nullptr;
}

Finding compare_schema(const arrow::Schema& schema, const Json& description,
                       const std::string& message) {
  std::string found = difference(description, schema_json(schema));
  if (found.empty() && schema_message(schema) != message) found = "the serialized bytes differ";
  return {.difference = found};
}

}  // namespace

void replay_schemas(const VectorFile& file, FileReport& report) {
  for (const auto& [name, description] : file.content.items()) {
    const std::string& key = name;
    report.run("", key, [&, &fields = description]() -> Finding {
      const SchemaPtr schema = schema_named(key, fields);
      if (schema == nullptr) throw std::runtime_error("no schema of that name");
      return compare_schema(*schema, fields, read_bytes(file.folder / (key + ".arrow")));
    });
  }
}

}  // namespace arrakis::vectors
