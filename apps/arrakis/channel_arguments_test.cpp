#include "channel_arguments.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace arrakis::cli {
namespace {

TEST(ExpandNames, LeavesNamesAlone) {
  std::istringstream input("unread");
  EXPECT_EQ(expand_names({"X1:A", "X1:B-*"}, input), (std::vector<std::string>{"X1:A", "X1:B-*"}));
}

TEST(ExpandNames, ReadsTheRestFromTheInputInPlace) {
  std::istringstream input("X1:B\n\n  X1:C \t\r\n# not this\n  # nor this\nX1:D");
  EXPECT_EQ(expand_names({"X1:A", "-", "X1:E"}, input),
            (std::vector<std::string>{"X1:A", "X1:B", "X1:C", "X1:D", "X1:E"}));
}

TEST(ExpandNames, AnEmptyInputGivesNothing) {
  std::istringstream input;
  EXPECT_TRUE(expand_names({"-"}, input).empty());
}

}  // namespace
}
