#include "common/age_histogram.hpp"

#include <gtest/gtest.h>

namespace arrakis::console {
namespace {

double ms(Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

TEST(AgeHistogram, PercentilesAreWithinTwoPercent) {
  AgeHistogram ages;
  EXPECT_EQ(ages.percentile(0.5), Duration::zero());
  for (int i = 1; i <= 1000; ++i) ages.add(std::chrono::milliseconds(i));
  EXPECT_EQ(ages.count(), 1000U);
  EXPECT_NEAR(ms(ages.percentile(0.5)), 500, 10);
  EXPECT_NEAR(ms(ages.percentile(0.99)), 990, 20);
  EXPECT_NEAR(ms(ages.percentile(1)), 1000, 20);
  EXPECT_NEAR(ms(ages.percentile(0)), 1, 0.02);
}

TEST(AgeHistogram, ExtremesAreCounted) {
  AgeHistogram ages;
  ages.add(-std::chrono::seconds(1));  // the clock was set back
  ages.add(Duration::max());
  EXPECT_EQ(ages.count(), 2U);
  EXPECT_LT(ms(ages.percentile(0.5)), 0.1);
  EXPECT_GT(ages.percentile(1), std::chrono::hours(1));
}

}  // namespace
}
