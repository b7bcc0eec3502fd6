#pragma once

/// Publishes every topic in real time, sixteen blocks a second.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "arrakis/kafka.hpp"
#include "soak/journal.hpp"
#include "soak/ledger.hpp"

namespace arrakis::soak {

/// One thread and, so that each topic has its own fate, one publisher a topic. A block that fails
/// is not sent again.
class Feeder {
 public:
  /// Begins at once. The others must outlive it.
  Feeder(const std::string& bootstrap, const std::vector<Topic>& topics, Ledger& ledger,
         Journal& journal);
  ~Feeder();
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

  /// Publishes nothing until `wait` has passed, and then what was due meanwhile.
  void stall(Duration wait);
  /// Ends, and waits until every block is confirmed or has failed. From then on the ledger stays.
  void finish();
  /// The sum over the topics.
  [[nodiscard]] PublisherStats stats() const;

 private:
  void run(const std::stop_token& stop);
  void send(std::int64_t number);

  const std::vector<Topic>& topics_;
  Ledger& ledger_;
  Journal& journal_;
  std::vector<std::unique_ptr<KafkaPublisher>> publishers_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::chrono::steady_clock::time_point stalled_until_;
  std::jthread thread_;
};

}
