#pragma once

/// Unfolds the compressed buffers of a message, which may claim to be of any size.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/result.hpp"
#include "wire/ipc_metadata.hpp"

namespace arrakis::inline v1 {

/// Unfolds never more than a budget, in all calls together.
class Inflater {
 public:
  explicit Inflater(std::size_t budget) : budget_(budget) {}

  struct Unfolded {
    std::shared_ptr<const void> owner;  ///< of the bytes
    std::span<const std::byte> bytes;   ///< aligned for any sample
    std::vector<ByteRange> ranges;      ///< in `bytes`, each aligned, in the order of the buffers
  };
  /// `buffers` lie in `message`. Error(decode) says what is wrong with them.
  Result<Unfolded> unfold(std::span<const std::byte> message, std::span<const ByteRange> buffers,
                          BodyCodec codec);

 private:
  std::size_t budget_;
  std::size_t limit_ = budget_;
};

}  // namespace arrakis::inline v1
