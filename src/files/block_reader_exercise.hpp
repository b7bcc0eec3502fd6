#pragma once

#include <string_view>

namespace arrakis::inline v1 {

/// Reads `input` as standard input may give it, and looks at every sample. Ends the program when it
/// is refused without naming it.
void exercise_block_reader(std::string_view input);

}  // namespace arrakis::inline v1
