#pragma once

#include <cstddef>

namespace arrakis::inline v1 {

/// What one of `channels` may hold of what is gathered for a file, in bytes.
constexpr std::size_t array_memory(std::size_t channels) {
  constexpr std::size_t kAllChannels = std::size_t{64} << 20U;
  return channels == 0 ? kAllChannels : kAllChannels / channels;
}

}  // namespace arrakis::inline v1
