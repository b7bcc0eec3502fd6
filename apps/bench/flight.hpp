#pragma once

/// What a stream over Flight costs beside Arrow's own reading of the same batches.

#include <cstddef>
#include <string>

#include "bench/synthetic.hpp"

namespace arrakis::bench {

struct FlightOptions {
  /// A batch: by default of 64 channels with 4096 samples each, one MiB.
  Shape shape{.partitions = 1, .channels = 64, .rate = 65536, .type = DataType::float32};
  std::size_t batches = 1000;  ///< a round
  std::size_t rounds = 5;      ///< of either side, in turn
  bool visit = false;          ///< add up every sample, on either side
  bool tune_allocator = true;
};

/// Batches over the loopback interface from a server in a process of its own. The figures as one
/// line of JSON. Throws Error.
std::string flight(const FlightOptions& options);

}
