#include "wire/flat_table.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr std::size_t kVtableHeaderBytes = 4;  // its own size, the table's size
constexpr std::size_t kVtableEntryBytes = 2;

}  // namespace

FlatTable FlatTable::at_reference(FlatBuffer& buffer, std::size_t position) {
  return {buffer, position + buffer.read<std::uint32_t>(position)};
}

FlatTable::FlatTable(FlatBuffer& buffer, std::size_t position) {
  const auto back = buffer.read<std::int32_t>(position);
  const std::int64_t vtable = static_cast<std::int64_t>(position) - back;
  if (buffer.damaged() || !buffer.contains(static_cast<std::size_t>(vtable), kVtableHeaderBytes)) {
    return;
  }
  vtable_ = static_cast<std::size_t>(vtable);
  vtable_bytes_ = buffer.read<std::uint16_t>(vtable_);
  if (vtable_bytes_ < kVtableHeaderBytes || !buffer.contains(vtable_, vtable_bytes_)) {
    vtable_bytes_ = 0;
  }
  buffer_ = &buffer;
  position_ = position;
}

std::size_t FlatTable::position_of(unsigned field) const {
  const std::size_t entry = kVtableHeaderBytes + field * kVtableEntryBytes;
  if (buffer_ == nullptr || entry + kVtableEntryBytes > vtable_bytes_) return 0;
  const auto offset = buffer_->read<std::uint16_t>(vtable_ + entry);
  return offset == 0 ? 0 : position_ + offset;
}

FlatTable FlatTable::table(unsigned field) const {
  const std::size_t position = position_of(field);
  return position == 0 ? FlatTable() : at_reference(*buffer_, position);
}

FlatVector FlatTable::vector(unsigned field, std::size_t element_bytes) const {
  const std::size_t position = position_of(field);
  if (position == 0) return {};
  const std::size_t start = position + buffer_->read<std::uint32_t>(position);
  const std::size_t size = buffer_->read<std::uint32_t>(start);
  const std::size_t first = start + sizeof(std::uint32_t);
  if (!buffer_->contains(first, size * element_bytes)) return {};
  return {*buffer_, first, size, element_bytes};
}

std::string_view FlatTable::string(unsigned field) const { return vector(field, 1).text(); }

}  // namespace arrakis::inline v1
