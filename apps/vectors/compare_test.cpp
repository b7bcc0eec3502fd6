#include "vectors/compare.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace arrakis::vectors {
namespace {

using Json = nlohmann::json;

TEST(Difference, EqualValuesHaveNone) {
  const Json value = {{"a", {1, 2.5, nullptr, "x"}}, {"b", true}};
  EXPECT_EQ(difference(value, value), "");
}

TEST(Difference, NamesThePlaceAndBothValues) {
  const Json expected = {{"data", {{"X1:A-a", {1, 2, 3}}}}};
  const Json actual = {{"data", {{"X1:A-a", {1, nullptr, 3}}}}};
  EXPECT_EQ(difference(expected, actual), "/data/X1:A-a[1]: expected 2, got null");
}

TEST(Difference, IntegersAreComparedTo64Bits) {
  constexpr std::int64_t kLarge = 1'400'000'000'000'000'001;
  EXPECT_EQ(difference(kLarge, kLarge), "");
  EXPECT_NE(difference(kLarge, kLarge - 1), "");
  EXPECT_NE(difference(-1, std::numeric_limits<std::uint64_t>::max()), "");
  EXPECT_EQ(difference(Json(7), Json(std::uint64_t{7})), "");
}

TEST(Difference, RealsAreComparedByTheirBits) {
  EXPECT_NE(difference(0.0, -0.0), "");
  EXPECT_NE(difference(0.1, 0.1 + 1e-17 + 1e-16), "");
  EXPECT_EQ(difference(0.1, 0.1), "");
}

TEST(Difference, RealEqualsAnIntegerOnlyWhereBothAreExact) {
  EXPECT_EQ(difference(31, 31.0), "");
  EXPECT_NE(difference(std::numeric_limits<std::int64_t>::min(), -9223372036854775808.0), "");
}

TEST(Difference, MissingAndExtraKeysAndElementsAreSeen) {
  EXPECT_NE(difference(Json{{"a", 1}}, Json::object()), "");
  EXPECT_NE(difference(Json::object(), Json{{"a", 1}}), "");
  EXPECT_NE(difference(Json::array({1, 2}), Json::array({1})), "");
  EXPECT_NE(difference(Json::array(), Json::object()), "");
}

TEST(Shown, LongValuesAreCutShort) { EXPECT_LT(shown(Json(std::string(5000, 'x'))).size(), 200U); }

}  // namespace
}  // namespace arrakis::vectors
