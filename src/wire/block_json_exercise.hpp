#pragma once

#include <string_view>

namespace arrakis::inline v1 {

/// Reads `input` as a block. Ends the program when it is refused without a reason, or a block that
/// was read does not read back equal.
void exercise_block_json(std::string_view input);

}  // namespace arrakis::inline v1
