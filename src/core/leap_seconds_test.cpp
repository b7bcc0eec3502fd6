#include "core/leap_seconds.hpp"

#include <gtest/gtest.h>

#include <string>

namespace arrakis::inline v1 {
namespace {

// 2017-01-01T00:00:00 UTC and the leap second before it.
constexpr std::int64_t kNewYearUnix = 1'483'228'800;
constexpr std::int64_t kLeapGps = 1'167'264'017;

/// A list of the first two leap seconds after the GPS epoch.
constexpr std::string_view kShortList =
    "#\tcomment\n"
    "#$\t3960835200\n"
    "#@\t3991593600\r\n"
    "2272060800      10      # 1 Jan 1972\n"
    "2524521600      19      # 1 Jan 1980\n"
    "\n"
    "2571782400      20      # 1 Jul 1981\n"
    "2603318400      21      # 1 Jul 1982";

constexpr std::string_view kShortTzdata =
    "# comment\n"
    "Leap\t1979\tDec\t31\t23:59:60\t+\tS\n"
    "Leap\t1981\tJun\t30\t23:59:60\t+\tS\n"
    "Leap\t1982\tJun\t30\t23:59:60\t+\tS\n"
    "#updated 1751846400 (2025-07-07 00:00:00 UTC)\n"
    "#expires 1782604800 (2026-06-28 00:00:00 UTC)\n";

std::string with(std::string_view text, std::string_view from, std::string_view to) {
  std::string changed(text);
  changed.replace(changed.find(from), from.size(), to);
  return changed;
}

TEST(LeapSeconds, BuiltInTableHasEighteen) {
  const LeapSeconds table = LeapSeconds::built_in();
  EXPECT_EQ(table.size(), 18U);
  EXPECT_EQ(table.gps_second(kNewYearUnix), kLeapGps + 1);
  EXPECT_EQ(table.unix_second(0), kGpsEpochUnixSecond);
  EXPECT_EQ(table.unix_second(-1), kGpsEpochUnixSecond - 1);
}

TEST(LeapSeconds, OnlyTheLeapSecondItselfIsOne) {
  const LeapSeconds table = LeapSeconds::built_in();
  EXPECT_FALSE(table.is_leap_second(kLeapGps - 1));
  EXPECT_TRUE(table.is_leap_second(kLeapGps));
  EXPECT_FALSE(table.is_leap_second(kLeapGps + 1));
  EXPECT_TRUE(table.is_leap_second(46'828'800));
}

TEST(LeapSeconds, TheTwoFilesSayTheSame) {
  for (const auto& table :
       {LeapSeconds::parse_list(kShortList), LeapSeconds::parse_tzdata(kShortTzdata)}) {
    ASSERT_TRUE(table);
    EXPECT_EQ(table->size(), 2U);
    EXPECT_EQ(table->expires(), 1'782'604'800);
    EXPECT_TRUE(table->is_leap_second(46'828'800));
    EXPECT_TRUE(table->is_leap_second(78'364'801));
    EXPECT_EQ(table->gps_second(394'329'600), 78'364'802);
  }
}

TEST(LeapSeconds, AnAnnouncedLeapSecondOfANewerListCounts) {
  // 23:59:60 on 30 June 2028, as such a list would tell it.
  constexpr std::int64_t midnight = 1'846'022'400;
  std::string text = "#@ 4102444800\n2524521600 19\n";
  const std::int64_t known[] = {362'793'600,   394'329'600,   425'865'600,   489'024'000,
                                567'993'600,   631'152'000,   662'688'000,   709'948'800,
                                741'484'800,   773'020'800,   820'454'400,   867'715'200,
                                915'148'800,   1'136'073'600, 1'230'768'000, 1'341'100'800,
                                1'435'708'800, 1'483'228'800, midnight};
  int tai_offset = 19;
  for (const std::int64_t unix_second : known) {
    text += std::to_string(unix_second + 2'208'988'800) + " " + std::to_string(++tai_offset) + "\n";
  }
  const auto table = LeapSeconds::parse_list(text);
  ASSERT_TRUE(table);
  EXPECT_TRUE(table->supersedes(LeapSeconds::built_in()));
  EXPECT_FALSE(LeapSeconds::built_in().supersedes(*table));
  const std::int64_t before = table->gps_second(midnight - 1);
  EXPECT_EQ(table->gps_second(midnight), before + 2);
  EXPECT_TRUE(table->is_leap_second(before + 1));
  EXPECT_EQ(table->unix_second(before + 1), midnight - 1);
}

TEST(LeapSeconds, AListThatContradictsOrExpiresEarlierDoesNotSupersede) {
  const LeapSeconds built_in = LeapSeconds::built_in();
  EXPECT_FALSE(built_in.supersedes(built_in));
  const auto shorter = LeapSeconds::parse_list(with(kShortList, "3991593600", "4102444800"));
  ASSERT_TRUE(shorter);
  EXPECT_FALSE(shorter->supersedes(built_in));
}

TEST(LeapSeconds, MalformedListsAreRefused) {
  EXPECT_FALSE(LeapSeconds::parse_list(""));
  EXPECT_FALSE(LeapSeconds::parse_list("<html>not found</html>"));
  EXPECT_FALSE(LeapSeconds::parse_list(with(kShortList, "#@\t3991593600", "#")));
  EXPECT_FALSE(LeapSeconds::parse_list(with(kShortList, "2571782400      20", "2571782400")));
  EXPECT_FALSE(LeapSeconds::parse_list(with(kShortList, "      20 ", "      18 ")));
  EXPECT_FALSE(LeapSeconds::parse_list(with(kShortList, "2603318400", "2540000000")));
  EXPECT_FALSE(LeapSeconds::parse_list(with(kShortList, "2603318400", "99999999999999999999")));
}

TEST(LeapSeconds, MalformedTzdataIsRefused) {
  EXPECT_FALSE(LeapSeconds::parse_tzdata(""));
  EXPECT_FALSE(LeapSeconds::parse_tzdata(with(kShortTzdata, "#expires", "#expired")));
  EXPECT_FALSE(LeapSeconds::parse_tzdata(with(kShortTzdata, "1982\tJun\t30", "1982\tJun\t31")));
  EXPECT_FALSE(LeapSeconds::parse_tzdata(with(kShortTzdata, "1982\tJun", "1982\tjune")));
  EXPECT_FALSE(LeapSeconds::parse_tzdata(with(kShortTzdata, "+", "-")));
  EXPECT_FALSE(LeapSeconds::parse_tzdata("Leap"));
}

TEST(LeapSeconds, TheTableOfThisProcessKnowsAtLeastTheBuiltInOne) {
  const LeapSeconds& table = LeapSeconds::current();
  EXPECT_GE(table.size(), LeapSeconds::built_in().size());
  EXPECT_GE(table.expires(), LeapSeconds::built_in().expires());
  EXPECT_TRUE(table.is_leap_second(kLeapGps));
}

}  // namespace
}  // namespace arrakis::inline v1
