#pragma once

/// A reader that runs all through a soak, in a thread of its own, under the eyes of a judge.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "arrakis/stream.hpp"
#include "soak/journal.hpp"
#include "soak/judge.hpp"
#include "soak/ledger.hpp"

namespace arrakis::soak {

/// The channels of all topics.
ChannelSet all_channels(const std::vector<Topic>& topics);

class Watcher {
 public:
  struct Options {
    std::string name;
    std::optional<GpsTime> start;
    bool fast_forward = false;
    bool reports_age = false;  ///< its blocks' ages are measured
    /// Waits for late data for as long as it takes, and so has no excuse for a loss.
    bool is_patient = false;
  };
  /// Opens the stream and begins to read. The others must outlive it.
  Watcher(Options options, const std::string& bootstrap, const std::vector<Topic>& topics,
          const Ledger& ledger, Journal& journal);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  [[nodiscard]] const std::string& name() const { return options_.name; }
  /// Reads nothing until `wait` has passed.
  void hold(Duration wait);
  /// Takes `pause` after every block until `wait` has passed.
  void slow_down(Duration pause, Duration wait);
  /// Whether it is neither held nor slowed down.
  [[nodiscard]] bool is_free() const;
  /// Waits until a block at or after `number` of every topic was delivered with data.
  bool wait_for_data(std::int64_t number, Duration limit);
  /// What wait_for_data() waits for, in words.
  [[nodiscard]] std::string progress() const;
  /// Reads up to the block before `end`, waiting at most `limit` for it, closes, and settles.
  void finish(std::int64_t end, Duration limit);
  /// One line of what it delivered and counted. After finish().
  [[nodiscard]] std::string summary() const;

 private:
  using Steady = std::chrono::steady_clock;
  void run(const std::stop_token& stop);
  void take(const SeriesBlock& block);
  /// False: stopped.
  bool wait_until(Steady::time_point time, const std::stop_token& stop);

  const Options options_;
  const std::vector<Topic>& topics_;
  const Ledger& ledger_;
  Journal& journal_;
  Judge judge_;                          // used by the thread, and after it
  const KafkaReader* reader_ = nullptr;  // the stream's
  std::unique_ptr<BlockStream> stream_;
  std::optional<StreamStats> stream_stats_;
  std::optional<ReaderStats> reader_stats_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Steady::time_point held_until_;
  Steady::time_point slow_until_;
  Duration pause_{};
  std::int64_t delivered_ = -1;       // the last block, with data or without
  std::vector<std::int64_t> newest_;  // of each topic, with data
  std::jthread thread_;
};

}
