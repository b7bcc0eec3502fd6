#include "kafka/delivered.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace arrakis {
namespace {

using namespace std::chrono_literals;

constexpr GpsTime kBase = GpsTime::from_ns(1'400'000'000'000'000'000);

Delivered of(std::int64_t first, std::int64_t count) {
  Delivered delivered;
  for (std::int64_t i = first; i < first + count; ++i) delivered.note(i, kBase + i * 1s);
  return delivered;
}

TEST(Delivered, TakesEachNotedMessageOnce) {
  Delivered delivered = of(10, 3);
  EXPECT_FALSE(delivered.take(9, kBase + 9s));
  for (int i = 10; i < 13; ++i) EXPECT_TRUE(delivered.take(i, kBase + i * 1s)) << i;
  EXPECT_FALSE(delivered.take(13, kBase + 13s));
  EXPECT_TRUE(delivered.empty());
}

TEST(Delivered, TheSameOffsetWithAnotherTimeIsAnotherMessage) {
  Delivered delivered = of(10, 2);
  EXPECT_FALSE(delivered.take(10, kBase + 100s));
  EXPECT_TRUE(delivered.take(11, kBase + 11s));
}

TEST(Delivered, ForgetsWhatWasNotedBeforeAMark) {
  Delivered delivered = of(0, 5);
  const std::uint64_t mark = delivered.noted();
  delivered.note(5, kBase + 5s);
  delivered.forget_until(mark);
  EXPECT_FALSE(delivered.take(4, kBase + 4s));
  EXPECT_TRUE(delivered.take(5, kBase + 5s));
  delivered.forget_until(mark);  // an answer that comes late forgets nothing newer
  EXPECT_TRUE(delivered.take(5, kBase + 5s));
}

TEST(Delivered, HoldsABoundedNumber) {
  Delivered delivered = of(0, Delivered::kMost + 10);
  EXPECT_FALSE(delivered.take(9, kBase + 9s));
  EXPECT_TRUE(delivered.take(10, kBase + 10s));
}

}
}
