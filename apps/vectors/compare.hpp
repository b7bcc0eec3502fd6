#pragma once

/// Strict comparison of JSON values: numbers to the last bit.

#include <nlohmann/json.hpp>
#include <string>

namespace arrakis::vectors {

/// Where and how `actual` first differs from `expected`; empty: nowhere. Integers are compared as
/// 64-bit numbers, reals by their bits (so -0.0 is not 0.0); the order of keys doesn't matter.
std::string difference(const nlohmann::json& expected, const nlohmann::json& actual);

/// `value` on one line, cut short when it is long.
std::string shown(const nlohmann::json& value);

}  // namespace arrakis::vectors
