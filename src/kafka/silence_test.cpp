#include "kafka/silence.hpp"

#include <gtest/gtest.h>

namespace arrakis {
namespace {

TEST(Silence, CountsLooksAtWhichTheSameOffsetWaited) {
  Silence silence;
  EXPECT_FALSE(silence.is_silent(10));
  for (int look = 1; look < 4; ++look) {
    ASSERT_TRUE(silence.is_silent(10));
    EXPECT_EQ(silence.looks_behind(12), look);
  }
}

TEST(Silence, ProgressBetweenTheLooksClearsIt) {
  Silence silence;
  silence.is_silent(10);
  silence.is_silent(10);
  silence.looks_behind(12);
  EXPECT_FALSE(silence.is_silent(11));
  ASSERT_TRUE(silence.is_silent(11));
  EXPECT_EQ(silence.looks_behind(12), 1);
}

TEST(Silence, AtTheEndOfItsLogAPartitionMayBeSilent) {
  Silence silence;
  silence.is_silent(10);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(silence.is_silent(10));
    EXPECT_EQ(silence.looks_behind(10), 0);
  }
}

TEST(Silence, CountsRevivalsUntilAMessageComes) {
  Silence silence;
  EXPECT_FALSE(silence.spoke());
  EXPECT_EQ(silence.revived(), 1);
  EXPECT_EQ(silence.revived(), 2);
  EXPECT_TRUE(silence.spoke());
  EXPECT_FALSE(silence.spoke());
  EXPECT_EQ(silence.revived(), 1);
}

}
}
