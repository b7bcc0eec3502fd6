#pragma once

/// Publishes an instrument's blocks in real time.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "arrakis/kafka.hpp"
#include "demo/detector.hpp"

namespace arrakis::demo {

/// A thread that sends each block when its last sample has been taken. Safe from any thread.
class PublishingThread {
 public:
  /// `on_failure` is called from the thread, once, when publishing fails; it then stops.
  PublishingThread(Instrument instrument, const std::string& bootstrap,
                   std::function<void()> on_failure);

  /// Waits until a block has been confirmed, at most `wait`. False: none was.
  bool wait_for_first_block(Duration wait);
  /// Stops; the last block is confirmed before this returns.
  void stop();

  [[nodiscard]] std::uint64_t blocks() const;
  /// Why publishing failed.
  [[nodiscard]] std::optional<std::string> failure() const;

 private:
  void run(const std::stop_token& stop);
  void publish_until_stopped(const std::stop_token& stop);

  Instrument instrument_;
  KafkaPublisher publisher_;
  std::function<void()> on_failure_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t blocks_ = 0;
  std::optional<std::string> failure_;
  std::jthread thread_;  // last, so that it ends before what it uses
};

}
