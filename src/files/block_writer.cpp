#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "arrakis/files.hpp"
#include "core/quote.hpp"
#include "files/block_sink.hpp"
#include "files/pending_file.hpp"

namespace arrakis::inline v1 {
namespace {

std::unique_ptr<BlockSink> make_sink(PendingFile& file, FileFormat format,
                                     const ChannelSet& channels, GapForm gaps) {
  switch (format) {
    case FileFormat::arrow:
      return make_arrow_sink(file, channels);
    case FileFormat::parquet:
      return make_parquet_sink(file, channels);
    case FileFormat::hdf5:
      return make_hdf5_sink(file, channels, gaps);
    case FileFormat::csv:
      return make_csv_sink(file, channels, gaps);
    case FileFormat::npz:
      break;
  }
  return make_npz_sink(file, channels, gaps);
}

void require_same(const Channel& of_file, const Channel& of_block) {
  if (of_file.data_type() == of_block.data_type() &&
      of_file.sample_rate() == of_block.sample_rate()) {
    return;
  }
  throw Error(Errc::precondition, fmt::format("the file is for {}, the block has {}",
                                              describe(of_file), describe(of_block)));
}

// Whether `block` has them in the same order; throws Error(precondition) unless it has the same.
bool has_order_of(const ChannelSet& channels, const ChannelSet& block) {
  if (channels.same_table(block)) return true;
  bool same_order = true;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const std::optional<std::size_t> place = block.find(channels[i].name());
    if (!place) {
      throw Error(Errc::precondition, fmt::format("channel {} of the file is not in the block",
                                                  arrakis::quoted(channels[i].name())));
    }
    require_same(channels[i], block[*place]);
    same_order = same_order && *place == i;
  }
  if (channels.size() != block.size()) {
    throw Error(Errc::precondition, fmt::format("the block has {} channels, the file {}",
                                                block.size(), channels.size()));
  }
  return same_order;
}

}  // namespace

class BlockWriter::Impl {
 public:
  Impl(const std::filesystem::path& path, FileFormat format, ChannelSet channels,
       const FileOptions& options)
      : channels_(std::move(channels)),
        file_(path, options.overwrite),
        sink_(make_sink(file_, format, channels_, options.gaps)) {
    for (const Channel& channel : channels_) names_.push_back(channel.name());
  }

  void write(const SeriesBlock& block) {
    if (sink_ == nullptr) throw Error(Errc::failed_precondition, "the file is closed");
    if (failed_) throw Error(*failed_);
    const SeriesBlock ordered = in_order(block);
    if (end_ && block.time() < *end_) {
      throw Error(Errc::precondition,
                  fmt::format("a block at {} ns can't follow one that ends at {} ns",
                              block.time().ns(), end_->ns()));
    }
    try {
      sink_->write(ordered);
    } catch (const Error& error) {
      if (error.code() == Errc::io) failed_ = error;
      throw;
    }
    end_ = block.end();
    for (std::size_t i = 0; i < ordered.size(); ++i) bytes_ += ordered.at(i).bytes().size();
  }

  void close() {
    if (close_failed_) throw Error(*close_failed_);
    if (sink_ == nullptr) return;
    try {
      sink_->finish();
      sink_.reset();
      file_.commit();
    } catch (const Error& error) {
      sink_.reset();
      close_failed_ = error;
      throw;
    }
  }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  SeriesBlock in_order(const SeriesBlock& block) {
    if (block.channels().same_table(checked_)) {
      return checked_has_order_ ? block : block.filter(names_);
    }
    checked_has_order_ = has_order_of(channels_, block.channels());
    checked_ = block.channels();
    return checked_has_order_ ? block : block.filter(names_);
  }

  ChannelSet channels_;
  std::vector<std::string_view> names_;
  // The last block's channels, which rarely change: they are looked at once.
  ChannelSet checked_ = channels_;
  bool checked_has_order_ = true;
  PendingFile file_;
  std::unique_ptr<BlockSink> sink_;  // nullptr once closed
  std::optional<GpsTime> end_;
  std::optional<Error> failed_, close_failed_;
  std::uint64_t bytes_ = 0;
};

BlockWriter::BlockWriter(const std::filesystem::path& path, FileFormat format,
                         const ChannelSet& channels, FileOptions options)
    : impl_(std::make_unique<Impl>(path, format, channels, options)) {}
BlockWriter::~BlockWriter() = default;
BlockWriter::BlockWriter(BlockWriter&&) noexcept = default;
BlockWriter& BlockWriter::operator=(BlockWriter&&) noexcept = default;

void BlockWriter::write(const SeriesBlock& block) { impl_->write(block); }
void BlockWriter::close() { impl_->close(); }
std::uint64_t BlockWriter::bytes() const { return impl_->bytes(); }

}  // namespace arrakis::inline v1
