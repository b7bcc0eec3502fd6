#pragma once

/// Reads one offset of a partition through a client of its own, to find out what a consumer gets
/// there: an offset below the log's end need not hold anything that can be read (markers of
/// transactions, compaction).

#include <cstdint>
#include <functional>
#include <string>

#include "arrakis/time.hpp"
#include "core/result.hpp"
#include "kafka/broker_queries.hpp"
#include "kafka/handle.hpp"

namespace arrakis::inline v1 {

struct Readable {
  std::int64_t offset;  ///< of the first message at or after the one asked for, else the log's end
  bool is_message;
};

/// Blocks for `timeout` at most, or until `stop`. Error(broker_unavailable) names the partition.
Result<Readable> first_readable(const std::string& bootstrap, const KafkaProperties& properties,
                                const PartitionKey& partition, std::int64_t from, Duration timeout,
                                const std::function<bool()>& stop);

}
