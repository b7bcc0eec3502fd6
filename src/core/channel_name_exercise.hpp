#pragma once

#include <string_view>

namespace arrakis::inline v1 {

/// Gives `input` to what reads channel names and data types, and its first bytes to sample rates.
/// Ends the program when a part of a name is not what the grammar says, or what was read and
/// written does not read back equal.
void exercise_channel_name(std::string_view input);

}  // namespace arrakis::inline v1
