#include "pretty_json.hpp"

#include <gtest/gtest.h>

#include "arrakis/error.hpp"

namespace arrakis::cli {
namespace {

TEST(IndentedJson, PutsMembersAndElementsOnLines) {
  EXPECT_EQ(indented_json(R"({"a": [1, 2], "b": {"c": null}, "d": [], "e": {}})", 4),
            "{\n    \"a\": [\n        1,\n        2\n    ],\n    \"b\": {\n        \"c\": null\n"
            "    },\n    \"d\": [],\n    \"e\": {}\n}");
}

TEST(IndentedJson, LeavesStringsAlone) {
  EXPECT_EQ(indented_json(R"(["{a, b: [\"]", "\\"])", 2), "[\n  \"{a, b: [\\\"]\",\n  \"\\\\\"\n]");
}

TEST(SortedJson, SortsEveryLevel) {
  EXPECT_EQ(sorted_json(R"({"b": {"z": 1, "a": 1.5}, "a": "é"})", 2),
            "{\n  \"a\": \"\\u00e9\",\n  \"b\": {\n    \"a\": 1.5,\n    \"z\": 1\n  }\n}");
}

TEST(SortedJson, RefusesWhatIsNone) { EXPECT_THROW(sorted_json("{", 2), Error); }

}  // namespace
}
