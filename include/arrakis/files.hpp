#pragma once

/// Blocks into files.
///
///     arrakis::BlockWriter file("run.h5", stream.channels());
///     for (const arrakis::SeriesBlock& block : stream) file.write(block);
///     file.close();
/// and back:
///
///     arrakis::BlockReader file("run.arrow");
///     while (std::optional<arrakis::SeriesBlock> block = file.next()) use(*block);
/// @since 0.2

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/export.hpp"
#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

enum class FileFormat {
  arrow,    ///< Arrow IPC file, one row a block, as Flight streams them (".arrow", ".feather")
  parquet,  ///< the same table (".parquet")
  hdf5,     ///< a dataset a channel, as GWpy's TimeSeriesDict reads them (".h5", ".hdf5", ".hdf")
  csv,      ///< a line a sample time, a column a channel (".csv")
  npz,      ///< NumPy arrays: samples, mask and start of each channel (".npz")
};
ARRAKIS_API std::string_view to_string(FileFormat format);
/// By the name's ending, in any case; Error(invalid_argument) lists the endings.
ARRAKIS_API FileFormat file_format_of(const std::filesystem::path& path);

/// How gaps are kept where the format has no nulls of its own. Said in the file.
enum class GapForm {
  mask,  ///< a mask beside the samples; samples under it are zero
  nan,   ///< NaN; integers become float64
};

struct FileOptions {
  GapForm gaps = GapForm::mask;
  /// Replace a file that is there; else Error(io).
  bool overwrite = true;
};

/// Writes the blocks of a stream, in order of time, into one file. The file appears under its name,
/// whole, when close() is called; without, nothing does. Bounded memory in every format. A time
/// that was skipped is kept: as a jump in `time` (arrow, parquet, csv), else as a gap.
/// Not safe from several threads at once.
class ARRAKIS_API BlockWriter {
 public:
  /// Throws Error(io) that names the path, Error(invalid_argument) for what the format can't hold.
  BlockWriter(const std::filesystem::path& path, FileFormat format, const ChannelSet& channels,
              FileOptions options = {});
  BlockWriter(const std::filesystem::path& path, const ChannelSet& channels,
              FileOptions options = {})
      : BlockWriter(path, file_format_of(path), channels, options) {}
  /// Removes what is not closed.
  ~BlockWriter();
  BlockWriter(BlockWriter&&) noexcept;
  BlockWriter& operator=(BlockWriter&&) noexcept;

  /// The block must have the channels of the writer and begin at or after the end of the one before
  /// it (Error(precondition)). Throws Error(io), as for a disk that is full; the writer can then
  /// still be closed with what it has, where the format allows.
  void write(const SeriesBlock& block);
  /// Completes the file and gives it its name. Idempotent. Throws Error(io).
  void close();
  /// Bytes written so far, of samples.
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Reads blocks from an Arrow IPC file or stream, a Parquet file, or lines of JSON as to_json()
/// writes blocks. Which of them it is shows in its first bytes. Nothing in it is trusted: memory is
/// bounded by its largest batch (a row group of Parquet, a line of JSON), and what is compressed
/// may not unfold to more than 192 MiB a column and batch.
/// Not safe from several threads at once.
class ARRAKIS_API BlockReader {
 public:
  /// Throws Error(io) for a file that can't be read, Error(decode) for one that holds no blocks.
  explicit BlockReader(const std::filesystem::path& path);
  /// Reads what comes, as standard input: everything but Parquet. Waits for it as `in` does. `in`
  /// must outlive the reader; `origin` names it in errors.
  BlockReader(std::istream& in, std::string origin);
  ~BlockReader();
  BlockReader(BlockReader&&) noexcept;
  BlockReader& operator=(BlockReader&&) noexcept;

  /// The blocks' channels; those of the first line, where it is JSON. Empty for no bytes at all.
  [[nodiscard]] const ChannelSet& channels() const;
  /// The next block, nothing after the last. Throws Error(decode) that names the row or line; then
  /// and later there is no more.
  std::optional<SeriesBlock> next();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace arrakis::inline v1
