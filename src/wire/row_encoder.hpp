#pragma once

/// Encodes blocks into the messages that travel over Kafka, byte for byte as the reference
/// publisher does.

#include <optional>
#include <string>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "wire/row_plan.hpp"

namespace arrakis::inline v1 {

struct EncodedMessage {
  std::string partition_id;
  std::string topic;
  std::string bytes;  ///< one Arrow IPC stream: schema, one record batch, end marker
};

/// Encodes block after block. Which channel goes into which message is worked out once for as long
/// as the blocks share one ChannelSet. Not safe from several threads at once.
class RowEncoder {
 public:
  /// One message a partition, in order of first appearance. Error(precondition) as to_row_batches.
  std::vector<EncodedMessage> encode(const SeriesBlock& block);

 private:
  std::optional<ChannelSet> planned_;  // whose plan partitions_ is
  std::vector<PartitionRows> partitions_;
};

/// One block's messages, as RowEncoder::encode.
std::vector<EncodedMessage> encode_messages(const SeriesBlock& block);

}  // namespace arrakis::inline v1
