#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace arrakis::inline v1 {

/// Longest piece of somebody's text that a message repeats.
inline constexpr std::size_t kMaxQuotedBytes = 200;

/// `text` in single quotes, fit for one line of a message: control characters are escaped, and what
/// is longer than `max_bytes` ends in "…". Bytes above 127 are kept.
std::string quoted(std::string_view text, std::size_t max_bytes = kMaxQuotedBytes);

}  // namespace arrakis::inline v1
