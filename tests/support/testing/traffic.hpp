#pragma once

/// Traffic with a model: writers number their blocks, readers check that what comes is every
/// number once and in order. For tests that do harm to the broker meanwhile.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "arrakis/arrakis.hpp"
#include "testing/channels.hpp"

namespace arrakis::testing {

/// Publishes make_block(first + i * kStride, channels, i) for i = 0, 1, … at the strides' pace
/// until it is stopped, each with its confirmation.
class Writer {
 public:
  Writer(const std::string& bootstrap, const ChannelSet& channels, GpsTime first,
         PublisherOptions options = {});
  ~Writer() { stop(std::chrono::seconds(60)); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Sends no more, and waits for the confirmations. Whether all came.
  bool stop(Duration limit);
  [[nodiscard]] int sent() const { return sent_; }
  [[nodiscard]] int confirmed() const { return confirmed_; }
  /// What failed; to be read when stopped.
  [[nodiscard]] const std::vector<std::string>& failures() const { return failures_; }

 private:
  void run();

  KafkaPublisher publisher_;
  const GpsTime first_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> sent_{0};
  std::atomic<int> confirmed_{0};
  std::vector<std::string> failures_;
  std::thread thread_;
};

/// What several streams have brought, held against the model. Safe from any thread.
class Ledger {
 public:
  using Steady = std::chrono::steady_clock;

  Ledger(std::size_t streams, GpsTime first) : first_(first), streams_(streams) {}

  /// The next block of a stream; what is lost, comes twice or comes in the wrong order is a fault.
  void arrived(std::size_t stream, GpsTime time);
  void fault(std::string what);

  /// Blocks of the stream that has the fewest.
  [[nodiscard]] int least() const;
  /// Whether every stream has brought something at or after `t`.
  [[nodiscard]] bool all_since(Steady::time_point t) const;
  /// The first few faults, one a line.
  [[nodiscard]] std::string faults() const;

 private:
  struct Stream {
    int next = 0;
    Steady::time_point last{};
  };
  const GpsTime first_;
  mutable std::mutex mutex_;
  std::vector<Stream> streams_;
  std::vector<std::string> faults_;
};

/// A thread that polls a KafkaReader, open before the constructor returns.
class ReaderThread {
 public:
  ReaderThread(const std::string& bootstrap, const ChannelSet& channels, GpsTime first,
               ReaderOptions options = {});
  ~ReaderThread() { stop(); }
  ReaderThread(const ReaderThread&) = delete;
  ReaderThread& operator=(const ReaderThread&) = delete;

  void stop();
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }
  [[nodiscard]] ReaderStats stats() const { return reader_.stats(); }
  /// To be read when stopped.
  [[nodiscard]] const std::vector<Event>& events() const { return events_; }
  template <typename E>
  [[nodiscard]] std::vector<E> events_of() const {
    std::vector<E> found;
    for (const Event& event : events_) {
      if (const E* e = std::get_if<E>(&event)) found.push_back(*e);
    }
    return found;
  }

 private:
  void run();

  KafkaReader reader_;
  Ledger ledger_;
  std::vector<Event> events_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

/// A thread that takes the blocks of a BlockStream with a start, and looks at their values. It
/// waits for late blocks however long.
class StreamThread {
 public:
  StreamThread(const std::string& bootstrap, const ChannelSet& channels, GpsTime first);
  ~StreamThread() { stop(); }
  StreamThread(const StreamThread&) = delete;
  StreamThread& operator=(const StreamThread&) = delete;

  void stop();
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }

 private:
  void run();
  void check(const SeriesBlock& block);

  std::unique_ptr<BlockStream> stream_;
  GpsTime first_;
  Ledger ledger_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}
