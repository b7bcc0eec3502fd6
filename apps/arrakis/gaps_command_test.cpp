#include "gaps_command.hpp"

#include <gtest/gtest.h>

namespace arrakis::cli {
namespace {

Segment segment(double start, double end) {
  return {GpsTime::from_seconds(start), GpsTime::from_seconds(end)};
}

TEST(GapLines, AreInOrderOfTimeThenName) {
  EXPECT_EQ(gap_lines({{"X1:B", {segment(1, 1.5), segment(3, 4)}},
                       {"X1:A", {segment(1, 2), segment(2.25, 3)}}}),
            "1 2 1 s X1:A\n1 1.5 0.5 s X1:B\n2.25 3 0.75 s X1:A\n3 4 1 s X1:B\n");
  EXPECT_EQ(gap_lines({{"X1:A", {}}}), "");
}

TEST(GapJson, HasAnObjectASegment) {
  EXPECT_EQ(
      gap_json({{"X1:\"é", {segment(1, 2)}}}),
      "{\"channel\": \"X1:\\\"\\u00e9\", \"start_ns\": 1000000000, \"end_ns\": 2000000000}\n");
}

}  // namespace
}
