#pragma once

/// Awaiting a condition that other threads or processes make true.

#include <chrono>
#include <thread>

namespace arrakis::testing {

/// Looks until the condition holds; false after `limit`.
template <typename Condition>
bool eventually(Condition condition, std::chrono::nanoseconds limit = std::chrono::seconds(60)) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return condition();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}
