#pragma once

/// What reads one format.

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"

namespace arrakis::inline v1 {

/// Throws Error(decode) with the row or line, and without the file's name.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  [[nodiscard]] virtual const ChannelSet& channels() const = 0;
  virtual std::optional<SeriesBlock> next() = 0;
};

/// `in` must outlive the source and stands where an IPC stream begins.
std::unique_ptr<BlockSource> make_arrow_source(std::istream& in);
std::unique_ptr<BlockSource> make_parquet_source(const std::string& path);
/// `in` must outlive the source. Reads the first line at once.
std::unique_ptr<BlockSource> make_json_source(std::istream& in);

}  // namespace arrakis::inline v1
