#include "client/reconnection.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace arrakis::inline v1 {

namespace {

constexpr Duration kFirstWait = std::chrono::milliseconds(250);
constexpr Duration kLongestWait = std::chrono::seconds(10);
constexpr Duration kPatience = std::chrono::seconds(2);

}

Duration Backoff::next() {
  const unsigned attempt = attempts_++;
  if (attempt == 0) return Duration::zero();
  constexpr unsigned kMostDoublings = 16;
  const Duration wait =
      std::min(kLongestWait, kFirstWait * (1 << std::min(attempt - 1, kMostDoublings)));
  return std::chrono::duration_cast<Duration>(
      wait * std::uniform_real_distribution<double>(0.75, 1.25)(random_));
}

struct Reconnection::State {
  Connect connect;
  std::function<void()> done;

  std::mutex mutex;
  std::condition_variable changed;
  bool stop = false;
  bool ended = false;
  std::optional<Result> result;

  void run(Duration delay) {
    {
      std::unique_lock lock(mutex);
      if (changed.wait_for(lock, delay, [this] { return stop; })) return;
    }
    Result made;
    try {
      made.engine = connect();
    } catch (const Error& error) {
      made.failure = error;
    }
    const std::unique_lock lock(mutex);
    // Called under the lock, so that it is not running any more once ~Reconnection has set stop.
    if (stop) return;
    result = std::move(made);
    done();
  }
};

Reconnection::Reconnection(Connect connect, Duration delay, std::function<void()> done)
    : state_(std::make_shared<State>()) {
  state_->connect = std::move(connect);
  state_->done = std::move(done);
  thread_ = std::thread([state = state_, delay] {
    state->run(delay);
    const std::unique_lock lock(state->mutex);
    state->ended = true;
    state->changed.notify_all();
  });
}

Reconnection::~Reconnection() {
  {
    std::unique_lock lock(state_->mutex);
    state_->stop = true;
    state_->changed.notify_all();
    if (!state_->changed.wait_for(lock, kPatience, [this] { return state_->ended; })) {
      thread_.detach();
      return;
    }
  }
  thread_.join();
}

std::optional<Reconnection::Result> Reconnection::result() {
  const std::unique_lock lock(state_->mutex);
  return std::exchange(state_->result, std::nullopt);
}

}
