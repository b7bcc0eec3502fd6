#include "wire/series_buffers.hpp"

#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include <cstring>
#include <span>

namespace arrakis::inline v1 {

void write_values(const Series& series, std::byte* values) {
  const std::span<const std::byte> bytes = series.bytes();
  if (bytes.empty()) return;
  if (series.gap_count() == series.size()) {
    std::memset(values, 0, bytes.size());
    return;
  }
  std::memcpy(values, bytes.data(), bytes.size());
  if (!series.has_gaps()) return;
  const std::size_t width = bytes.size() / series.size();
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (series.is_gap(i)) std::memset(values + i * width, 0, width);
  }
}

void write_validity(const Series& series, std::uint8_t* bitmap, std::size_t first_bit) {
  const auto first = static_cast<std::int64_t>(first_bit);
  const auto size = static_cast<std::int64_t>(series.size());
  if (!series.has_gaps()) {
    arrow::bit_util::SetBitsTo(bitmap, first, size, true);
  } else if (series.gap_count() == series.size()) {
    arrow::bit_util::SetBitsTo(bitmap, first, size, false);
  } else {
    arrow::internal::CopyBitmap(series.validity(),
                                static_cast<std::int64_t>(series.validity_offset()), size, bitmap,
                                first);
  }
}

}  // namespace arrakis::inline v1
