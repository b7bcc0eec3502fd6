#include "common/stop_signals.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace arrakis::console {
namespace {

constexpr int kSignalStatusBase = 128;  // what shells add to a signal's number
constexpr unsigned char kEndOfWatch = 0;

/// The writing end of the pipe, for the handler: all it may do is write.
std::atomic<int> handler_pipe{-1};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void write_signal(int signal) {
  const int saved = errno;
  const auto byte = static_cast<unsigned char>(signal);
  [[maybe_unused]] const ssize_t written = ::write(handler_pipe.load(), &byte, 1);
  errno = saved;
}

void install(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignals::StopSignals(std::function<void()> action) : action_(std::move(action)) {
  if (::pipe2(pipe_, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "no pipe for signals");
  }
  handler_pipe = pipe_[1];
  watcher_ = std::thread([this] { watch(); });
  // Also where they were ignored, as in a shell's background jobs: whoever sends one means it.
  install(SIGINT, write_signal, SA_RESTART | static_cast<int>(SA_RESETHAND));
  install(SIGTERM, write_signal, SA_RESTART | static_cast<int>(SA_RESETHAND));
  install(SIGPIPE, SIG_IGN, 0);
}

StopSignals::~StopSignals() {
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) install(signal, SIG_DFL, 0);
  [[maybe_unused]] const ssize_t written = ::write(pipe_[1], &kEndOfWatch, 1);
  watcher_.join();
  ::close(pipe_[0]);
  ::close(pipe_[1]);
}

void StopSignals::set_action(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  action_ = std::move(action);
  if (received_ && action_) action_();
}

std::optional<int> StopSignals::received() const {
  const std::lock_guard lock(mutex_);
  return received_;
}

int StopSignals::status(int signal) { return kSignalStatusBase + signal; }

void StopSignals::watch() {
  unsigned char byte = kEndOfWatch;
  while (true) {
    const ssize_t count = ::read(pipe_[0], &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count != 1 || byte == kEndOfWatch) return;
    const std::lock_guard lock(mutex_);
    if (received_) continue;
    if (!action_) ::_exit(status(byte));
    received_ = byte;
    action_();
  }
}

}
