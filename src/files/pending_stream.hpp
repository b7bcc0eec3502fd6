#pragma once

/// A PendingFile as Arrow writes to it.

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "arrakis/error.hpp"
#include "files/pending_file.hpp"
#include "wire/arrow_types.hpp"

namespace arrakis::inline v1 {

class PendingStream final : public arrow::io::OutputStream {
 public:
  /// `file` must outlive it.
  explicit PendingStream(PendingFile& file) : file_(file) {}

  arrow::Status Write(const void* data, std::int64_t bytes) override {
    try {
      file_.write({static_cast<const std::byte*>(data), static_cast<std::size_t>(bytes)});
    } catch (const Error& error) {
      error_ = error;
      return arrow::Status::IOError(error.what());
    }
    return arrow::Status::OK();
  }
  using Writable::Write;
  arrow::Status Close() override {
    is_closed_ = true;
    return arrow::Status::OK();
  }
  [[nodiscard]] arrow::Result<std::int64_t> Tell() const override {
    return static_cast<std::int64_t>(file_.size());
  }
  [[nodiscard]] bool closed() const override { return is_closed_; }

  /// Throws the file's own error, where that is why a call of Arrow's failed.
  void require(const arrow::Status& status) {
    if (status.ok()) return;
    if (error_) throw Error(*error_);
    require_ok(status);
  }
  template <typename T>
  T require(arrow::Result<T> result) {
    require(result.status());
    return std::move(result).ValueUnsafe();
  }
  /// Throws the error of an earlier write.
  void require_unbroken() const {
    if (error_) throw Error(*error_);
  }

 private:
  PendingFile& file_;
  std::optional<Error> error_;
  bool is_closed_ = false;
};

}  // namespace arrakis::inline v1
