#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/util/compression.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "arrakis/arrow.hpp"
#include "files/block_sink.hpp"
#include "files/file_schema.hpp"
#include "files/pending_stream.hpp"
#include "files/whole_strides.hpp"

namespace arrakis::inline v1 {
namespace {

// A block is a row; rows are gathered, because what stands around a batch of a few samples a column
// is many times as long as they are.
constexpr std::size_t kArrowGroupBytes = std::size_t{16} << 20U;
constexpr std::size_t kParquetGroupBytes = std::size_t{64} << 20U;
// What a column of one row takes in memory beside its samples: offsets and padding.
constexpr std::size_t kColumnBytes = 192;

/// Rows in groups of bounded size.
class TableSink : public BlockSink {
 public:
  TableSink(const ChannelSet& channels, std::size_t group_bytes)
      : schema_(file_schema(channels)), group_bytes_(group_bytes) {}

  void write(const SeriesBlock& given) override {
    const SeriesBlock block = in_whole_strides(given);  // a row has one time for all its channels
    std::size_t bytes = block.size() * kColumnBytes;
    for (std::size_t i = 0; i < block.size(); ++i) bytes += block.at(i).bytes().size();
    if (!rows_.empty() && bytes_ + bytes > group_bytes_) flush();
    rows_.push_back(to_column_batch(block, schema_));
    bytes_ += bytes;
    if (bytes_ >= group_bytes_) flush();
  }

 protected:
  void flush() {
    if (rows_.empty()) return;
    const std::vector<std::shared_ptr<arrow::RecordBatch>> rows = std::move(rows_);
    rows_.clear();
    bytes_ = 0;
    write_group(require_value(arrow::ConcatenateRecordBatches(rows)));
  }
  virtual void write_group(const std::shared_ptr<arrow::RecordBatch>& group) = 0;
  [[nodiscard]] const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }

 private:
  std::shared_ptr<arrow::Schema> schema_;
  std::size_t group_bytes_;
  std::vector<std::shared_ptr<arrow::RecordBatch>> rows_;
  std::size_t bytes_ = 0;
};

class ArrowSink final : public TableSink {
 public:
  ArrowSink(PendingFile& file, const ChannelSet& channels)
      : TableSink(channels, kArrowGroupBytes),
        file_(file),
        stream_(std::make_shared<PendingStream>(file)),
        writer_(stream_->require(arrow::ipc::MakeFileWriter(stream_, schema()))) {}

  void finish() override {
    flush();
    stream_->require(writer_->Close());
  }

 protected:
  void write_group(const std::shared_ptr<arrow::RecordBatch>& group) override {
    const std::uint64_t before = file_.size();
    const arrow::Status status = writer_->WriteRecordBatch(*group);
    if (status.ok()) return;
    // Without the batch that is cut short, the footer finds room and the file is whole.
    file_.truncate(before);
    stream_->require(status);
  }

 private:
  PendingFile& file_;
  std::shared_ptr<PendingStream> stream_;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer_;
};

std::shared_ptr<parquet::WriterProperties> parquet_properties() {
  parquet::WriterProperties::Builder builder;
  // Samples seldom repeat as whole values, so that a dictionary of them only costs.
  builder.disable_dictionary();
  if (arrow::util::Codec::IsAvailable(arrow::Compression::ZSTD)) {
    builder.compression(arrow::Compression::ZSTD);
  }
  return builder.build();
}

class ParquetSink final : public TableSink {
 public:
  ParquetSink(PendingFile& file, const ChannelSet& channels)
      : TableSink(channels, kParquetGroupBytes),
        stream_(std::make_shared<PendingStream>(file)),
        writer_(stream_->require(parquet::arrow::FileWriter::Open(
            *schema(), arrow::default_memory_pool(), stream_, parquet_properties(),
            parquet::ArrowWriterProperties::Builder().store_schema()->build()))) {}

  void finish() override {
    stream_->require_unbroken();  // a row group that was cut short can't be taken back
    flush();
    stream_->require(writer_->Close());
  }

 protected:
  void write_group(const std::shared_ptr<arrow::RecordBatch>& group) override {
    const auto table = require_value(arrow::Table::FromRecordBatches({group}));
    stream_->require(writer_->WriteTable(*table, table->num_rows()));
  }

 private:
  std::shared_ptr<PendingStream> stream_;
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
};

}  // namespace

std::unique_ptr<BlockSink> make_arrow_sink(PendingFile& file, const ChannelSet& channels) {
  return std::make_unique<ArrowSink>(file, channels);
}

std::unique_ptr<BlockSink> make_parquet_sink(PendingFile& file, const ChannelSet& channels) {
  return std::make_unique<ParquetSink>(file, channels);
}

}  // namespace arrakis::inline v1
