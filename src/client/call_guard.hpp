#pragma once

/// Ends a stream of rows that is cancelled, or that keeps its reader waiting.

#include <arrow/flight/transport.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

/// Watches one stream at a time. Its thread starts with the first limit. cancel() is safe from any
/// thread, the rest is for the one that reads.
class CallGuard {
 public:
  CallGuard() = default;
  ~CallGuard();
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;

  using Stream = arrow::flight::internal::ClientDataStream;
  /// The stream to end; ended at once after cancel().
  void watch(std::shared_ptr<Stream> stream);
  /// Ends the stream now and every later one.
  void cancel();
  [[nodiscard]] bool is_cancelled();

  /// While it lives, the stream is ended when `limit` is over.
  class Limit {
   public:
    Limit(CallGuard& guard, Duration limit);
    ~Limit();
    Limit(const Limit&) = delete;
    Limit& operator=(const Limit&) = delete;
    [[nodiscard]] bool is_over() const;

   private:
    CallGuard& guard_;
  };

 private:
  using Clock = std::chrono::steady_clock;
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Stream> stream_;
  std::optional<Clock::time_point> end_;  // of the limit that lives
  bool is_over_ = false;                  // that limit
  bool is_cancelled_ = false;
  bool is_closing_ = false;
  std::thread thread_;
};

}  // namespace arrakis::inline v1
