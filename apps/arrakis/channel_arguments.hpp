#pragma once

/// Channels as they are named on the command line.

#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "arrakis/client.hpp"

namespace arrakis::cli {

/// How --help explains an argument CHANNEL.
constexpr const char* kChannelHelp =
    "Channel names; globs with *, ? or [...]; regular expressions after '~'; '-' reads names from "
    "standard input, one a line";

/// `names` with every "-" replaced by the names read from `input`: one a line, trimmed, blank lines
/// and those that begin with '#' left out.
std::vector<std::string> expand_names(const std::vector<std::string>& names, std::istream& input);

/// The names that `selectors` stand for, each once: an exact name as it is; a glob when it holds
/// '*', '?' or '['; a regular expression after a leading '~'. The server is asked for the last two
/// only. Throws Error(not_found) that quotes one without a match, and what Client::find throws.
std::vector<std::string> resolve_names(const Client& client,
                                       const std::vector<std::string>& selectors,
                                       std::optional<GpsTime> time,
                                       const std::optional<std::string>& replay_id);

/// The channels of a file of JSON lines, or of standard input for "-".
ChannelSet read_metadata(const std::string& path);

}
