#include "common/text.hpp"

#include <gtest/gtest.h>

namespace arrakis::console {
namespace {

TEST(Text, WidthCountsCellsNotBytes) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("H1:A-B"), 6U);
  EXPECT_EQ(display_width("▁▂█·…"), 5U);
  EXPECT_EQ(display_width("Größe"), 5U);
  EXPECT_EQ(display_width("e\xCC\x81"), 1U);  // e with a combining accent
  EXPECT_EQ(display_width("重力"), 4U);
}

TEST(Text, BytesThatAreNoUtf8CountAsOneCell) {
  EXPECT_EQ(display_width("a\xFFz"), 3U);
  EXPECT_EQ(display_width("\xE2\x96"), 2U);      // cut short
  EXPECT_EQ(display_width("\xC0\x80"), 2U);      // overlong
  EXPECT_EQ(display_width("\xED\xA0\x80"), 1U);  // a surrogate: well-formed by its bits
}

TEST(Text, PrintableReplacesWhatCouldMoveTheCursor) {
  EXPECT_EQ(printable("H1:A-B"), "H1:A-B");
  EXPECT_EQ(printable("Größe ▁"), "Größe ▁");
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\uFFFD[2Jb");
  EXPECT_EQ(printable("a\nb\tc\x7f"), "a\uFFFDb\uFFFDc\uFFFD");
  EXPECT_EQ(printable("\u202Eabc"), "\uFFFDabc");
  EXPECT_EQ(printable("\xC2\x9B"), "\uFFFD");  // the one-character form of ESC [
  EXPECT_EQ(printable("a\xFF"), "a\uFFFD");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\uFFFD");
}

TEST(Text, ShortenMarksWhatItCuts) {
  EXPECT_EQ(shorten("H1:A-B", 6), "H1:A-B");
  EXPECT_EQ(shorten("H1:A-B", 5), "H1:A…");
  EXPECT_EQ(shorten("H1:A-B", 1), "…");
  EXPECT_EQ(shorten("H1:A-B", 0), "");
  EXPECT_EQ(shorten("", 0), "");
}

TEST(Text, ShortenDoesNotCutACharacterInTwo) {
  EXPECT_EQ(shorten("▁▂▃", 2), "▁…");
  EXPECT_EQ(shorten("重力波", 4), "重…");  // no room for half of the second
}

TEST(Text, AlignmentFillsUpToTheWidth) {
  EXPECT_EQ(left_aligned("ab", 4), "ab  ");
  EXPECT_EQ(right_aligned("ab", 4), "  ab");
  EXPECT_EQ(left_aligned("▁▂", 3), "▁▂ ");
  EXPECT_EQ(right_aligned("abcdef", 4), "abc…");
  EXPECT_EQ(left_aligned("重力波", 4), "重… ");
}

}  // namespace
}
