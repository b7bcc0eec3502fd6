#pragma once

/// What it costs to make the messages of a block.

#include <string>

#include "bench/synthetic.hpp"

namespace arrakis::bench {

struct EncodeOptions {
  std::string name = "wide";  ///< of the shape, for the report
  Shape shape;
  double seconds = 2;
  bool tune_allocator = true;
};

/// The figures as one line of JSON. Throws Error.
std::string encode(const EncodeOptions& options);

}
