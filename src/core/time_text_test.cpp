#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "arrakis/error.hpp"
#include "arrakis/time.hpp"
#include "core/time_text_exercise.hpp"
#include "testing/corpus.hpp"

namespace arrakis::inline v1 {
namespace {

using namespace std::chrono_literals;

/// 2024-05-17T16:53:02Z
constexpr GpsTime kNow = GpsTime::from_ns(1'400'000'000'000'000'000);

GpsTime gps(std::int64_t seconds, Duration more = {}) {
  return GpsTime::from_seconds(seconds) + more;
}
GpsTime parse(std::string_view text) { return parse_time(text, kNow); }

/// The message of the refusal; "" when the text was accepted.
std::string why_no_time(std::string_view text) {
  try {
    parse_time(text, kNow);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    return error.what();
  }
  return "";
}
std::string why_no_duration(std::string_view text) {
  try {
    parse_duration(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    return error.what();
  }
  return "";
}
bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(ParseTime, GpsSecondsAreExact) {
  EXPECT_EQ(parse("1126259462.391").ns(), 1'126'259'462'391'000'000);
  EXPECT_EQ(parse("1126259640.413").ns(), 1'126'259'640'413'000'000);
  EXPECT_EQ(parse("1400000000.123456789").ns(), 1'400'000'000'123'456'789);
  EXPECT_EQ(parse("0").ns(), 0);
  EXPECT_EQ(parse("000000000000000000000000000000005").ns(), 5'000'000'000);
  EXPECT_EQ(parse(".5").ns(), 500'000'000);
  EXPECT_EQ(parse("5.").ns(), 5'000'000'000);
  EXPECT_EQ(parse("1e9"), gps(1'000'000'000));
  EXPECT_EQ(parse("1.4000000001E+9"), gps(1'400'000'000, 100ms));
  EXPECT_EQ(parse(" 100 "), gps(100));
}

TEST(ParseTime, LimitsAreExact) {
  EXPECT_EQ(parse("9223372036.854775807"), GpsTime::max());
  EXPECT_TRUE(contains(why_no_time("9223372036.854775808"), "out of range"));
  EXPECT_TRUE(contains(why_no_time("99999999999999999999999999999999999999999"), "out of range"));
  EXPECT_TRUE(contains(why_no_time("1e400"), "out of range"));
  EXPECT_TRUE(contains(why_no_time("1e99999999999"), "out of range"));
}

TEST(ParseTime, MoreThanNineFractionDigitsAreRefusedAndItSaysSo) {
  EXPECT_EQ(why_no_time("1.0000000001"),
            "bad time '1.0000000001': at most nine digits may follow the decimal point");
  EXPECT_TRUE(contains(why_no_time("2015-09-14T09:50:45.0000000001"), "nine digits"));
  EXPECT_TRUE(contains(why_no_time("1e-10"), "nine digits"));
  EXPECT_TRUE(contains(why_no_time("@1.1234567890"), "nine digits"));
  EXPECT_TRUE(contains(why_no_time("0." + std::string(1000, '1')), "nine digits"));
}

TEST(ParseTime, WhatIsNoTimeIsRefusedWithTheTextQuoted) {
  const std::string_view bad[] = {"",
                                  " ",
                                  "nan",
                                  "NaN",
                                  "inf",
                                  "-inf",
                                  "infinity",
                                  "abc",
                                  "1.2.3",
                                  "1,5",
                                  "0x10",
                                  "1 2",
                                  "12..5",
                                  ".",
                                  "-",
                                  "+",
                                  "@",
                                  "@x",
                                  "@1m",
                                  "1e",
                                  "2015-9-14",
                                  "2015-13-01",
                                  "2015-02-30",
                                  "2015-09-14T",
                                  "2015-09-14T25:00",
                                  "2015-09-14T09",
                                  "2015-09-14T09:60",
                                  "2015-09-14T09:50:61",
                                  "2015-09-14T09:50:45.",
                                  "2015-09-14T09:50:45 PST",
                                  "2015-09-14T09:50:45Zx",
                                  "2015-09-14T09:50:45+",
                                  "2015-09-14T09:50:45+2",
                                  "2015-09-14x",
                                  "2015-09-14T09:50:45+02:",
                                  "2015-09-14T09:50:45+24:00",
                                  "now!",
                                  "ago",
                                  "5 ago",
                                  "minutes ago",
                                  "-2 minutes ago",
                                  "--5m",
                                  "-5m ago",
                                  "today 09:50",
                                  "10m",
                                  "5x",
                                  "-5x",
                                  "1\n",
                                  "٣"};
  for (const std::string_view text : bad) {
    EXPECT_TRUE(contains(why_no_time(text), "bad time '")) << text;
  }
  EXPECT_EQ(why_no_time(""), "bad time '': it is empty");
  EXPECT_TRUE(contains(why_no_time("a\nb"), "'a\\nb'"));
  EXPECT_TRUE(contains(why_no_time(std::string_view("1\0", 2)), "'1\\x00'"));
}

TEST(ParseTime, ASignedNumberWithoutUnitIsRefused) {
  EXPECT_TRUE(contains(why_no_time("-60"), "needs a unit"));
  EXPECT_TRUE(contains(why_no_time("+60.5"), "needs a unit"));
  EXPECT_TRUE(contains(why_no_time("10m"), "needs a sign or 'ago'"));
}

TEST(ParseTime, DatesAreUtcWhateverTheZoneOfTheMachine) {
  ASSERT_EQ(::setenv("TZ", "America/Los_Angeles", 1), 0);
  EXPECT_EQ(parse("2015-09-14 09:50:45"), gps(1'126'259'462));
  ASSERT_EQ(::unsetenv("TZ"), 0);
}

TEST(ParseTime, DateAndTimeMayBeJoinedByTBlankOrUnderscore) {
  for (const std::string_view text :
       {"2015-09-14T09:50:45.391", "2015-09-14t09:50:45.391Z", "2015-09-14 09:50:45.391",
        "2015-09-14_09:50:45.391", "2015-09-14 09:50:45.391 UTC", "2015-09-14 09:50:45.391 gmt",
        "2015-09-14 09:50:45.391z"}) {
    EXPECT_EQ(parse(text), gps(1'126'259'462, 391ms)) << text;
  }
}

TEST(ParseTime, PartsOfTheDayMayBeLeftOut) {
  EXPECT_EQ(parse("2017-01-01"), gps(1'167'264'018));
  EXPECT_EQ(parse("2017-01-01T00:01"), gps(1'167'264'078));
  EXPECT_EQ(parse("1980-01-06"), gps(0));
  EXPECT_EQ(parse("1980-01-05T23:59:59.5"), gps(0, -500ms));
}

TEST(ParseTime, ZoneOffsetsCount) {
  EXPECT_EQ(parse("2015-09-14T11:50:45+02:00"), gps(1'126'259'462));
  EXPECT_EQ(parse("2015-09-14T02:50:45-07"), gps(1'126'259'462));
  EXPECT_EQ(parse("2015-09-14T15:20:45 +0530"), gps(1'126'259'462));
}

TEST(ParseTime, LeapSecondsAreAcceptedOnlyWhereTheyWere) {
  EXPECT_EQ(parse("2016-12-31T23:59:59Z"), gps(1'167'264'016));
  EXPECT_EQ(parse("2016-12-31T23:59:60Z"), gps(1'167'264'017));
  EXPECT_EQ(parse("2016-12-31T23:59:60.999999999Z"), gps(1'167'264'017, 999'999'999ns));
  EXPECT_EQ(parse("2017-01-01T01:59:60+02:00"), gps(1'167'264'017));
  EXPECT_EQ(parse("2017-01-01"), gps(1'167'264'018));
  EXPECT_TRUE(contains(why_no_time("2015-12-31T23:59:60Z"), "no leap second"));
  EXPECT_TRUE(contains(why_no_time("2016-12-31T23:58:60Z"), "no leap second"));
  EXPECT_TRUE(contains(why_no_time("2016-12-31T22:59:60Z"), "no leap second"));
}

TEST(ParseTime, DatesBeyondTheRangeAreRefused) {
  EXPECT_TRUE(contains(why_no_time("2273-01-01"), "out of range"));
  EXPECT_TRUE(contains(why_no_time("0001-01-01"), "out of range"));
  EXPECT_TRUE(contains(why_no_time("9999-12-31T23:59:59"), "out of range"));
  EXPECT_NO_THROW(parse("2270-01-01"));
}

TEST(ParseTime, UnixSecondsFollowAnAt) {
  EXPECT_EQ(parse("@1483228800"), gps(1'167'264'018));
  EXPECT_EQ(parse("@1442224245.391"), gps(1'126'259'462, 391ms));
  EXPECT_EQ(parse("@0"), gps(-315'964'800));
  EXPECT_EQ(parse("@-0.5"), gps(-315'964'800, -500ms));
  EXPECT_TRUE(contains(why_no_time("@99999999999"), "out of range"));
  EXPECT_TRUE(contains(why_no_time("@-99999999999999999999"), "out of range"));
}

TEST(ParseTime, WordsAreRelativeToTheGivenNow) {
  EXPECT_EQ(parse("now"), kNow);
  EXPECT_EQ(parse("NOW"), kNow);
  EXPECT_EQ(parse("today"), parse("2024-05-17"));
  EXPECT_EQ(parse("yesterday"), parse("2024-05-16"));
  EXPECT_EQ(parse("Tomorrow"), parse("2024-05-18"));
}

TEST(ParseTime, DaysAreUtcDaysAlsoAroundLeapSecondsAndBefore1970) {
  const GpsTime in_leap_second = gps(1'167'264'017, 500ms);
  EXPECT_EQ(parse_time("today", in_leap_second), parse("2016-12-31"));
  EXPECT_EQ(parse_time("tomorrow", in_leap_second), parse("2017-01-01"));
  EXPECT_EQ(parse_time("yesterday", parse("2017-01-01")), parse("2016-12-31"));
  EXPECT_EQ(parse_time("today", parse("1960-03-01T12:00")), parse("1960-03-01"));
}

TEST(ParseTime, SpansAreRelativeToTheGivenNow) {
  EXPECT_EQ(parse("-10m"), kNow - 10min);
  EXPECT_EQ(parse("+2h"), kNow + 2h);
  EXPECT_EQ(parse("-60s"), kNow - 60s);
  EXPECT_EQ(parse("-1h30m"), kNow - 90min);
  EXPECT_EQ(parse("2 minutes ago"), kNow - 2min);
  EXPECT_EQ(parse("10 minutes ago"), kNow - 10min);
  EXPECT_EQ(parse("1 hour 30 minutes Ago"), kNow - 90min);
  EXPECT_TRUE(contains(why_no_time("-300 weeks -1w"), "bad time"));
  EXPECT_TRUE(contains(why_no_time("+15000w"), "out of range"));
  EXPECT_TRUE(contains(why_no_time("99999999999w ago"), "out of range"));
}

TEST(ParseDuration, DecimalsAreSeconds) {
  EXPECT_EQ(parse_duration("0.25"), 250ms);
  EXPECT_EQ(parse_duration("62.5e-3"), 62'500us);
  EXPECT_EQ(parse_duration("-1.5"), -1500ms);
  EXPECT_EQ(parse_duration("+2"), 2s);
  EXPECT_EQ(parse_duration("-9223372036.854775808"), Duration::min());
  EXPECT_TRUE(contains(why_no_duration("9223372036.854775808"), "out of range"));
}

TEST(ParseDuration, NumbersWithUnitsAddUp) {
  EXPECT_EQ(parse_duration("10m"), 10min);
  EXPECT_EQ(parse_duration("1h30m"), 90min);
  EXPECT_EQ(parse_duration("1 h 30 m"), 90min);
  EXPECT_EQ(parse_duration("250 ms"), 250ms);
  EXPECT_EQ(parse_duration("2 minutes"), 2min);
  EXPECT_EQ(parse_duration("1.5h"), 90min);
  EXPECT_EQ(parse_duration("-1d12h"), -36h);
  EXPECT_EQ(parse_duration("2w"), 14 * 24h);
  EXPECT_EQ(parse_duration("1s 2ms 3us 4ns"), 1'002'003'004ns);
  EXPECT_EQ(parse_duration("7µs"), 7us);
  EXPECT_EQ(parse_duration("7 \u03BCs"), 7us);
  EXPECT_EQ(parse_duration("9223372036854775807ns"), Duration::max());
}

TEST(ParseDuration, WhatIsNoDurationIsRefused) {
  for (const std::string_view text : {"", " ", "nan", "inf", "-", "m", "1h30", "1x", "1h-30m", "1M",
                                      "now", "1 2", "1h,30m", "ms5", "--1", "1m ago"}) {
    EXPECT_TRUE(contains(why_no_duration(text), "bad duration '")) << text;
  }
  EXPECT_TRUE(contains(why_no_duration("0.5ns"), "whole number of nanoseconds"));
  EXPECT_TRUE(contains(why_no_duration("0.000000001m2.5ns"), "whole number of nanoseconds"));
  EXPECT_TRUE(contains(why_no_duration("1x"), "unknown unit"));
  EXPECT_TRUE(contains(why_no_duration("1h30"), "needs a unit"));
  EXPECT_TRUE(contains(why_no_duration("1.0000000001s"), "nine digits"));
  std::string long_sum;
  for (int i = 0; i < 5000; ++i) long_sum += "99999999999999999999w";
  EXPECT_TRUE(contains(why_no_duration(long_sum), "out of range"));
}

TEST(FormatTime, GpsTextHasNoTrailingZeros) {
  EXPECT_EQ(format_time(gps(1'126'259'462, 391ms)), "1126259462.391");
  EXPECT_EQ(format_time(gps(1'126'259'462)), "1126259462");
  EXPECT_EQ(format_time(gps(10, 1ns)), "10.000000001");
  EXPECT_EQ(format_time(gps(0)), "0");
  EXPECT_EQ(format_time(gps(0, -1ns)), "-0.000000001");
  EXPECT_EQ(format_time(gps(-1, -500ms)), "-1.5");
  EXPECT_EQ(format_time(GpsTime::max()), "9223372036.854775807");
  EXPECT_EQ(format_time(GpsTime::min()), "-9223372036.854775808");
}

TEST(FormatTime, IsoTextShowsLeapSeconds) {
  const auto iso = [](GpsTime t) { return format_time(t, TimeFormat::iso); };
  EXPECT_EQ(iso(gps(1'126'259'462, 391ms)), "2015-09-14T09:50:45.391Z");
  EXPECT_EQ(iso(gps(1'167'264'016)), "2016-12-31T23:59:59Z");
  EXPECT_EQ(iso(gps(1'167'264'017)), "2016-12-31T23:59:60Z");
  EXPECT_EQ(iso(gps(1'167'264'017, 250ms)), "2016-12-31T23:59:60.25Z");
  EXPECT_EQ(iso(gps(1'167'264'018)), "2017-01-01T00:00:00Z");
  EXPECT_EQ(iso(gps(0, -1ns)), "1980-01-05T23:59:59.999999999Z");
}

TEST(FormatTime, TextIsReadBackToTheSameInstant) {
  const GpsTime times[] = {gps(0),
                           gps(0, 1ns),
                           gps(1'167'264'016, 999'999'999ns),
                           gps(1'167'264'017),
                           gps(46'828'800),
                           GpsTime::max(),
                           gps(1'167'264'017, 500ms),
                           gps(1'167'264'018),
                           kNow,
                           gps(1'600'000'000, 7'812'500ns)};
  for (const GpsTime t : times) {
    EXPECT_EQ(parse(format_time(t)), t);
    EXPECT_EQ(parse(format_time(t, TimeFormat::iso)), t);
  }
  for (const GpsTime t : {GpsTime::min(), gps(0, -1ns), gps(-315'964'800)}) {
    EXPECT_EQ(parse(format_time(t, TimeFormat::iso)), t);
  }
}

TEST(FormatSeconds, HasExactlyTheDigitsAskedFor) {
  EXPECT_EQ(format_seconds(gps(1'000'000'000), 4), "1000000000.0000");
  EXPECT_EQ(format_seconds(gps(1, 62'500us), 3), "1.063");
  EXPECT_EQ(format_seconds(gps(1, 999'999'999ns), 9), "1.999999999");
  EXPECT_EQ(format_seconds(gps(1, 999'999'999ns), 3), "2.000");
  EXPECT_EQ(format_seconds(gps(1, 500ms), 0), "2");
  EXPECT_EQ(format_seconds(gps(1, 499'999'999ns), 0), "1");
  EXPECT_EQ(format_seconds(gps(0, -1500ms), 1), "-1.5");
  EXPECT_EQ(format_seconds(gps(0, -1ns), 3), "0.000");
  EXPECT_EQ(format_seconds(GpsTime::min(), 0), "-9223372037");
  EXPECT_EQ(format_seconds(gps(1), 99), "1.000000000");
  EXPECT_EQ(format_seconds(gps(1), -1), "1");
}

TEST(FormatDuration, SuitsPeople) {
  EXPECT_EQ(format_duration(0s), "0 s");
  EXPECT_EQ(format_duration(999ns), "999 ns");
  EXPECT_EQ(format_duration(1500ns), "1.5 us");
  EXPECT_EQ(format_duration(62'500us), "62.5 ms");
  EXPECT_EQ(format_duration(333'333'333ns), "333.333 ms");
  EXPECT_EQ(format_duration(999'999'999ns), "1 s");
  EXPECT_EQ(format_duration(1500ms), "1.5 s");
  EXPECT_EQ(format_duration(59'999'999'999ns), "1 m");
  EXPECT_EQ(format_duration(90s), "1 m 30 s");
  EXPECT_EQ(format_duration(3'599'900ms), "1 h");
  EXPECT_EQ(format_duration(123min), "2 h 3 m");
  EXPECT_EQ(format_duration(25h + 1min), "1 d 1 h");
  EXPECT_EQ(format_duration(-62'500us), "-62.5 ms");
  EXPECT_EQ(format_duration(Duration::max()), "106752 d");
  EXPECT_EQ(format_duration(Duration::min()), "-106752 d");
}

TEST(TimeText, SavedInputsOfTheFuzzerDoNoHarm) {
  for (const testing::SavedInput& input : testing::corpus("time_text_fuzz")) {
    exercise_time_text(input.bytes);
  }
}

}  // namespace
}  // namespace arrakis::inline v1
