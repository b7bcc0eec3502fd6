#include "wire/row_encoder.hpp"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>

#include <cstdint>
#include <string_view>

#include "arrakis/arrow.hpp"
#include "wire/arrow_types.hpp"

namespace arrakis::inline v1 {
namespace {

// A continuation mark and the length zero.
constexpr std::string_view kEndOfStream("\xff\xff\xff\xff\0\0\0\0", 8);
// What Arrow puts before a message's metadata, and the most it pads them with.
constexpr std::size_t kMessageFrameBytes = 16;

class StringSink final : public arrow::io::OutputStream {
 public:
  explicit StringSink(std::string& text) : text_(text) {}

  arrow::Status Write(const void* data, std::int64_t size) override {
    text_.append(static_cast<const char*>(data), static_cast<std::size_t>(size));
    return arrow::Status::OK();
  }
  using OutputStream::Write;
  [[nodiscard]] arrow::Result<std::int64_t> Tell() const override {
    return static_cast<std::int64_t>(text_.size());
  }
  arrow::Status Close() override { return arrow::Status::OK(); }
  [[nodiscard]] bool closed() const override { return false; }

 private:
  std::string& text_;
};

std::string_view view(const arrow::Buffer& buffer) { return std::string_view(buffer); }

std::shared_ptr<arrow::Buffer> make_schema_message(DataType type) {
  return require_value(arrow::ipc::SerializeSchema(*row_schema(type)));
}

// The schema message depends on nothing but the type.
std::string_view schema_message(DataType type) {
  return visit_type(type, []<typename T>(T) {
    static const std::shared_ptr<arrow::Buffer> kMessage = make_schema_message(data_type_of<T>());
    return view(*kMessage);
  });
}

std::string encode_batch(const arrow::RecordBatch& batch, DataType type) {
  const auto options = arrow::ipc::IpcWriteOptions::Defaults();
  arrow::ipc::IpcPayload payload;
  require_ok(arrow::ipc::GetRecordBatchPayload(batch, options, &payload));

  const std::string_view schema = schema_message(type);
  std::string bytes;
  bytes.reserve(schema.size() + kMessageFrameBytes +
                static_cast<std::size_t>(payload.metadata->size() + payload.body_length) +
                kEndOfStream.size());
  bytes.append(schema);
  StringSink sink(bytes);
  std::int32_t metadata_length = 0;
  require_ok(arrow::ipc::WriteIpcPayload(payload, options, &sink, &metadata_length));
  bytes.append(kEndOfStream);
  return bytes;
}

}

std::vector<EncodedMessage> RowEncoder::encode(const SeriesBlock& block) {
  if (!planned_ || !planned_->same_table(block.channels())) {
    planned_.reset();
    partitions_ = plan_rows(block.channels());
    planned_ = block.channels();
  }
  std::vector<EncodedMessage> messages;
  messages.reserve(partitions_.size());
  for (const PartitionRows& partition : partitions_) {
    messages.push_back({.partition_id = partition.partition_id,
                        .topic = partition.topic,
                        .bytes = encode_batch(*row_batch(partition, block), partition.type)});
  }
  return messages;
}

std::vector<EncodedMessage> encode_messages(const SeriesBlock& block) {
  return RowEncoder().encode(block);
}

}  // namespace arrakis::inline v1
