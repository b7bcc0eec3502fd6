#pragma once

/// JSON text of channels and blocks, as the command line prints it and topics carry it.
/// Pure functions, safe from any thread.

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/export.hpp"

namespace arrakis::inline v1 {

enum class NullFields {
  omitted,  ///< as the command line prints channels
  written,  ///< all ten keys, as metadata topics carry them
};

/// One object on one line, keys in the order of the fields, ", " and ": " between.
ARRAKIS_API std::string to_json(const Channel& channel, NullFields nulls = NullFields::omitted);
/// Reads one object; unknown keys are ignored, an empty replay_id is none. Throws
/// Error(invalid_argument) that says what is missing or wrong, with the channel's name where it is
/// known.
ARRAKIS_API Channel channel_from_json(std::string_view text);
/// Reads channels, one object a line; blank lines are passed over. Throws as channel_from_json,
/// with the line's number; `origin` names the file in the message.
ARRAKIS_API std::vector<Channel> read_channels(std::istream& lines, std::string_view origin);

/// {"time_ns": …, "data": {NAME: [samples]}, "channels": {NAME: {…}}, "_duration_ns": …}. Gaps, NaN
/// and infinities are null, so that it is always valid JSON.
ARRAKIS_API std::string to_json(const SeriesBlock& block);
/// Reads such an object; its channels come sorted by name, a null is a gap, unknown keys are
/// ignored. Throws Error(invalid_argument) that says what is missing or wrong, with the channel's
/// name where it is about one.
ARRAKIS_API SeriesBlock block_from_json(std::string_view text);

}  // namespace arrakis::inline v1
