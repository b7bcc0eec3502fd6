#pragma once

#include <string_view>

namespace arrakis::inline v1 {

/// Gives `input` to everything that reads times, durations and leap-second lists, and its first
/// bytes to what takes a double. Ends the program when something is refused without a reason, or
/// what was read and written does not read back equal.
void exercise_time_text(std::string_view input);

}  // namespace arrakis::inline v1
