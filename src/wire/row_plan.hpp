#pragma once

/// How the channels of a block become messages: a row a channel, a message a partition. What
/// to_row_batches and the message encoder share.

#include <arrow/type_fwd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"

namespace arrakis::inline v1 {

/// The channels of one partition, in the block's order; at least one.
struct PartitionRows {
  std::string partition_id;
  std::string topic;
  DataType type;
  std::vector<std::size_t> places;  ///< the channels' positions in the block
  std::vector<std::uint32_t> ids;   ///< their partition indexes
};

/// One entry a partition, in order of first appearance; good for all blocks of these channels.
/// Throws Error(precondition) that names a channel without a partition, one whose type is not its
/// partition's, or two with the same index.
std::vector<PartitionRows> plan_rows(const ChannelSet& channels);

/// The batch of one partition's rows: one allocation, laid out as the body of its message. Throws
/// Error(precondition) when the rows have more samples than a message can hold.
std::shared_ptr<arrow::RecordBatch> row_batch(const PartitionRows& partition,
                                              const SeriesBlock& block);

}  // namespace arrakis::inline v1
