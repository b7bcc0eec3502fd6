#pragma once

/// What memory a reader holds while nobody takes its blocks and publishing goes on.

#include <cstddef>
#include <string>

namespace arrakis::bench {

struct MemoryOptions {
  std::string bootstrap;  ///< empty: an embedded one, in the publisher's process
  std::size_t minutes = 60;
  std::size_t partitions = 10;
  std::size_t channels = 100;  ///< a partition; of 16 Hz float32
};

/// The figures as one line of JSON. Throws Error. Forks, so there must be no other thread.
std::string memory(const MemoryOptions& options);

}
