#include "common/block_rate.hpp"

#include <gtest/gtest.h>

namespace arrakis::console {
namespace {

TEST(BlockRate, IsUnknownUntilTwoBlocksCame) {
  BlockRate rate;
  EXPECT_EQ(rate.per_second(), 0);
  rate.count(std::chrono::seconds(1));
  EXPECT_EQ(rate.per_second(), 0);
  rate.count(std::chrono::seconds(1));
  EXPECT_EQ(rate.per_second(), 0);  // both at once
}

TEST(BlockRate, IsThatOfTheLastSeconds) {
  BlockRate rate;
  Duration now{};
  for (int i = 0; i < 100; ++i) rate.count(now += std::chrono::seconds(1));
  EXPECT_DOUBLE_EQ(rate.per_second(), 1);
  for (int i = 0; i < 100; ++i) rate.count(now += std::chrono::microseconds(62'500));
  EXPECT_DOUBLE_EQ(rate.per_second(), 16);
}

TEST(BlockRate, KeepsNoEndlessList) {
  BlockRate rate;
  for (int i = 0; i < 1'000'000; ++i) rate.count(Duration(i));
  EXPECT_NEAR(rate.per_second(), 1e9, 1);
}

}  // namespace
}
