#pragma once

/// Many Arrow buffers in one allocation.

#include <arrow/buffer.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>

#include "wire/arrow_types.hpp"

namespace arrakis::inline v1 {

struct ArenaPiece {
  std::uint8_t* data = nullptr;
  std::shared_ptr<arrow::Buffer> buffer;
};

/// Hands out pieces one after the other, each aligned as in a message's body. The memory lives as
/// long as any piece's buffer. Not initialised, but for the padding between the pieces.
class BufferArena {
 public:
  /// `bytes`: the sum of padded() over all pieces to come.
  explicit BufferArena(std::size_t bytes)
      : storage_(require_value(arrow::AllocateBuffer(static_cast<std::int64_t>(bytes)))) {}

  static constexpr std::size_t padded(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  static constexpr std::size_t bytes_for(std::initializer_list<std::size_t> pieces) {
    std::size_t sum = 0;
    for (const std::size_t piece : pieces) sum += padded(piece);
    return sum;
  }

  ArenaPiece take(std::size_t bytes) {
    std::uint8_t* data = storage_->mutable_data() + used_;
    for (std::size_t i = bytes; i < padded(bytes); ++i) data[i] = 0;
    auto buffer = arrow::SliceBuffer(storage_, static_cast<std::int64_t>(used_),
                                     static_cast<std::int64_t>(bytes));
    used_ += padded(bytes);
    return {data, std::move(buffer)};
  }

 private:
  static constexpr std::size_t kAlignment = 8;  // of buffers in a message's body, by default

  std::shared_ptr<arrow::Buffer> storage_;
  std::size_t used_ = 0;
};

}  // namespace arrakis::inline v1
