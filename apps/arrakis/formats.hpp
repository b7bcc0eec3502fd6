#pragma once

/// The forms in which results are printed.

#include <cstdint>
#include <string>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "options.hpp"

namespace arrakis::cli {

enum class Format { table, table_full, str, repr, pprint, json, json_pp, json_abrv };

/// The options that choose a form; they exclude each other.
class FormatOptions {
 public:
  enum class Listing { no, yes };  ///< whether there is --table-full
  void add_to(OptionAdder& add, Listing listing = Listing::no);
  /// Throws UsageError when more than one was given.
  [[nodiscard]] Format chosen() const;

 private:
  bool table_ = false, table_full_ = false, str_ = false, repr_ = false, pprint_ = false;
  bool json_ = false, json_pp_ = false, json_abrv_ = false;
};

/// A channel or block in any form but the tables; without a line end.
std::string formatted(const Channel& channel, Format format);
std::string formatted(const SeriesBlock& block, Format format);

/// The table of a block, at most `width` cells wide: channels by name with their first and last
/// samples, below it time and duration.
std::string block_table(const SeriesBlock& block, std::size_t width);

}
