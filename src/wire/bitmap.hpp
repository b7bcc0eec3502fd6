#pragma once

/// Arrow validity bitmaps: least significant bit first, 1 = a value, 0 = a null.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace arrakis::inline v1 {

inline bool bit_at(const std::uint8_t* bits, std::size_t index) {
  return ((unsigned{bits[index / 8]} >> (index % 8)) & 1U) != 0;
}

inline void set_bit(std::uint8_t* bits, std::size_t index) {
  bits[index / 8] = static_cast<std::uint8_t>(unsigned{bits[index / 8]} | (1U << (index % 8)));
}

inline void clear_bit(std::uint8_t* bits, std::size_t index) {
  bits[index / 8] = static_cast<std::uint8_t>(unsigned{bits[index / 8]} & ~(1U << (index % 8)));
}

constexpr std::size_t bitmap_bytes(std::size_t bits) { return bits / 8 + (bits % 8 == 0 ? 0 : 1); }

/// Number of zero bits among the `count` bits from bit `offset`. Reads no byte outside them.
inline std::size_t count_zero_bits(const std::uint8_t* bits, std::size_t offset,
                                   std::size_t count) {
  constexpr std::size_t kWordBits = 64;
  std::size_t zeros = 0;
  std::size_t i = offset;
  const std::size_t end = offset + count;
  for (; i < end && i % 8 != 0; ++i) zeros += bit_at(bits, i) ? 0U : 1U;
  for (; end - i >= kWordBits; i += kWordBits) {
    std::uint64_t word = 0;
    std::memcpy(&word, bits + i / 8, sizeof word);
    zeros += static_cast<std::size_t>(std::popcount(~word));
  }
  for (; i < end; ++i) zeros += bit_at(bits, i) ? 0U : 1U;
  return zeros;
}

/// A bitmap of which only the bits from `offset` on are meant. Without bytes: everything is valid.
struct Bitmap {
  std::span<const std::byte> bytes;
  std::size_t offset = 0;

  [[nodiscard]] bool all_valid() const { return bytes.empty(); }
  [[nodiscard]] const std::uint8_t* bits() const {
    return reinterpret_cast<const std::uint8_t*>(bytes.data());
  }
  [[nodiscard]] bool is_valid(std::size_t i) const {
    return all_valid() || bit_at(bits(), offset + i);
  }
  /// Whether bits for `count` elements are there.
  [[nodiscard]] bool covers(std::size_t count) const {
    if (all_valid()) return true;
    const std::size_t bits = bytes.size() * 8;
    return offset <= bits && count <= bits - offset;
  }
};

}  // namespace arrakis::inline v1
