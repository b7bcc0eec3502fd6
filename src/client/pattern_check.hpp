#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace arrakis::inline v1 {

/// What is surely wrong with a regular expression of Python's, for people; nothing when it may be
/// right. Servers answer a faulty one without a reason.
std::optional<std::string> pattern_fault(std::string_view pattern);

}  // namespace arrakis::inline v1
