#include "common/random.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace arrakis::console {
namespace {

TEST(Random, IsTheSameEverywhere) {
  Random random(1);
  EXPECT_EQ(random.bits(), 0x910A2DEC89025CC1U);
  EXPECT_EQ(random.bits(), 0xBEEB8DA1658EEC67U);
}

TEST(Random, NormalHasMeanZeroAndVarianceOne) {
  Random random(7);
  constexpr int kCount = 100'000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.normal();
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.02);
  EXPECT_NEAR(squares / kCount, 1, 0.03);
}

}  // namespace
}
