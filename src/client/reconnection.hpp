#pragma once

/// Setting something up anew, again and again, until it works or can't.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "arrakis/error.hpp"
#include "arrakis/time.hpp"
#include "client/stream_engine.hpp"

namespace arrakis::inline v1 {

/// How long to wait before the next attempt: nothing before the first, then from a quarter of a
/// second on twice as long each time, up to ten seconds, and a random quarter less or more, so that
/// the clients of a server that comes back don't all call at once.
class Backoff {
 public:
  Duration next();

 private:
  unsigned attempts_ = 0;
  std::minstd_rand random_{std::random_device{}()};
};

/// Makes engines in a thread of its own, because that may take as long as a server takes to answer.
/// The calls may come from any thread.
class Reconnection {
 public:
  /// May block, a few seconds at most; throws Error.
  using Connect = std::function<std::unique_ptr<StreamEngine>()>;

  /// Begins at once, after `delay`. `done` is called when result() has something.
  Reconnection(Connect connect, Duration delay, std::function<void()> done);
  /// Waits for an attempt that runs at most two seconds; then leaves it to end by itself.
  ~Reconnection();
  Reconnection(const Reconnection&) = delete;
  Reconnection& operator=(const Reconnection&) = delete;

  struct Result {
    std::unique_ptr<StreamEngine> engine;  ///< or
    std::optional<Error> failure;
  };
  /// What came of it, once; nothing as long as it runs.
  std::optional<Result> result();

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace arrakis::inline v1
