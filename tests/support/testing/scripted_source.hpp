#pragma once

/// A Source that hands over what a test has put into it.

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/error.hpp"
#include "arrakis/source.hpp"

namespace arrakis::testing {

/// Test code keeps a pointer to it while a BlockStream owns it. put() and the flags are safe from
/// any thread.
class ScriptedSource final : public Source {
 public:
  explicit ScriptedSource(std::vector<StreamInfo> streams) : streams_(std::move(streams)) {}

  void put(std::size_t stream, const SeriesBlock& block) {
    put_part(stream, to_part(block, streams_[stream].channels));
  }
  void put_part(std::size_t stream, BlockPartPtr part) {
    {
      const std::unique_lock lock(mutex_);
      parts_.emplace_back(stream, std::move(part));
    }
    wake();
  }
  void put_event(Event event) {
    {
      const std::unique_lock lock(mutex_);
      events_.push_back(std::move(event));
    }
    wake();
  }
  void fail_next_poll(Error error) {
    const std::unique_lock lock(mutex_);
    failure_ = std::move(error);
  }
  void on_close(std::function<void()> call) { on_close_ = std::move(call); }
  void fail_open(Error error) { open_failure_ = std::move(error); }
  void set_done() {
    {
      const std::unique_lock lock(mutex_);
      done_ = true;
    }
    wake();
  }
  void set_exhausted(bool exhausted) {
    const std::unique_lock lock(mutex_);
    exhausted_ = exhausted;
  }
  void set_caught_up(std::size_t stream) {
    const std::unique_lock lock(mutex_);
    caught_up_.insert(stream);
  }

  [[nodiscard]] const OpenOptions& opened_with() const { return open_options_; }
  [[nodiscard]] bool is_closed() const { return closed_; }
  [[nodiscard]] bool is_paused(std::size_t stream) const { return paused_.contains(stream); }
  [[nodiscard]] std::size_t waiting() {
    const std::unique_lock lock(mutex_);
    return parts_.size();
  }

  [[nodiscard]] const std::vector<StreamInfo>& streams() const override { return streams_; }
  void open(const OpenOptions& options) override {
    open_options_ = options;
    if (open_failure_) throw Error(*open_failure_);
  }
  bool poll(Sink& sink) override {
    std::unique_lock lock(mutex_);
    for (const Event& event : std::exchange(events_, {})) sink.on_event(event);
    for (auto it = parts_.begin(); it != parts_.end();) {
      if (paused_.contains(it->first)) {
        ++it;
        continue;
      }
      auto [stream, part] = std::move(*it);
      it = parts_.erase(it);
      if (!sink.on_part(stream, std::move(part))) return parts_.empty();
    }
    if (failure_) throw Error(*std::exchange(failure_, std::nullopt));
    return true;
  }
  void set_wakeup(std::function<void()> wake) override {
    const std::unique_lock lock(wake_mutex_);
    wake_ = std::move(wake);
  }
  void pause(std::size_t stream) override { paused_.insert(stream); }
  void resume(std::size_t stream) override { paused_.erase(stream); }
  [[nodiscard]] bool caught_up(std::size_t stream) override {
    const std::unique_lock lock(mutex_);
    return caught_up_.contains(stream);
  }
  [[nodiscard]] bool exhausted() override {
    const std::unique_lock lock(mutex_);
    return exhausted_ && parts_.empty();
  }
  [[nodiscard]] bool done() const override {
    const std::unique_lock lock(mutex_);
    return closed_ || (done_ && parts_.empty());
  }
  void close() override {
    closed_ = true;
    if (on_close_) on_close_();
  }

 private:
  void wake() {
    const std::unique_lock lock(wake_mutex_);
    if (wake_) wake_();
  }

  std::vector<StreamInfo> streams_;
  mutable std::mutex mutex_;
  std::mutex wake_mutex_;
  std::function<void()> wake_;
  std::deque<std::pair<std::size_t, BlockPartPtr>> parts_;
  std::vector<Event> events_;
  std::optional<Error> failure_;
  std::optional<Error> open_failure_;
  std::set<std::size_t> paused_;
  std::set<std::size_t> caught_up_;
  OpenOptions open_options_;
  std::function<void()> on_close_;
  bool done_ = false;
  bool exhausted_ = false;
  bool closed_ = false;
};

}
