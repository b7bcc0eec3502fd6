#pragma once

/// How long a stride takes from its publisher to a block, and what of that is librdkafka's.

#include <cstddef>
#include <string>

namespace arrakis::bench {

struct LatencyOptions {
  std::string bootstrap;            ///< empty: the embedded broker
  std::size_t strides = 2000;       ///< measured, of Arrakis and of librdkafka alone each
  std::size_t turn = 100;           ///< strides of one before it is the other's turn
  int pace = 16;                    ///< strides a second; a divisor of 10^9
  std::size_t withhold_every = 50;  ///< a partition of Arrakis' stays out so often; 0: never
};

/// The figures as one line of JSON. Throws Error.
std::string latency(const LatencyOptions& options);

}
