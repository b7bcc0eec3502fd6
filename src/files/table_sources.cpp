#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/properties.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "arrakis/arrow.hpp"
#include "files/block_source.hpp"
#include "files/file_schema.hpp"
#include "files/istream_input.hpp"
#include "files/limited_pool.hpp"

namespace arrakis::inline v1 {
namespace {

// Rows that are taken out of a Parquet file at once.
constexpr std::int64_t kParquetRows = 64;
constexpr int kMaxNesting = 8;  // a column of blocks has two levels

// Arrow's own words, in one line.
std::string reason_of(const arrow::Status& status) {
  std::string text = status.message();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

template <typename T>
T decoded(arrow::Result<T> result) {
  if (!result.ok()) throw Error(Errc::decode, reason_of(result.status()));
  return std::move(result).ValueUnsafe();
}

/// The rows of a table, each a block.
class TableSource : public BlockSource {
 public:
  explicit TableSource(std::shared_ptr<arrow::RecordBatchReader> batches)
      : batches_(std::move(batches)), channels_(channels_of(*batches_->schema())) {}

  [[nodiscard]] const ChannelSet& channels() const override { return channels_; }

  std::optional<SeriesBlock> next() override {
    try {
      while (batch_ == nullptr || next_row_ == batch_->num_rows()) {
        const arrow::Status status = batches_->ReadNext(&batch_);
        if (!status.ok()) throw Error(Errc::decode, reason_of(status));
        if (batch_ == nullptr) return std::nullopt;
        next_row_ = 0;
      }
      SeriesBlock block = from_column_batch(batch_->Slice(next_row_, 1), channels_);
      ++next_row_;
      ++row_;
      return block;
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("row {}: {}", row_ + 1, error.what()));
    }
  }

 private:
  std::shared_ptr<arrow::RecordBatchReader> batches_;
  ChannelSet channels_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::int64_t next_row_ = 0;  // of the batch
  std::uint64_t row_ = 0;      // blocks read
};

std::shared_ptr<arrow::RecordBatchReader> open_stream(std::istream& in) {
  arrow::ipc::IpcReadOptions options;
  options.memory_pool = limited_pool();
  options.max_recursion_depth = kMaxNesting;
  return decoded(
      arrow::ipc::RecordBatchStreamReader::Open(std::make_shared<IstreamInput>(in), options));
}

/// Keeps the file open, which its batches don't.
struct ParquetFile {
  std::unique_ptr<parquet::arrow::FileReader> reader;
  std::shared_ptr<arrow::RecordBatchReader> batches;
};

ParquetFile open_parquet(const std::string& path) {
  auto file = arrow::io::ReadableFile::Open(path, limited_pool());
  if (!file.ok()) throw Error(Errc::io, reason_of(file.status()));
  parquet::ReaderProperties properties(limited_pool());
  properties.enable_buffered_stream();  // not whole columns of a row group
  parquet::ArrowReaderProperties arrow_properties;
  arrow_properties.set_batch_size(kParquetRows);
  arrow_properties.set_pre_buffer(false);
  parquet::arrow::FileReaderBuilder builder;
  const arrow::Status opened = builder.Open(*file, properties);
  if (!opened.ok()) throw Error(Errc::decode, reason_of(opened));
  ParquetFile parquet;
  parquet.reader =
      decoded(builder.memory_pool(limited_pool())->properties(arrow_properties)->Build());
  parquet.batches = decoded(parquet.reader->GetRecordBatchReader());
  return parquet;
}

class ParquetSource final : public BlockSource {
 public:
  explicit ParquetSource(const std::string& path)
      : file_(open_parquet(path)), rows_(file_.batches) {}

  [[nodiscard]] const ChannelSet& channels() const override { return rows_.channels(); }
  std::optional<SeriesBlock> next() override {
    try {
      return rows_.next();
    } catch (const parquet::ParquetException& error) {
      throw Error(Errc::decode, error.what());
    }
  }

 private:
  ParquetFile file_;
  TableSource rows_;
};

}  // namespace

std::unique_ptr<BlockSource> make_arrow_source(std::istream& in) {
  return std::make_unique<TableSource>(open_stream(in));
}

std::unique_ptr<BlockSource> make_parquet_source(const std::string& path) {
  try {
    return std::make_unique<ParquetSource>(path);
  } catch (const parquet::ParquetException& error) {
    throw Error(Errc::decode, error.what());
  }
}

}  // namespace arrakis::inline v1
