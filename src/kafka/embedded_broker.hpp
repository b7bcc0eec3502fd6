#pragma once

/// A broker inside this process, for demos and for tests of faults that a real one can't be made to
/// show. It is librdkafka's mock cluster: it speaks the real protocol over loopback, and other
/// processes may connect, but it keeps only the last 5 MiB of a partition, in memory, and can't
/// look up offsets by time.

#include <librdkafka/rdkafka.h>
// After rdkafka.h, which it needs.
#include <librdkafka/rdkafka_mock.h>

#include <memory>
#include <string>

#include "kafka/handle.hpp"

namespace arrakis::inline v1 {

/// Runs from construction to destruction; safe from any thread.
class EmbeddedBroker {
 public:
  /// Error(unsupported) when it can't be started.
  explicit EmbeddedBroker(int brokers = 1);

  /// "127.0.0.1:PORT[,…]"
  [[nodiscard]] std::string bootstrap() const;
  /// Error(invalid_argument) names a topic that exists already.
  void create_topic(const std::string& name, int partitions = 1);

  /// For injecting faults.
  [[nodiscard]] rd_kafka_mock_cluster_t* cluster() const { return cluster_; }

 private:
  std::shared_ptr<Handle> handle_;  // owns the cluster
  rd_kafka_mock_cluster_t* cluster_;
};

}
