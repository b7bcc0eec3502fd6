#pragma once

/// Received bytes at an address that fits their samples.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>

namespace arrakis::inline v1 {

/// Bytes that somebody else keeps alive, or, where those lie at an address that is no multiple of
/// `alignment`, a copy of them, which is made when somebody looks first. `alignment` is at most
/// eight. Safe from any thread.
class AlignedBytes {
 public:
  AlignedBytes(std::span<const std::byte> bytes, std::size_t alignment)
      : bytes_(bytes),
        aligned_(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment == 0 ? bytes.data()
                                                                                 : nullptr) {}

  [[nodiscard]] const std::byte* data() const {
    const std::byte* aligned = aligned_.load(std::memory_order_acquire);
    return aligned != nullptr || bytes_.empty() ? aligned : copy();
  }

 private:
  const std::byte* copy() const {
    std::call_once(copied_, [this] {
      const std::size_t words = bytes_.size() / sizeof(std::uint64_t) + 1;
      copy_ = std::make_unique_for_overwrite<std::uint64_t[]>(words);
      std::memcpy(copy_.get(), bytes_.data(), bytes_.size());
      aligned_.store(reinterpret_cast<const std::byte*>(copy_.get()), std::memory_order_release);
    });
    return aligned_.load(std::memory_order_acquire);
  }

  std::span<const std::byte> bytes_;
  mutable std::atomic<const std::byte*> aligned_;  // nullptr: misaligned and not copied yet
  mutable std::once_flag copied_;
  mutable std::unique_ptr<std::uint64_t[]> copy_;
};

}  // namespace arrakis::inline v1
