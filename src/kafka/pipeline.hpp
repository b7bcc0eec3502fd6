#pragma once

/// The blocks of a publisher that are on their way, and the order in which their ends are told.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "arrakis/kafka.hpp"

namespace arrakis::inline v1 {

/// A block on its way. Stays where it is until its last message was reported.
struct InFlight {
  /// Who is to learn what became of it.
  enum class Teller {
    caller,      ///< publish() waits for it
    completion,  ///< its function is called, in order
    next_call,   ///< publish() gave up waiting: a failure is for the next call to tell
    told,        ///< nobody any more; it only keeps its place
  };

  GpsTime time;
  Teller teller = Teller::caller;
  std::size_t unconfirmed = 0;
  std::vector<std::string> failures;
  /// Only with Teller::completion, so that publish() pins no block.
  SeriesBlock block;
  KafkaPublisher::Completion completion;

  [[nodiscard]] std::optional<Error> outcome() const;
};

/// Not safe from several threads at once, except stats().
class Pipeline {
 public:
  InFlight& add(GpsTime time, InFlight::Teller teller);
  /// Tells the ends of what is at the front and done. Not from a completion.
  void complete();
  /// What became of a block that publish() waits for, which keeps its place until those before it
  /// are done.
  std::optional<Error> take(InFlight& flight);
  /// Fails everything that is still on its way for `reason`.
  void fail_all(const std::string& reason);

  /// A message of `flight` was handed to librdkafka, or reported.
  void sent(InFlight& flight, std::size_t bytes);
  void reported(InFlight& flight, std::size_t bytes, const std::string& failure);
  void gave_up(InFlight& flight);
  void refused() { count(&PublisherStats::refused_blocks); }
  void new_client() { count(&PublisherStats::new_clients); }

  [[nodiscard]] bool empty() const { return flights_.empty(); }
  [[nodiscard]] std::size_t size() const { return flights_.size(); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] bool has_unconfirmed() const;
  /// Whether a completion is running.
  [[nodiscard]] bool is_completing() const { return completing_; }
  /// The time after which the next block has to come.
  [[nodiscard]] std::optional<GpsTime> newest() const;
  /// What the next call has to tell, once.
  std::optional<Error> take_late_failure();
  [[nodiscard]] PublisherStats stats() const;

 private:
  void count(std::uint64_t PublisherStats::*counter, std::uint64_t by = 1);
  void settle(const InFlight& flight);
  void note_depth();

  std::deque<std::unique_ptr<InFlight>> flights_;
  std::uint64_t bytes_ = 0;
  bool completing_ = false;
  std::optional<GpsTime> last_confirmed_;
  std::vector<std::string> late_failures_;
  mutable std::mutex mutex_;  // of stats_
  PublisherStats stats_;
};

}
