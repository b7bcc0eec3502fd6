#pragma once

/// A series' samples as Arrow buffers hold them.

#include <cstddef>
#include <cstdint>

#include "arrakis/block.hpp"

namespace arrakis::inline v1 {

/// Copies the series' values, zero under gaps, to `values`.
void write_values(const Series& series, std::byte* values);
/// Copies the series' validity to bits [first_bit, first_bit + size()) of `bitmap`. The other bits
/// stay as they are.
void write_validity(const Series& series, std::uint8_t* bitmap, std::size_t first_bit);

}  // namespace arrakis::inline v1
