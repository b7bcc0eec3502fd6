#include "files/chunk_buffer.hpp"

#include <algorithm>

namespace arrakis::inline v1 {

void ChunkBuffer::append(std::span<const std::byte> elements, const OnChunk& on_chunk) {
  size_ += elements.size() / element_bytes();
  while (!elements.empty()) {
    if (chunk_.empty() && elements.size() >= chunk_bytes_) {
      hand_over(elements.first(chunk_bytes_), on_chunk);
      elements = elements.subspan(chunk_bytes_);
      continue;
    }
    chunk_.reserve(chunk_bytes_);
    const auto part = elements.first(std::min(elements.size(), chunk_bytes_ - chunk_.size()));
    chunk_.insert(chunk_.end(), part.begin(), part.end());
    elements = elements.subspan(part.size());
    if (chunk_.size() == chunk_bytes_) {
      hand_over(chunk_, on_chunk);
      chunk_.clear();
    }
  }
}

void ChunkBuffer::append_fill(std::uint64_t count, const OnChunk& on_chunk) {
  if (count == 0) return;
  size_ += count;
  if (!chunk_.empty()) {
    const std::uint64_t room = (chunk_bytes_ - chunk_.size()) / element_bytes();
    const std::uint64_t here = std::min(count, room);
    put_fill(static_cast<std::size_t>(here) * element_bytes());
    count -= here;
    if (chunk_.size() < chunk_bytes_) return;
    hand_over(chunk_, on_chunk);
    chunk_.clear();
  }
  number_ += count / chunk_elements();
  put_fill(static_cast<std::size_t>(count % chunk_elements()) * element_bytes());
}

void ChunkBuffer::flush(const OnChunk& on_chunk) {
  if (chunk_.empty()) return;
  put_fill(chunk_bytes_ - chunk_.size());
  hand_over(chunk_, on_chunk);
  chunk_.clear();
}

void ChunkBuffer::hand_over(std::span<const std::byte> chunk, const OnChunk& on_chunk) {
  on_chunk(number_++, chunk);
}

void ChunkBuffer::put_fill(std::size_t bytes) {
  if (bytes == 0) return;
  chunk_.reserve(chunk_bytes_);
  for (std::size_t i = 0; i < bytes; i += fill_.size()) {
    chunk_.insert(chunk_.end(), fill_.begin(), fill_.end());
  }
}

}  // namespace arrakis::inline v1
