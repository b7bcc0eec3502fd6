#pragma once

/// An array that grows at its end and leaves in chunks of a fixed number of elements.
/// Holds one chunk, from the first append() on. Not safe from several threads at once.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace arrakis::inline v1 {

class ChunkBuffer {
 public:
  /// Receives whole chunks, numbered from zero, in order. Chunks that are left out are all fill.
  using OnChunk = std::function<void(std::uint64_t number, std::span<const std::byte> bytes)>;

  /// `fill`: one element, for what is not known. `chunk_elements` > 0.
  ChunkBuffer(std::span<const std::byte> fill, std::size_t chunk_elements)
      : fill_(fill.begin(), fill.end()), chunk_bytes_(chunk_elements * fill.size()) {}

  /// `elements`: a whole number of them.
  void append(std::span<const std::byte> elements, const OnChunk& on_chunk);
  void append_fill(std::uint64_t count, const OnChunk& on_chunk);
  /// Hands over the chunk that is begun, its rest fill. Nothing can be appended afterwards.
  void flush(const OnChunk& on_chunk);

  /// Number of elements.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::size_t element_bytes() const { return fill_.size(); }
  [[nodiscard]] std::size_t chunk_elements() const { return chunk_bytes_ / fill_.size(); }
  [[nodiscard]] std::span<const std::byte> fill() const { return fill_; }

 private:
  void hand_over(std::span<const std::byte> chunk, const OnChunk& on_chunk);
  void put_fill(std::size_t bytes);

  std::vector<std::byte> fill_;
  std::size_t chunk_bytes_;
  std::vector<std::byte> chunk_;  // the one that is begun
  std::uint64_t number_ = 0;      // of that one
  std::uint64_t size_ = 0;
};

}  // namespace arrakis::inline v1
