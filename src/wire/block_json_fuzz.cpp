#include <cstddef>
#include <cstdint>

#include "wire/block_json_exercise.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  arrakis::exercise_block_json({reinterpret_cast<const char*>(data), size});
  return 0;
}
