#pragma once

/// What writes one format.

#include <memory>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/files.hpp"
#include "files/pending_file.hpp"

namespace arrakis::inline v1 {

/// Takes blocks whose channels are the writer's, in its order, and whose times go forward.
/// Destroyed before its PendingFile.
class BlockSink {
 public:
  virtual ~BlockSink() = default;
  /// Throws Error(io).
  virtual void write(const SeriesBlock& block) = 0;
  /// Writes what is still held, so that the file is complete. After a write() that failed: with
  /// what came before it, where the format allows. Throws Error(io).
  virtual void finish() = 0;
};

std::unique_ptr<BlockSink> make_arrow_sink(PendingFile& file, const ChannelSet& channels);
std::unique_ptr<BlockSink> make_parquet_sink(PendingFile& file, const ChannelSet& channels);
std::unique_ptr<BlockSink> make_csv_sink(PendingFile& file, const ChannelSet& channels,
                                         GapForm gaps);
/// These throw Error(invalid_argument) for names that the format can't hold.
std::unique_ptr<BlockSink> make_hdf5_sink(PendingFile& file, const ChannelSet& channels,
                                          GapForm gaps);
std::unique_ptr<BlockSink> make_npz_sink(PendingFile& file, const ChannelSet& channels,
                                         GapForm gaps);

}  // namespace arrakis::inline v1
