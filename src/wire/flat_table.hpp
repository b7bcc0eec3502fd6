#pragma once

/// Reads FlatBuffers tables out of bytes that nobody has vouched for.
///
/// Every access is checked against the buffer; what lies outside reads as absent (zero, empty) and
/// is remembered, so that the caller asks once at the end whether the buffer was sound.
/// Little-endian machines only, as all of Arrow's own fast paths.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace arrakis::inline v1 {

static_assert(std::endian::native == std::endian::little);

class FlatBuffer {
 public:
  explicit FlatBuffer(std::span<const std::byte> bytes) : bytes_(bytes) {}

  /// Whether anything read so far lay outside.
  [[nodiscard]] bool damaged() const { return damaged_; }

  template <typename T>
  [[nodiscard]] T read(std::size_t position) {
    T value{};
    if (!contains(position, sizeof(T))) return value;
    std::memcpy(&value, bytes_.data() + position, sizeof(T));
    return value;
  }
  /// Whether `count` bytes lie in the buffer; remembers when not.
  bool contains(std::size_t position, std::size_t count) {
    if (position <= bytes_.size() && count <= bytes_.size() - position) return true;
    damaged_ = true;
    return false;
  }
  [[nodiscard]] const std::byte* data() const { return bytes_.data(); }

 private:
  std::span<const std::byte> bytes_;
  bool damaged_ = false;
};

class FlatVector;

/// A table, or none. Field numbers are those of the schema, from 0.
class FlatTable {
 public:
  FlatTable() = default;
  /// The buffer's root table.
  static FlatTable root(FlatBuffer& buffer) { return at_reference(buffer, 0); }
  /// The table that the offset at `position` leads to.
  static FlatTable at_reference(FlatBuffer& buffer, std::size_t position);

  explicit operator bool() const { return buffer_ != nullptr; }

  template <typename T>
  [[nodiscard]] T scalar(unsigned field, T otherwise) const {
    const std::size_t position = position_of(field);
    return position == 0 ? otherwise : buffer_->read<T>(position);
  }
  [[nodiscard]] FlatTable table(unsigned field) const;
  [[nodiscard]] FlatVector vector(unsigned field, std::size_t element_bytes) const;
  [[nodiscard]] std::string_view string(unsigned field) const;

 private:
  FlatTable(FlatBuffer& buffer, std::size_t position);
  /// Where the field's value stands; 0: it is absent.
  [[nodiscard]] std::size_t position_of(unsigned field) const;

  FlatBuffer* buffer_ = nullptr;
  std::size_t position_ = 0;
  std::size_t vtable_ = 0;
  std::size_t vtable_bytes_ = 0;
};

/// A vector of scalars, structs or tables, wholly inside its buffer. Absent: empty.
class FlatVector {
 public:
  FlatVector() = default;
  FlatVector(FlatBuffer& buffer, std::size_t first, std::size_t size, std::size_t element_bytes)
      : buffer_(&buffer), first_(first), size_(size), element_bytes_(element_bytes) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  /// Where element i starts in the buffer. i < size().
  [[nodiscard]] std::size_t position(std::size_t i) const { return first_ + i * element_bytes_; }
  /// What stands `offset` bytes into element i. i < size().
  template <typename T>
  [[nodiscard]] T read(std::size_t i, std::size_t offset = 0) const {
    return buffer_->read<T>(position(i) + offset);
  }
  /// Element i of a vector of tables. i < size().
  [[nodiscard]] FlatTable table(std::size_t i) const {
    return FlatTable::at_reference(*buffer_, position(i));
  }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(buffer_ == nullptr ? nullptr : buffer_->data() + first_),
            size_};
  }

 private:
  FlatBuffer* buffer_ = nullptr;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::size_t element_bytes_ = 0;
};

}  // namespace arrakis::inline v1
