#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <istream>
#include <string_view>
#include <system_error>
#include <utility>

#include "arrakis/error.hpp"
#include "arrakis/files.hpp"
#include "core/quote.hpp"
#include "files/block_source.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr std::string_view kReadable =
    "it is none of what blocks are read from: an Arrow IPC file or stream, a Parquet file, JSON "
    "lines";

/// Nothing at all is no blocks, and no error: a program that printed none wrote it.
class EmptySource final : public BlockSource {
 public:
  [[nodiscard]] const ChannelSet& channels() const override { return channels_; }
  std::optional<SeriesBlock> next() override { return std::nullopt; }

 private:
  ChannelSet channels_;
};

std::string take(std::istream& in, std::size_t bytes) {
  std::string found(bytes, '\0');
  in.read(found.data(), static_cast<std::streamsize>(bytes));
  found.resize(static_cast<std::size_t>(in.gcount()));
  return found;
}

// An Arrow file is a stream between this and a table of contents.
std::unique_ptr<BlockSource> make_arrow_file_source(std::istream& in) {
  constexpr std::string_view kMagic("ARROW1\0\0", 8);
  if (take(in, kMagic.size()) != kMagic) {
    throw Error(Errc::decode, "it begins like an Arrow file and is none");
  }
  return make_arrow_source(in);
}

// `path` is empty where there is none.
std::unique_ptr<BlockSource> make_p_source(std::istream& in, const std::string& path) {
  if (take(in, 4) != "PAR1") throw Error(Errc::decode, std::string(kReadable));
  if (path.empty()) {
    throw Error(Errc::decode, "a Parquet file can't be read as it comes; name the file");
  }
  return make_parquet_source(path);
}

std::unique_ptr<BlockSource> make_source(std::istream& in, const std::string& path) {
  constexpr int kStreamStart = 0xFF;  // of the mark that goes before an IPC message
  const int first = in.peek();
  if (in.bad()) throw Error(Errc::io, "it could not be read");
  if (first == std::char_traits<char>::eof()) return std::make_unique<EmptySource>();
  switch (first) {
    case 'A':
      return make_arrow_file_source(in);
    case kStreamStart:
      return make_arrow_source(in);
    case 'P':
      return make_p_source(in, path);
    case '{':
    case ' ':
    case '\t':
    case '\r':
    case '\n':
      return make_json_source(in);
    default:
      throw Error(Errc::decode, std::string(kReadable));
  }
}

}  // namespace

class BlockReader::Impl {
 public:
  explicit Impl(const std::filesystem::path& path)
      : origin_(path.string()), file_(std::make_unique<std::ifstream>(path, std::ios::binary)) {
    if (!*file_) {
      throw Error(Errc::io, fmt::format("{} could not be opened: {}", quoted_origin(),
                                        std::generic_category().message(errno)));
    }
    open(*file_, origin_);
  }
  Impl(std::istream& in, std::string origin) : origin_(std::move(origin)) { open(in, ""); }

  [[nodiscard]] const ChannelSet& channels() const { return source_->channels(); }

  std::optional<SeriesBlock> next() {
    if (is_over_) return std::nullopt;
    is_over_ = true;  // unless the next one is good
    std::optional<SeriesBlock> block = named([&] { return source_->next(); });
    is_over_ = !block.has_value();
    return block;
  }

 private:
  void open(std::istream& in, const std::string& path) {
    source_ = named([&] { return make_source(in, path); });
  }
  [[nodiscard]] std::string quoted_origin() const { return arrakis::quoted(origin_); }

  template <typename F>
  auto named(F&& call) -> decltype(call()) {
    try {
      return call();
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: {}", quoted_origin(), error.what()));
    }
  }

  std::string origin_;
  std::unique_ptr<std::ifstream> file_;
  std::unique_ptr<BlockSource> source_;
  bool is_over_ = false;
};

BlockReader::BlockReader(const std::filesystem::path& path) : impl_(std::make_unique<Impl>(path)) {}
BlockReader::BlockReader(std::istream& in, std::string origin)
    : impl_(std::make_unique<Impl>(in, std::move(origin))) {}
BlockReader::~BlockReader() = default;
BlockReader::BlockReader(BlockReader&&) noexcept = default;
BlockReader& BlockReader::operator=(BlockReader&&) noexcept = default;

const ChannelSet& BlockReader::channels() const { return impl_->channels(); }
std::optional<SeriesBlock> BlockReader::next() { return impl_->next(); }

}  // namespace arrakis::inline v1
