#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

#include "arrakis/kafka.hpp"

namespace arrakis {
namespace {

TEST(Identifiers, RandomAlphanumHasTheLengthAskedForAndOnlyCapitalsAndDigits) {
  EXPECT_EQ(random_alphanum(0), "");
  for (const std::size_t length : {1U, 6U, 63U, 64U, 65U, 1000U}) {
    const std::string text = random_alphanum(length);
    ASSERT_EQ(text.size(), length);
    for (const char c : text) EXPECT_TRUE((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) << c;
  }
}

TEST(Identifiers, EveryCharacterOfTheAlphabetTurnsUp) {
  const std::string text = random_alphanum(20'000);
  EXPECT_EQ(std::set<char>(text.begin(), text.end()).size(), 36U);
}

TEST(Identifiers, GroupIdsAreSixteenCharactersAndNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = generate_groupid();
    EXPECT_EQ(id.size(), 16U);
    EXPECT_TRUE(seen.insert(id).second) << id;
  }
}

}
}
