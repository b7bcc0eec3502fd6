#include "client/call_guard.hpp"

#include <algorithm>
#include <utility>

namespace arrakis::inline v1 {

CallGuard::~CallGuard() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
    if (stream_) stream_->TryCancel();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void CallGuard::watch(std::shared_ptr<Stream> stream) {
  const std::lock_guard lock(mutex_);
  stream_ = std::move(stream);
  if (stream_ && (is_cancelled_ || is_over_)) stream_->TryCancel();
}

void CallGuard::cancel() {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = true;
  if (stream_) stream_->TryCancel();
}

bool CallGuard::is_cancelled() {
  const std::lock_guard lock(mutex_);
  return is_cancelled_;
}

CallGuard::Limit::Limit(CallGuard& guard, Duration limit) : guard_(guard) {
  constexpr Duration kLongest = std::chrono::hours(24 * 365);  // a sum with it can't overflow
  const std::lock_guard lock(guard_.mutex_);
  guard_.end_ = CallGuard::Clock::now() + std::min(limit, kLongest);
  guard_.is_over_ = false;
  if (!guard_.thread_.joinable()) guard_.thread_ = std::thread([&guard] { guard.run(); });
  guard_.changed_.notify_all();
}

CallGuard::Limit::~Limit() {
  const std::lock_guard lock(guard_.mutex_);
  guard_.end_.reset();
  guard_.is_over_ = false;
}

bool CallGuard::Limit::is_over() const {
  const std::lock_guard lock(guard_.mutex_);
  return guard_.is_over_;
}

void CallGuard::run() {
  std::unique_lock lock(mutex_);
  while (!is_closing_) {
    if (!end_ || is_over_) {
      changed_.wait(lock);
    } else if (Clock::now() < *end_) {
      changed_.wait_until(lock, *end_);
    } else {
      is_over_ = true;
      if (stream_) stream_->TryCancel();
    }
  }
}

}  // namespace arrakis::inline v1
