#pragma once

/// A publisher's side of librdkafka: one producer, which is replaced when it has failed for good.

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrakis/kafka.hpp"
#include "core/episode.hpp"
#include "kafka/handle.hpp"
#include "kafka/pipeline.hpp"
#include "kafka/publish_rules.hpp"
#include "wire/row_encoder.hpp"

namespace arrakis::inline v1 {

/// When a call has to return; none: no limit.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;
/// From now; a timeout beyond the clock's range is none.
Deadline deadline_after(Duration timeout);
bool has_passed(const Deadline& deadline);

/// Sends messages and tells the pipeline what became of them, on the thread that calls it. Not safe
/// from several threads at once.
class Producer {
 public:
  /// The pipeline and the rules must outlive it. Does not contact the broker.
  Producer(std::string bootstrap, const PublisherOptions& options, const PublishRules& rules,
           Pipeline& pipeline);
  ~Producer();
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  /// Queues the messages of a block; waits where librdkafka's queue is full, but not from inside a
  /// completion. What can't be queued is a failure of the flight.
  void send(const std::vector<EncodedMessage>& messages, InFlight& flight,
            const Deadline& deadline);
  /// Takes delivery reports, waiting for the first until the deadline, at most a turn.
  void wait_turn(const Deadline& deadline);
  /// A producer that has failed for good takes no message any more: what it still holds is ended,
  /// and another one takes its place.
  void replace_if_failed(const Deadline& deadline);
  /// Gives up what librdkafka holds; every block on its way ends with `reason` at the latest.
  void give_up(const std::string& reason);

  [[nodiscard]] const std::string& bootstrap() const { return bootstrap_; }
  /// What librdkafka last said about the broker, in brackets; empty when all is well.
  [[nodiscard]] std::string trouble() const;

 private:
  void start();
  rd_kafka_resp_err_t produce(const EncodedMessage& message, InFlight& flight,
                              const Deadline& deadline);
  /// Learns the present state of the topics in use; waits for a turn at most. False: no answer.
  bool ask_for_topics(const Deadline& deadline);
  void on_delivery(const rd_kafka_message_t& message);
  void on_error(rd_kafka_resp_err_t error, const char* reason);
  [[nodiscard]] std::string failure_of(const rd_kafka_message_t& message) const;

  const std::string bootstrap_;
  const PublisherOptions& options_;
  const PublishRules& rules_;
  Pipeline& pipeline_;
  Episode outage_;
  std::string last_error_;  // since the last message was delivered
  std::optional<std::string> fatal_;
  bool is_warm_ = false;  // it knows its broker
  std::shared_ptr<Handle> handle_;
};

}
