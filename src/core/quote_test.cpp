#include "core/quote.hpp"

#include <gtest/gtest.h>

namespace arrakis::inline v1 {
namespace {

TEST(Quoted, PlainTextIsOnlyQuoted) {
  EXPECT_EQ(quoted("H1:A-B"), "'H1:A-B'");
  EXPECT_EQ(quoted(""), "''");
}

TEST(Quoted, ControlCharactersCanNotBreakTheLine) {
  EXPECT_EQ(quoted(std::string_view("a\n\t\r\x1b[31m\x7f\0z", 12)),
            "'a\\n\\t\\r\\x1b[31m\\x7f\\x00z'");
}

TEST(Quoted, QuotesAndBackslashesAreEscaped) { EXPECT_EQ(quoted("it's \\"), "'it\\'s \\\\'"); }

TEST(Quoted, LongTextIsClippedBetweenCharacters) {
  EXPECT_EQ(quoted("abcdef", 3), "'abc…'");
  EXPECT_EQ(quoted("abcdef", 6), "'abcdef'");
  EXPECT_EQ(quoted("aÜb", 2), "'a…'");
  EXPECT_EQ(quoted("aÜb", 3), "'aÜ…'");
}

}  // namespace
}  // namespace arrakis::inline v1
