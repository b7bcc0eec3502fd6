#include "wire/inflater.hpp"

#include <arrow/util/compression.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <utility>

namespace arrakis::inline v1 {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::int64_t kStoredAsIs = -1;

/// One buffer as it came.
struct Folded {
  Bytes bytes;
  std::size_t size = 0;  ///< unfolded
  bool stored_as_is = true;
};

std::size_t words_for(std::size_t bytes) { return bytes / sizeof(std::uint64_t) + 1; }

/// A compressed buffer starts with its unfolded size.
Result<Folded> read_prefix(Bytes buffer) {
  if (buffer.empty()) return Folded{};
  std::int64_t size = 0;
  if (buffer.size() < sizeof size) {
    return failure(Errc::decode, fmt::format("a compressed buffer of {} bytes", buffer.size()));
  }
  std::memcpy(&size, buffer.data(), sizeof size);
  const Bytes rest = buffer.subspan(sizeof size);
  if (size == kStoredAsIs) return Folded{rest, rest.size(), true};
  if (size < 0) {
    return failure(Errc::decode, fmt::format("a buffer that unfolds to {} bytes", size));
  }
  return Folded{rest, static_cast<std::size_t>(size), false};
}

Result<void> fill(arrow::util::Codec& codec, const Folded& folded, std::byte* output) {
  if (folded.size == 0) return {};
  if (folded.stored_as_is) {
    std::memcpy(output, folded.bytes.data(), folded.size);
    return {};
  }
  const auto written = codec.Decompress(static_cast<std::int64_t>(folded.bytes.size()),
                                        reinterpret_cast<const std::uint8_t*>(folded.bytes.data()),
                                        static_cast<std::int64_t>(folded.size),
                                        reinterpret_cast<std::uint8_t*>(output));
  if (!written.ok()) return failure(Errc::decode, written.status().message());
  if (*written != static_cast<std::int64_t>(folded.size)) {
    return failure(Errc::decode, fmt::format("a buffer unfolds to {} bytes, {} announced", *written,
                                             folded.size));
  }
  return {};
}

}  // namespace

Result<Inflater::Unfolded> Inflater::unfold(Bytes message, std::span<const ByteRange> buffers,
                                            BodyCodec codec) {
  std::vector<Folded> folded;
  folded.reserve(buffers.size());
  std::size_t words = 0;
  for (const ByteRange& range : buffers) {
    auto read = read_prefix(message.subspan(range.offset, range.size));
    if (!read) return tl::unexpected(read.error());
    if (read->size > budget_) {
      return failure(Errc::decode, fmt::format("unfolds to more than {} bytes", limit_));
    }
    budget_ -= read->size;
    words += words_for(read->size);
    folded.push_back(*read);
  }
  auto decompressor = arrow::util::Codec::Create(
      codec == BodyCodec::zstd ? arrow::Compression::ZSTD : arrow::Compression::LZ4_FRAME);
  if (!decompressor.ok()) return failure(Errc::decode, decompressor.status().ToString());

  auto storage = std::make_shared<std::vector<std::uint64_t>>(words);
  Unfolded unfolded;
  unfolded.bytes = std::as_bytes(std::span(*storage));
  unfolded.ranges.reserve(folded.size());
  std::size_t offset = 0;
  for (const Folded& buffer : folded) {
    auto* output = reinterpret_cast<std::byte*>(storage->data()) + offset;
    if (auto filled = fill(**decompressor, buffer, output); !filled) {
      return tl::unexpected(filled.error());
    }
    unfolded.ranges.push_back({offset, buffer.size});
    offset += words_for(buffer.size) * sizeof(std::uint64_t);
  }
  unfolded.owner = std::move(storage);
  return unfolded;
}

}  // namespace arrakis::inline v1
