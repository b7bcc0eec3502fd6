#pragma once

/// 128-bit integers for sums and products of 64-bit nanoseconds, and the ways back.

#include <cstdint>
#include <limits>
#include <optional>

namespace arrakis::inline v1 {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

/// `value`, or nothing when it does not fit.
constexpr std::optional<std::int64_t> to_int64(Int128 value) {
  if (value < std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  if (value > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

/// `value`, or the nearest that fits.
constexpr std::int64_t saturate_int64(Int128 value) {
  if (const auto fits = to_int64(value)) return *fits;
  return value < 0 ? std::numeric_limits<std::int64_t>::min()
                   : std::numeric_limits<std::int64_t>::max();
}

}  // namespace arrakis::inline v1
