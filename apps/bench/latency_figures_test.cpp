#include "bench/latency_figures.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace arrakis::bench {
namespace {

using namespace std::chrono_literals;

Instant at(std::chrono::milliseconds time) { return Instant(1h) + time; }
GpsTime stride(int number) { return GpsTime::from_ns(number * 62'500'000LL); }

Published published(int number, std::chrono::milliseconds time, Sent sent = Sent::whole) {
  return {stride(number), at(time), sent};
}
Arrived arrived(int number, std::chrono::milliseconds time, std::chrono::milliseconds last_part) {
  return {stride(number), at(time), at(last_part), 0ms, false};
}

TEST(LatencyFigures, MeasureFromTheCallAndFromTheLastPart) {
  LatencyFigures figures;
  figures.add(std::vector{published(0, 0ms), published(1, 60ms)},
              std::vector{arrived(0, 3ms, 2ms), arrived(1, 67ms, 63ms)});
  EXPECT_EQ(figures.total.count(), 2U);
  EXPECT_DOUBLE_EQ(figures.total.at(0), 3);
  EXPECT_DOUBLE_EQ(figures.total.at(1), 7);
  EXPECT_DOUBLE_EQ(figures.after_last_part.at(0), 1);
  EXPECT_DOUBLE_EQ(figures.after_last_part.at(1), 4);
  EXPECT_EQ(figures.lost, 0U);
}

TEST(LatencyFigures, StrideThatWaitsBehindAnIncompleteOneIsLeftOut) {
  LatencyFigures figures;
  const auto late = [](int number, std::chrono::milliseconds time) {
    Arrived stride = arrived(number, time, 2ms);
    stride.has_gaps = true;
    stride.past_deadline = time - 250ms;
    return stride;
  };
  figures.add(
      std::vector{published(0, 0ms, Sent::first_without), published(1, 60ms, Sent::still_without),
                  published(2, 120ms), published(3, 260ms)},
      std::vector{late(0, 251ms), late(1, 255ms), arrived(2, 255ms, 125ms),
                  arrived(3, 262ms, 261ms)});
  EXPECT_EQ(figures.after_deadline.count(), 1U);
  EXPECT_DOUBLE_EQ(figures.after_deadline.at(1), 1);
  EXPECT_EQ(figures.left_out, 2U);
  EXPECT_EQ(figures.gaps, 0U);
  EXPECT_EQ(figures.total.count(), 1U);
  EXPECT_DOUBLE_EQ(figures.total.at(1), 2);
}

TEST(LatencyFigures, StrideThatNeverCameIsLostAndTheNextOneStillCounts) {
  LatencyFigures figures;
  figures.add(std::vector{published(0, 0ms), published(1, 60ms), published(2, 120ms)},
              std::vector{arrived(1, 62ms, 61ms)});
  EXPECT_EQ(figures.lost, 2U);
  EXPECT_EQ(figures.total.count(), 1U);
}

TEST(LatencyFigures, GapThatNobodyMadeIsCountedAndNotMeasured) {
  LatencyFigures figures;
  Arrived broken = arrived(0, 250ms, 2ms);
  broken.has_gaps = true;
  figures.add(std::vector{published(0, 0ms)}, std::vector{broken});
  EXPECT_EQ(figures.gaps, 1U);
  EXPECT_EQ(figures.total.count(), 0U);
}

TEST(LatencyFigures, WhatCameBeforeTheFirstPublishedIsPassedOver) {
  LatencyFigures figures;
  figures.add(std::vector{published(5, 0ms)},
              std::vector{arrived(3, 1ms, 1ms), arrived(5, 4ms, 3ms)});
  EXPECT_EQ(figures.lost, 0U);
  EXPECT_DOUBLE_EQ(figures.total.at(1), 4);
}

}
}
