#include <cstddef>
#include <cstdint>

#include "core/channel_name_exercise.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  arrakis::exercise_channel_name({reinterpret_cast<const char*>(data), size});
  return 0;
}
