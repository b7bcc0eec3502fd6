#include "vectors/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace arrakis::vectors {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kShownCharacters = 160;
constexpr double kExactIntegers = 9007199254740992;  // 2^53: beyond it a double may be a neighbour

bool is_negative(const Json& integer) {
  return !integer.is_number_unsigned() && integer.get<std::int64_t>() < 0;
}

bool same_number(const Json& a, const Json& b) {
  if (a.is_number_float() && b.is_number_float()) {
    return std::bit_cast<std::uint64_t>(a.get<double>()) ==
           std::bit_cast<std::uint64_t>(b.get<double>());
  }
  if (a.is_number_float() || b.is_number_float()) {
    return a.get<double>() == b.get<double>() && std::abs(a.get<double>()) <= kExactIntegers;
  }
  return is_negative(a) == is_negative(b) && a.get<std::uint64_t>() == b.get<std::uint64_t>();
}

std::string differs(const std::string& path, const Json& expected, const Json& actual) {
  return fmt::format("{}expected {}, got {}", path.empty() ? "" : path + ": ", shown(expected),
                     shown(actual));
}

std::string find_difference(const std::string& path, const Json& expected, const Json& actual);

std::string difference_of_objects(const std::string& path, const Json& expected,
                                  const Json& actual) {
  for (const auto& [key, value] : expected.items()) {
    const auto found = actual.find(key);
    if (found == actual.end()) {
      return fmt::format("{}/{}: expected {}, got nothing", path, key, shown(value));
    }
    std::string inside = find_difference(fmt::format("{}/{}", path, key), value, *found);
    if (!inside.empty()) return inside;
  }
  for (const auto& [key, value] : actual.items()) {
    if (!expected.contains(key)) {
      return fmt::format("{}/{}: expected nothing, got {}", path, key, shown(value));
    }
  }
  return {};
}

std::string difference_of_lists(const std::string& path, const Json& expected, const Json& actual) {
  const std::size_t common = std::min(expected.size(), actual.size());
  for (std::size_t i = 0; i < common; ++i) {
    std::string inside = find_difference(fmt::format("{}[{}]", path, i), expected[i], actual[i]);
    if (!inside.empty()) return inside;
  }
  if (expected.size() == actual.size()) return {};
  return fmt::format("{}{} elements expected, got {}", path.empty() ? "" : path + ": ",
                     expected.size(), actual.size());
}

std::string find_difference(const std::string& path, const Json& expected, const Json& actual) {
  if (expected.is_object() && actual.is_object()) {
    return difference_of_objects(path, expected, actual);
  }
  if (expected.is_array() && actual.is_array()) return difference_of_lists(path, expected, actual);
  const bool is_same = expected.is_number() && actual.is_number() ? same_number(expected, actual)
                                                                  : expected == actual;
  return is_same ? std::string() : differs(path, expected, actual);
}

}  // namespace

std::string difference(const Json& expected, const Json& actual) {
  return find_difference("", expected, actual);
}

std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kShownCharacters) {
    text.resize(kShownCharacters);
    text += "...";
  }
  return text;
}

}  // namespace arrakis::vectors
