#include "common/program_log.hpp"

#include <gtest/gtest.h>

#include <string>

namespace arrakis::console {
namespace {

std::optional<LogLevel> least(std::string_view text) {
  const auto threshold = parse_log_threshold(text);
  EXPECT_TRUE(threshold) << text;
  return threshold ? threshold->least : std::nullopt;
}

TEST(LogThreshold, ReadsNamesInAnyCase) {
  EXPECT_EQ(least("DEBUG"), LogLevel::debug);
  EXPECT_EQ(least("info"), LogLevel::info);
  EXPECT_EQ(least("Warning"), LogLevel::warning);
  EXPECT_EQ(least("warn"), LogLevel::warning);
  EXPECT_EQ(least("ERROR"), LogLevel::error);
  EXPECT_EQ(least("critical"), std::nullopt);
}

TEST(LogThreshold, ReadsNumbers) {
  EXPECT_EQ(least("0"), LogLevel::debug);
  EXPECT_EQ(least("10"), LogLevel::debug);
  EXPECT_EQ(least("15"), LogLevel::info);
  EXPECT_EQ(least("20"), LogLevel::info);
  EXPECT_EQ(least("30"), LogLevel::warning);
  EXPECT_EQ(least("40"), LogLevel::error);
  EXPECT_EQ(least("50"), std::nullopt);
}

TEST(LogThreshold, RefusesTheRest) {
  for (const char* text : {"", "loud", "-1", "10x", "1e1", "99999999999"}) {
    EXPECT_FALSE(parse_log_threshold(text)) << text;
  }
}

TEST(LogLine, HasTimeLevelAndMessage) {
  const std::string line = log_line(LogLevel::warning, "topic gone");
  // 2026-11-30 03:38:07,470 WARNING topic gone
  ASSERT_EQ(line.size(), 23 + sizeof(" WARNING topic gone") - 1);
  EXPECT_EQ(line.substr(23), " WARNING topic gone");
  EXPECT_EQ(line[4], '-');
  EXPECT_EQ(line[10], ' ');
  EXPECT_EQ(line[13], ':');
  EXPECT_EQ(line[19], ',');
}

TEST(LogLine, StaysOneLine) {
  EXPECT_EQ(log_line(LogLevel::info, "a\nb\x1b[1m").find_first_of("\n\x1b"), std::string::npos);
}

}  // namespace
}
