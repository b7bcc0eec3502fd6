#include <cstddef>
#include <cstdint>

#include "core/time_text_exercise.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  arrakis::exercise_time_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
