#include "wire/block_json_exercise.hpp"

#include <string>

#include "arrakis/json.hpp"
#include "core/exercise.hpp"

namespace arrakis::inline v1 {

void exercise_block_json(std::string_view input) {
  std::string text;
  try {
    text = to_json(block_from_json(input));
  } catch (const Error& error) {
    require_refusal(error, "", input);
    require(error.what()[0] != '\0', "an error has a reason", input);
    return;
  }
  try {
    require(to_json(block_from_json(text)) == text, "a block reads back equal", input);
  } catch (const Error& error) {
    require(false, error.what(), input);
  }
}

}  // namespace arrakis::inline v1
