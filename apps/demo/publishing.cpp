#include "demo/publishing.hpp"

#include <exception>
#include <utility>

#include "arrakis/time.hpp"

namespace arrakis::demo {

PublishingThread::PublishingThread(Instrument instrument, const std::string& bootstrap,
                                   std::function<void()> on_failure)
    : instrument_(std::move(instrument)),
      publisher_(bootstrap, instrument_.channels()),
      on_failure_(std::move(on_failure)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

bool PublishingThread::wait_for_first_block(Duration wait) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, wait, [this] { return blocks_ > 0 || failure_; });
  return blocks_ > 0;
}

void PublishingThread::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

std::uint64_t PublishingThread::blocks() const {
  const std::lock_guard lock(mutex_);
  return blocks_;
}

std::optional<std::string> PublishingThread::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void PublishingThread::run(const std::stop_token& stop) {
  try {
    publish_until_stopped(stop);
  } catch (const std::exception& error) {
    {
      const std::lock_guard lock(mutex_);
      failure_ = error.what();
    }
    changed_.notify_all();
    on_failure_();
  }
}

void PublishingThread::publish_until_stopped(const std::stop_token& stop) {
  const Clock& clock = system_clock();
  while (true) {
    const GpsTime complete = instrument_.next_time() + kStride;
    {
      std::unique_lock lock(mutex_);
      // Nothing but a stop ends the wait early.
      changed_.wait_for(lock, stop, complete - clock.now(), [] { return false; });
    }
    if (stop.stop_requested()) return;
    if (clock.now() < complete) continue;
    publisher_.publish(instrument_.next_block());
    {
      const std::lock_guard lock(mutex_);
      ++blocks_;
    }
    changed_.notify_all();
  }
}

}
