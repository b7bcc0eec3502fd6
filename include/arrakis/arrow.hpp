#pragma once

/// Blocks as Arrow record batches and back. The only public header with Arrow types; a program that
/// includes it needs Arrow's headers and links Arrow itself.
/// Pure functions, safe from any thread.

#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/export.hpp"

namespace arrakis::inline v1 {

/// The schema of a column stream: `time` int64 not null, then one list column a channel, sorted by
/// name, with the field metadata `rate`.
ARRAKIS_API std::shared_ptr<arrow::Schema> column_schema(const ChannelSet& channels);
/// The schema of a partition's messages: `time` int64, `id` uint32, `data` list of `type`.
ARRAKIS_API std::shared_ptr<arrow::Schema> row_schema(DataType type);

/// One row: the block's time and a list a channel; gaps are null elements. Without a schema the
/// columns stand in the block's order, `time` nullable, no metadata. With one, it decides order and
/// types; Error(precondition) when it doesn't fit the block's channels.
ARRAKIS_API std::shared_ptr<arrow::RecordBatch> to_column_batch(
    const SeriesBlock& block, const std::shared_ptr<arrow::Schema>& schema = nullptr);
/// The block of a one-row column batch, its channels in the batch's order. `channels` may hold more
/// than the batch; all the batch's columns must be in it. A null list is a gap. Zero-copy, but for
/// misaligned memory. Error(decode) says what is wrong with the batch; nothing in it is trusted.
ARRAKIS_API SeriesBlock from_column_batch(const std::shared_ptr<arrow::RecordBatch>& batch,
                                          const ChannelSet& channels);

/// One batch a partition, in order of first appearance; rows in the block's order, `id` the
/// channel's partition_index. Error(precondition) names a channel without a partition, one whose
/// type is not its partition's, or two with the same index.
ARRAKIS_API std::vector<std::pair<std::string, std::shared_ptr<arrow::RecordBatch>>> to_row_batches(
    const SeriesBlock& block);
/// The block that one message's batch holds of `channels` (told apart by partition_index): those
/// that have a row, in the rows' order. Rows of other ids are passed over, of rows with the same id
/// the last wins; a null list and a row of another type or length are gaps. Zero-copy, but for
/// misaligned memory. An empty block when no wanted row is there. Error(decode) says what is wrong
/// with the batch; nothing in it is trusted. Error(precondition) names channels without an index,
/// or two with the same.
ARRAKIS_API SeriesBlock from_row_batch(const std::shared_ptr<arrow::RecordBatch>& batch,
                                       const ChannelSet& channels);

}  // namespace arrakis::inline v1
