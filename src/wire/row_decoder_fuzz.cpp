#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/sample_messages.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  arrakis::exercise_row_decoder(std::as_bytes(std::span(data, size)));
  return 0;
}
