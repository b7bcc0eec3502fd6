#pragma once

#include <string_view>

namespace arrakis::inline v1 {

/// Reads `input` as a channel and as a file of channels. Ends the program when it is refused
/// without a reason, or a channel that was read and written, in either form, does not read back
/// equal.
void exercise_channel_json(std::string_view input);

}  // namespace arrakis::inline v1
