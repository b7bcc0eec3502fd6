#pragma once

/// Chunks of many growing arrays in one unnamed file, until the arrays are complete and each can be
/// read from its beginning to its end.
/// Not safe from several threads at once.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "files/pending_file.hpp"

namespace arrakis::inline v1 {

class Spool {
 public:
  /// In the folder of `file`, which also names the file in errors.
  Spool(const PendingFile& file, std::size_t arrays);

  /// Chunks of an array come in order of their numbers and are of one length. Throws Error(io).
  void put(std::size_t array, std::uint64_t number, std::span<const std::byte> bytes);

  struct Chunk {
    std::uint64_t number;
    std::uint64_t offset;  // in the file
  };
  [[nodiscard]] std::span<const Chunk> chunks(std::size_t array) const { return arrays_[array]; }
  /// Reads `bytes` from `offset` on. 0, or an errno.
  [[nodiscard]] int read(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  const PendingFile& owner_;
  Descriptor file_;
  std::uint64_t size_ = 0;
  std::vector<std::vector<Chunk>> arrays_;
};

}  // namespace arrakis::inline v1
