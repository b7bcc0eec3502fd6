#include "query_options.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <string>

namespace arrakis::cli {
namespace {

bool matches(const std::string& glob, const std::string& name) {
  return std::regex_search(name, std::regex("^" + regex_of_glob(glob)));
}

TEST(RegexOfGlob, MatchesWholeNames) {
  EXPECT_TRUE(matches("H1:*", "H1:CAL-A"));
  EXPECT_TRUE(matches("*A", "H1:CAL-A"));
  EXPECT_FALSE(matches("H1:", "H1:CAL-A"));
  EXPECT_TRUE(matches("H1:CAL-?", "H1:CAL-A"));
  EXPECT_FALSE(matches("H1:CAL-?", "H1:CAL-AB"));
}

TEST(RegexOfGlob, KnowsSets) {
  EXPECT_TRUE(matches("[HL]1:A", "L1:A"));
  EXPECT_FALSE(matches("[!HL]1:A", "L1:A"));
  EXPECT_TRUE(matches("[!HL]1:A", "V1:A"));
  EXPECT_EQ(regex_of_glob("[a\\d]"), "[a\\\\d]$");
}

TEST(RegexOfGlob, TakesEverythingElseAsItIs) {
  EXPECT_EQ(regex_of_glob("a.b(c)+"), "a\\.b\\(c\\)\\+$");
  EXPECT_TRUE(matches("a[b", "a[b"));
  EXPECT_FALSE(matches("H1:A.B", "H1:AxB"));
}

}  // namespace
}
