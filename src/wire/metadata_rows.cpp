#include "wire/metadata_rows.hpp"

#include <arrow/array.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "arrakis/error.hpp"
#include "core/quote.hpp"

namespace arrakis::inline v1 {
namespace {

[[noreturn]] void throw_protocol(std::string_view origin, const std::string& message) {
  throw Error(Errc::protocol, fmt::format("{}: an answer {}", origin, message));
}

/// A batch, and whose answer it is.
struct Answer {
  const arrow::RecordBatch& batch;
  std::string_view origin;
};

/// A column of one type, found by its name; absent ones are null in every row.
template <typename ArrayType>
class Column {
 public:
  Column(const Answer& answer, const char* name, bool is_required) {
    const int index = answer.batch.schema()->GetFieldIndex(name);
    if (index < 0) {
      if (is_required) throw_protocol(answer.origin, fmt::format("without one column '{}'", name));
      return;
    }
    column_ = answer.batch.column(index);
    const auto expected = arrow::TypeTraits<typename ArrayType::TypeClass>::type_singleton();
    if (!column_->type()->Equals(expected)) {
      throw_protocol(answer.origin,
                     fmt::format("whose column '{}' is of type {} instead of {}", name,
                                 column_->type()->ToString(), expected->ToString()));
    }
    if (is_required && column_->null_count() > 0) {
      throw_protocol(answer.origin, fmt::format("with a null in column '{}'", name));
    }
  }

  /// Of a column that is required.
  [[nodiscard]] auto value(std::int64_t row) const { return array().GetView(row); }
  [[nodiscard]] auto at(std::int64_t row) const {
    return column_ == nullptr || column_->IsNull(row) ? std::nullopt : std::optional(value(row));
  }

 private:
  [[nodiscard]] const ArrayType& array() const { return static_cast<const ArrayType&>(*column_); }
  std::shared_ptr<arrow::Array> column_;
};

using TextColumn = Column<arrow::StringArray>;

/// Arrow's own names of the types, besides NumPy's.
std::optional<DataType> type_named(std::string_view name) {
  if (name == "float") return DataType::float32;
  return parse_data_type(name);
}

std::optional<Duration> duration_of(std::optional<std::uint64_t> ns) {
  constexpr auto kGreatest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!ns) return std::nullopt;
  return Duration(static_cast<std::int64_t>(std::min(*ns, kGreatest)));
}

std::optional<std::string> text_of(std::optional<std::string_view> text) {
  if (!text) return std::nullopt;
  return std::string(*text);
}

class MetadataReader {
 public:
  explicit MetadataReader(const Answer& answer)
      : name_(answer, "channel", true),
        data_type_(answer, "data_type", true),
        sample_rate_(answer, "sample_rate", true),
        partition_id_(answer, "partition_id", false),
        partition_index_(answer, "partition_index", false),
        publisher_(answer, "publisher", false),
        stride_(answer, "stride", false),
        max_latency_(answer, "max_latency", false),
        replay_id_(answer, "replay_id", false) {}

  void read(std::int64_t row, MetadataRows& rows) const {
    std::string name(name_.value(row));
    const std::string_view type_name = data_type_.value(row);
    const std::optional<DataType> type = type_named(type_name);
    const std::int32_t rate = sample_rate_.value(row);
    if (std::string reason = refusal(name, type_name, type, rate); !reason.empty()) {
      rows.refused.push_back({std::move(name), std::move(reason)});
      return;
    }
    Channel& channel = rows.channels.emplace_back(std::move(name), *type, SampleRate(rate));
    channel.partition_id = text_of(partition_id_.at(row));
    channel.partition_index = partition_index_.at(row);
    channel.publisher = text_of(publisher_.at(row));
    channel.stride = duration_of(stride_.at(row));
    channel.max_latency = duration_of(max_latency_.at(row));
    channel.replay_id = text_of(replay_id_.at(row));
    if (channel.replay_id && channel.replay_id->empty()) channel.replay_id.reset();
  }

 private:
  static std::string refusal(std::string_view name, std::string_view type_name,
                             std::optional<DataType> type, std::int32_t rate) {
    if (!parse_channel_name(name)) return "its name is none of a channel";
    if (!type) return fmt::format("its data type {} is none that is known", quoted(type_name));
    if (rate <= 0) return fmt::format("its sample rate comes as {}, which is no rate", rate);
    return "";
  }

  TextColumn name_;
  TextColumn data_type_;
  Column<arrow::Int32Array> sample_rate_;
  TextColumn partition_id_;
  Column<arrow::UInt32Array> partition_index_;
  TextColumn publisher_;
  Column<arrow::UInt64Array> stride_;
  Column<arrow::UInt64Array> max_latency_;
  TextColumn replay_id_;
};

}  // namespace

MetadataRows read_metadata(const arrow::RecordBatch& batch, std::string_view origin) {
  const MetadataReader reader({batch, origin});
  MetadataRows rows;
  rows.channels.reserve(static_cast<std::size_t>(batch.num_rows()));
  for (std::int64_t row = 0; row < batch.num_rows(); ++row) reader.read(row, rows);
  return rows;
}

std::uint64_t read_count(const arrow::RecordBatch& batch, std::string_view origin) {
  const Column<arrow::Int64Array> counts({batch, origin}, "count", true);
  std::uint64_t sum = 0;
  for (std::int64_t row = 0; row < batch.num_rows(); ++row) {
    if (counts.value(row) < 0) {
      throw_protocol(origin, fmt::format("with the count {}", counts.value(row)));
    }
    sum += static_cast<std::uint64_t>(counts.value(row));
  }
  return sum;
}

}  // namespace arrakis::inline v1
