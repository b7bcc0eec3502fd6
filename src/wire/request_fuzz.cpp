#include <cstddef>
#include <cstdint>

#include "wire/request_exercise.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  arrakis::exercise_request({reinterpret_cast<const char*>(data), size});
  return 0;
}
