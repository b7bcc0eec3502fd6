#include "core/logging.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "arrakis/error.hpp"

namespace arrakis::inline v1 {
namespace {

/// Takes the sink away at the end, so that tests don't see each other's.
class Logging : public ::testing::Test {
 protected:
  void TearDown() override { set_log_sink({}); }

  LogSink collect() {
    return [this](LogLevel level, std::string_view component, std::string_view message) {
      lines.push_back(fmt::format("{} {}: {}", to_string(level), component, message));
    };
  }

  std::vector<std::string> lines;
};

TEST_F(Logging, NobodyListensAtFirst) {
  EXPECT_FALSE(log::enabled(LogLevel::error));
  log::error("kafka", "lost");
}

TEST_F(Logging, LinesOfTheLevelAndAboveReachTheSink) {
  set_log_sink(collect(), LogLevel::warning);
  log::debug("mux", "no {}", 1);
  log::info("mux", "no {}", 2);
  log::warning("mux", "yes {}", 3);
  log::error("kafka", "yes {}", 4);
  EXPECT_EQ(lines, (std::vector<std::string>{"warning mux: yes 3", "error kafka: yes 4"}));
  EXPECT_FALSE(log::enabled(LogLevel::info));
}

TEST_F(Logging, AFinishedLineBelowTheLevelIsDiscarded) {
  set_log_sink(collect(), LogLevel::error);
  log::write(LogLevel::warning, "mux", "no");
  EXPECT_TRUE(lines.empty());
}

TEST_F(Logging, AnEmptySinkDiscardsAgain) {
  set_log_sink(collect());
  set_log_sink({});
  log::error("mux", "no");
  EXPECT_TRUE(lines.empty());
}

TEST_F(Logging, WhatASinkThrowsStaysInside) {
  set_log_sink(
      [](LogLevel, std::string_view, std::string_view) { throw std::runtime_error("full disk"); });
  EXPECT_NO_THROW(log::error("mux", "a"));
  EXPECT_NO_THROW(log::error("mux", "b"));
}

TEST_F(Logging, ALineFromInsideTheSinkIsDropped) {
  const LogSink inner = collect();
  set_log_sink([&inner](LogLevel level, std::string_view component, std::string_view message) {
    inner(level, component, message);
    log::error("sink", "once more");
  });
  log::error("mux", "a");
  EXPECT_EQ(lines, std::vector<std::string>{"error mux: a"});
}

TEST_F(Logging, ASinkCanNotBeChangedFromInsideASink) {
  std::string what;
  set_log_sink([&what](LogLevel, std::string_view, std::string_view) {
    try {
      set_log_sink({});
    } catch (const Error& error) {
      what = to_string(error.code());
    }
  });
  log::error("mux", "a");
  EXPECT_EQ(what, "failed_precondition");
}

TEST_F(Logging, OneCallAtATimeAndNoneAfterTheSinkWasTaken) {
  std::atomic<int> inside = 0;
  std::atomic<int> calls = 0;
  std::atomic<bool> overlapped = false;
  set_log_sink([&](LogLevel, std::string_view, std::string_view) {
    if (inside.fetch_add(1) != 0) overlapped = true;
    ++calls;
    inside.fetch_sub(1);
  });
  std::atomic<bool> stop = false;
  constexpr int count = 3;
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&stop] {
      while (!stop) log::info("mux", "x");
    });
  }
  while (calls < 100) std::this_thread::yield();
  set_log_sink({});
  const int calls_when_taken = calls;
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls, calls_when_taken);
  EXPECT_FALSE(overlapped);
}

}  // namespace
}  // namespace arrakis::inline v1
