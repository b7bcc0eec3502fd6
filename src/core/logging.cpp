#include "core/logging.hpp"

#include <atomic>
#include <mutex>

#include "arrakis/error.hpp"
#include "core/immortal.hpp"

namespace arrakis::inline v1 {
namespace {

/// One above the highest level: kNobody listens.
constexpr int kNobody = static_cast<int>(LogLevel::error) + 1;

struct SinkState {
  std::atomic<int> least{kNobody};
  std::mutex mutex;  // held while the sink runs
  LogSink sink;
};

SinkState& state() {
  static Immortal<SinkState> instance;
  return *instance;
}

/// Whether this thread is inside the sink. A sink that asks for the time may make the library log;
/// such a line is dropped, for the sink can't be entered twice.
thread_local bool in_sink = false;

}  // namespace

std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
  }
  return "unknown";
}

void set_log_sink(LogSink sink, LogLevel least) {
  if (in_sink) {
    throw Error(Errc::failed_precondition, "set_log_sink: called from inside a log sink");
  }
  SinkState& s = state();
  const std::lock_guard lock(s.mutex);
  s.least.store(sink ? static_cast<int>(least) : kNobody, std::memory_order_relaxed);
  s.sink.swap(sink);
}

namespace log {

bool enabled(LogLevel level) {
  return static_cast<int>(level) >= state().least.load(std::memory_order_relaxed);
}

void write(LogLevel level, std::string_view component, std::string_view message) {
  if (in_sink || !enabled(level)) return;
  SinkState& s = state();
  const std::lock_guard lock(s.mutex);
  if (!enabled(level)) return;  // the sink was changed meanwhile
  in_sink = true;
  try {
    s.sink(level, component, message);
  } catch (...) {
    // A sink that throws loses its line; a log line must not end a stream.
  }
  in_sink = false;
}

}  // namespace log
}  // namespace arrakis::inline v1
