#include "bench/percentiles.hpp"

#include <gtest/gtest.h>

namespace arrakis::bench {
namespace {

TEST(Percentiles, AreTheLeastValueThatTheShareDoesNotExceed) {
  Percentiles times;
  for (int i = 100; i >= 1; --i) times.add(i);
  EXPECT_EQ(times.at(0), 1);
  EXPECT_EQ(times.at(0.5), 50);
  EXPECT_EQ(times.at(0.505), 51);
  EXPECT_EQ(times.at(0.99), 99);
  EXPECT_EQ(times.at(1), 100);
}

TEST(Percentiles, OfOneValueAreThatValue) {
  Percentiles times;
  times.add(2.5);
  EXPECT_EQ(times.at(0), 2.5);
  EXPECT_EQ(times.at(0.5), 2.5);
  EXPECT_EQ(times.at(1), 2.5);
}

TEST(Percentiles, WithoutValuesAreNulls) {
  EXPECT_EQ(Percentiles().at(0.5), 0);
  EXPECT_EQ(Percentiles().json(),
            R"({"count": 0, "p50": null, "p90": null, "p99": null, "max": null})");
}

TEST(Percentiles, AreWrittenAsJson) {
  Percentiles times;
  for (const double value : {3.0, 1.0, 2.0, 4.5}) times.add(value);
  EXPECT_EQ(times.json(),
            R"({"count": 4, "p50": 2.000, "p90": 4.500, "p99": 4.500, "max": 4.500})");
}

}
}
