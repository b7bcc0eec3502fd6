#pragma once

/// An istream as Arrow reads from it: bytes in order, never more than asked for, so that a live
/// source is not waited for longer than needed.

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include <algorithm>
#include <cstdint>
#include <istream>
#include <memory>
#include <string>

namespace arrakis::inline v1 {

class IstreamInput final : public arrow::io::InputStream {
 public:
  /// `in` must outlive it.
  explicit IstreamInput(std::istream& in) : in_(in) {}

  arrow::Result<std::int64_t> Read(std::int64_t bytes, void* out) override {
    in_.read(static_cast<char*>(out), bytes);
    const std::int64_t got = in_.gcount();
    if (in_.bad()) return arrow::Status::IOError("it could not be read");
    position_ += got;
    return got;
  }

  // Memory follows the bytes that come, not the number that was promised.
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t bytes) override {
    constexpr std::int64_t kStep = std::int64_t{4} << 20U;
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::ResizableBuffer> buffer,
                          arrow::AllocateResizableBuffer(0));
    while (buffer->size() < bytes) {
      const std::int64_t before = buffer->size();
      const std::int64_t step = std::min(bytes - before, std::max(kStep, before));
      ARROW_RETURN_NOT_OK(buffer->Resize(before + step, false));
      ARROW_ASSIGN_OR_RAISE(const std::int64_t got, Read(step, buffer->mutable_data() + before));
      if (got < step) {
        ARROW_RETURN_NOT_OK(buffer->Resize(before + got, false));
        break;
      }
    }
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }

  arrow::Status Close() override {
    is_closed_ = true;
    return arrow::Status::OK();
  }
  [[nodiscard]] arrow::Result<std::int64_t> Tell() const override { return position_; }
  [[nodiscard]] bool closed() const override { return is_closed_; }

 private:
  std::istream& in_;
  std::int64_t position_ = 0;
  bool is_closed_ = false;
};

}  // namespace arrakis::inline v1
