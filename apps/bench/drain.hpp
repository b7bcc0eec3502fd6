#pragma once

/// Drains topics that bench/fill_topics.py filled, and says what it cost.

#include <string>

namespace arrakis::bench {

enum class DrainMode {
  raw,     ///< librdkafka and the decoder
  blocks,  ///< as raw, and one block a message with every channel's samples looked up
  mux,     ///< reader and multiplexer; nobody looks at a channel
  visit,   ///< as mux, with every channel's samples looked up
};

struct DrainOptions {
  std::string bootstrap;
  std::string metadata_file;
  DrainMode mode = DrainMode::mux;
  double fraction = 1.0;  ///< share of the channels that is asked for
  bool tune_allocator = true;
};

/// The figures as one line of JSON. Throws Error.
std::string drain(const DrainOptions& options);

}
