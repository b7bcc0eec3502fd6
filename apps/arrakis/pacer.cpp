#include "pacer.hpp"

#include <algorithm>

namespace arrakis::cli {

bool Pacer::wait(GpsTime begin, GpsTime end) {
  Duration waiting = left(begin, end);
  std::unique_lock lock(mutex_);
  while (!stopped_ && waiting > Duration::zero()) {
    changed_.wait_for(lock, waiting);
    waiting = left(begin, end);
  }
  return !stopped_;
}

Duration Pacer::left(GpsTime begin, GpsTime end) {
  if (!first_) {
    first_ = begin;
    began_ = std::max(clock_.now(), begin);
  }
  if (rate_ <= 0) return Duration::zero();
  return began_ + scaled(end - *first_) - clock_.now();
}

void Pacer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

bool Pacer::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

Duration Pacer::scaled(Duration span) const {
  if (rate_ == 1) return span;
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::nano>(span) /
                                              rate_);
}

}
