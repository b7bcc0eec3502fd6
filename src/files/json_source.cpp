#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "arrakis/json.hpp"
#include "core/quote.hpp"
#include "files/block_source.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr std::size_t kMaxLine = std::size_t{192} << 20U;

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\v\f") == std::string_view::npos;
}

class JsonSource final : public BlockSource {
 public:
  explicit JsonSource(std::istream& in) : in_(in), first_(read()) {
    if (first_) channels_ = first_->channels();
  }

  [[nodiscard]] const ChannelSet& channels() const override { return channels_; }

  std::optional<SeriesBlock> next() override {
    if (first_) return std::exchange(first_, std::nullopt);
    std::optional<SeriesBlock> block = read();
    if (block) require_same_channels(*block);
    return block;
  }

 private:
  std::optional<SeriesBlock> read() {
    do {
      if (!read_line()) return std::nullopt;
    } while (is_blank(line_));
    try {
      return block_from_json(line_);
    } catch (const Error& error) {
      refuse(error.what());
    }
  }

  // Not std::getline: a line without an end would fill the memory.
  bool read_line() {
    ++number_;
    line_.clear();
    std::streambuf& bytes = *in_.rdbuf();
    for (int c = bytes.sbumpc(); c != std::char_traits<char>::eof(); c = bytes.sbumpc()) {
      if (c == '\n') return true;
      if (line_.size() == kMaxLine) refuse(fmt::format("it is longer than {} bytes", kMaxLine));
      line_ += static_cast<char>(c);
    }
    return !line_.empty();
  }

  void require_same_channels(const SeriesBlock& block) const {
    for (const Channel& channel : block.channels()) {
      const std::optional<std::size_t> place = channels_.find(channel.name());
      if (!place || !matches(channels_[*place], channel)) {
        refuse(fmt::format("it has channel {}, which the first line {}", describe(channel),
                           place ? "describes otherwise" : "has not"));
      }
    }
    if (block.size() != channels_.size()) {
      refuse(fmt::format("it has {} channels, the first line {}", block.size(), channels_.size()));
    }
  }

  [[noreturn]] void refuse(std::string_view why) const {
    throw Error(Errc::decode, fmt::format("line {}: {}", number_, why));
  }

  std::istream& in_;
  std::string line_;
  std::size_t number_ = 0;
  std::optional<SeriesBlock> first_;
  ChannelSet channels_;
};

}  // namespace

std::unique_ptr<BlockSource> make_json_source(std::istream& in) {
  return std::make_unique<JsonSource>(in);
}

}  // namespace arrakis::inline v1
