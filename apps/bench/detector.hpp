#pragma once

/// What it costs to read a whole detector as it happens.

#include <cstddef>
#include <map>
#include <string>

namespace arrakis::bench {

enum class DetectorSource {
  memory,  ///< messages come out of memory: what our side costs alone
  broker,  ///< through Kafka, from a publisher in a process of its own
};

struct DetectorOptions {
  DetectorSource source = DetectorSource::memory;
  std::string bootstrap;  ///< with DetectorSource::broker; empty: an embedded one, in the publisher
  std::size_t partitions = 1000;
  std::size_t channels = 100;  ///< a partition; of 16 Hz float32
  double seconds = 10;         ///< measured
  std::size_t bursts = 10;     ///< in which a stride's messages come, over half the stride
  bool visit = false;          ///< look up every channel's samples in every block
  std::map<std::string, std::string> properties;  ///< librdkafka's, for the reader
  bool tune_allocator = true;
};

/// The figures as one line of JSON. Throws Error. Forks with DetectorSource::broker, so there must
/// be no other thread.
std::string detector(const DetectorOptions& options);

}
