#pragma once

/// A file that is being written, under a name of its own in the folder where it will stand. It gets
/// its name, whole, from commit(); without, nothing is left of it.
/// Not safe from several threads at once.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "arrakis/error.hpp"

namespace arrakis::inline v1 {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();
  /// Writes all of `bytes` at `offset`, which goes forward by what was written. 0, or an errno.
  [[nodiscard]] int write_at(std::uint64_t& offset, std::span<const std::byte> bytes) const;
  /// Fills `bytes` from `offset` on. 0, or an errno.
  [[nodiscard]] int read_at(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  int fd_ = -1;
};

class PendingFile {
 public:
  /// Throws Error(io) that names `path`: when it is there and must not be replaced, is not an
  /// ordinary file, or can't be made. A symbolic link stays; what it points to is replaced.
  PendingFile(const std::filesystem::path& path, bool overwrite);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  /// Where it lies until commit().
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }
  /// Appends. Throws Error(io); part of the bytes may have been written then.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  /// Bytes written and not cut off again.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Cuts it back to `size` bytes; what is written next follows there. Throws Error(io).
  void truncate(std::uint64_t size);
  /// Brings it to the disk and gives it its name. Throws Error(io).
  void commit();

  /// An unnamed file in the same folder, for reading and writing. Throws Error(io).
  [[nodiscard]] Descriptor make_scratch() const;

  /// Error(io) that names the file and why it could not be written.
  [[nodiscard]] Error failure(std::string_view reason) const;
  [[nodiscard]] Error failure(int error_number) const;

 private:
  void rename_to_target() const;

  std::filesystem::path asked_;   // as the caller named it
  std::filesystem::path target_;  // behind symbolic links
  std::filesystem::path temporary_;
  Descriptor file_;
  std::uint64_t size_ = 0;
  bool overwrite_;
  bool is_committed_ = false;
};

}  // namespace arrakis::inline v1
