#pragma once

/// Holding calls against their deadlines.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "arrakis/error.hpp"
#include "arrakis/kafka.hpp"
#include "testing/collector.hpp"

namespace arrakis::testing {

/// What a call may take beyond its deadline.
inline constexpr Duration kSlack = std::chrono::milliseconds(100);
/// close() and cancel(), from any thread.
inline constexpr Duration kCloseLimit = std::chrono::seconds(2);

/// What a call took and threw.
struct Outcome {
  Duration took{};
  std::optional<Errc> code;
  std::string text;
};

inline Outcome outcome_of(const std::function<void()>& call) {
  Outcome outcome;
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  try {
    call();
  } catch (const Error& error) {
    outcome.code = error.code();
    outcome.text = error.what();
  }
  outcome.took = std::chrono::steady_clock::now() - begin;
  return outcome;
}

/// The outcome of the first of a few attempts that took no longer than its limit, else of the last:
/// a busy machine delays one of them, a fault all.
template <typename Attempt>
Outcome within(Duration limit, Attempt attempt) {
  constexpr int kAttempts = 3;
  Outcome outcome;
  for (int i = 0; i < kAttempts; ++i) {
    outcome = attempt();
    if (outcome.took <= limit) break;
  }
  EXPECT_LE(std::chrono::duration<double>(outcome.took).count(),
            std::chrono::duration<double>(limit).count());
  return outcome;
}

/// Every call of a reader that waits for nothing.
inline void use(KafkaReader& reader, Collector& collector) {
  reader.poll(collector);
  reader.pause(0);
  reader.resume(0);
  static_cast<void>(reader.exhausted());
  static_cast<void>(reader.caught_up(0));
  static_cast<void>(reader.stats());
  static_cast<void>(reader.done());
}

}
