#include "files/limited_pool.hpp"

#include <arrow/memory_pool.h>
#include <arrow/status.h>

#include <cstdint>
#include <string>

#include "core/immortal.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr std::int64_t kMaxPiece = std::int64_t{192} << 20U;

class LimitedPool final : public arrow::MemoryPool {
 public:
  using MemoryPool::Allocate;
  using MemoryPool::Free;
  using MemoryPool::Reallocate;

  arrow::Status Allocate(std::int64_t size, std::int64_t alignment, std::uint8_t** out) override {
    ARROW_RETURN_NOT_OK(check(size));
    return pool_->Allocate(size, alignment, out);
  }
  arrow::Status Reallocate(std::int64_t old_size, std::int64_t new_size, std::int64_t alignment,
                           std::uint8_t** piece) override {
    ARROW_RETURN_NOT_OK(check(new_size));
    return pool_->Reallocate(old_size, new_size, alignment, piece);
  }
  void Free(std::uint8_t* piece, std::int64_t size, std::int64_t alignment) override {
    pool_->Free(piece, size, alignment);
  }
  [[nodiscard]] std::int64_t bytes_allocated() const override { return pool_->bytes_allocated(); }
  [[nodiscard]] std::int64_t total_bytes_allocated() const override {
    return pool_->total_bytes_allocated();
  }
  [[nodiscard]] std::int64_t num_allocations() const override { return pool_->num_allocations(); }
  [[nodiscard]] std::string backend_name() const override { return pool_->backend_name(); }

 private:
  static arrow::Status check(std::int64_t size) {
    if (size <= kMaxPiece) return arrow::Status::OK();
    return arrow::Status::Invalid("it has a piece of ", size, " bytes, at most ", kMaxPiece,
                                  " are read");
  }

  arrow::MemoryPool* pool_ = arrow::default_memory_pool();
};

}  // namespace

arrow::MemoryPool* limited_pool() {
  static Immortal<LimitedPool> pool;
  return &*pool;
}

}  // namespace arrakis::inline v1
