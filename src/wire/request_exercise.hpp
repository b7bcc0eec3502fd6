#pragma once

#include <string_view>

namespace arrakis::inline v1 {

/// Reads `input` as a command and as a schema version. Ends the program when it is refused without
/// a reason, or a request that was read and written is not written the same again.
void exercise_request(std::string_view input);

}  // namespace arrakis::inline v1
