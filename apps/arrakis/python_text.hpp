#pragma once

/// Samples, arrays, channels and blocks in the words of Python and NumPy, so that scripts which
/// read the Python program's output read this one's. Pure functions.

#include <cstddef>
#include <string>
#include <string_view>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"

namespace arrakis::cli {

/// str() of sample i as a NumPy scalar: "17", "0.5458434", "1e-21", "nan"; "--" where it is a gap.
std::string sample_str(const Series& series, std::size_t i);

/// The samples between brackets, each as sample_str; beyond `threshold` samples only the first and
/// last `edge_items` with "..." between: "[1, ..., 16]".
std::string array_str(const Series& series, std::size_t threshold, std::size_t edge_items);

/// Where lines of repr() are broken.
enum class Lines {
  one,      ///< nowhere
  wrapped,  ///< at 75 characters, as NumPy does
};
/// repr() of the NumPy array, a masked one where there are gaps:
/// "array([1, 2], dtype=int32)".
std::string array_repr(const Series& series, Lines lines);

/// repr() of a string: in single quotes unless it holds one and no double quote, with everything
/// that is not printable escaped.
std::string string_repr(std::string_view text);

/// repr() of a channel: "<H1:A-B, 16 Hz, 'int32', stride=62_500_000>".
std::string channel_repr(const Channel& channel);
/// repr() of a block, on one line: "SeriesBlock(time_ns=…, data={…}, channels={…},
/// _duration_ns=…)".
std::string block_repr(const SeriesBlock& block);

/// What the pprint module makes of a channel's fields: a dictionary with sorted keys, on lines of
/// at most 80 characters where it can be.
std::string channel_pprint(const Channel& channel);
/// The same of a block's fields.
std::string block_pprint(const SeriesBlock& block);

}
