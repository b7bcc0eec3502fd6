#pragma once

/// Ctrl-C and SIGTERM as a call, for programs; the library never touches signals.

#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace arrakis::console {

/// Catches the first SIGINT or SIGTERM and ignores SIGPIPE while it exists. A second signal of the
/// same kind ends the process at once, as ever. One instance at a time, made before other threads
/// start.
class StopSignals {
 public:
  /// `action` is called once, on a thread of its own, when a signal comes. Without an action the
  /// process ends there and then, with the status of status().
  explicit StopSignals(std::function<void()> action = {});
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Replaces the action; calls it here when a signal has come already. When this returns, the
  /// action before is no longer running. Must not be called from an action.
  void set_action(std::function<void()> action);

  /// The signal that came.
  [[nodiscard]] std::optional<int> received() const;
  /// The exit status that says so: 130 for SIGINT, 143 for SIGTERM.
  static int status(int signal);

 private:
  void watch();

  mutable std::mutex mutex_;
  std::function<void()> action_;
  std::optional<int> received_;
  int pipe_[2] = {-1, -1};
  std::thread watcher_;
};

/// Sets the action of `signals` for as long as it exists.
class ScopedStopAction {
 public:
  ScopedStopAction(StopSignals& signals, std::function<void()> action) : signals_(signals) {
    signals_.set_action(std::move(action));
  }
  ~ScopedStopAction() {
    signals_.set_action([] {});
  }
  ScopedStopAction(const ScopedStopAction&) = delete;
  ScopedStopAction& operator=(const ScopedStopAction&) = delete;

 private:
  StopSignals& signals_;
};

}
