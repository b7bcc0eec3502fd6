#include <cstddef>
#include <cstdint>

#include "files/block_reader_exercise.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  arrakis::exercise_block_reader({reinterpret_cast<const char*>(data), size});
  return 0;
}
