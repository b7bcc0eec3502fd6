#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/sample_columns.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  arrakis::exercise_column_decoder(std::as_bytes(std::span(data, size)));
  return 0;
}
