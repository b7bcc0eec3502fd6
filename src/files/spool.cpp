#include "files/spool.hpp"

namespace arrakis::inline v1 {

Spool::Spool(const PendingFile& file, std::size_t arrays)
    : owner_(file), file_(file.make_scratch()), arrays_(arrays) {}

void Spool::put(std::size_t array, std::uint64_t number, std::span<const std::byte> bytes) {
  const Chunk chunk{number, size_};
  if (const int error = file_.write_at(size_, bytes)) throw owner_.failure(error);
  arrays_[array].push_back(chunk);
}

int Spool::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  return file_.read_at(offset, bytes);
}

}  // namespace arrakis::inline v1
