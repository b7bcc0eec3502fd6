#pragma once

/// What a stream or fetch request means, checked before anybody is asked.

#include <functional>
#include <optional>
#include <string>

#include "arrakis/client.hpp"

namespace arrakis::inline v1 {

/// Looks up a variable of the environment; nullptr when it is not set.
using Environment = std::function<const char*(const char* name)>;

/// The request with its channels once each, its policies decided (ARRAKIS_ONGAP, ARRAKIS_ONDROP
/// where it has none) and a duration after a start turned into an end. Throws
/// Error(invalid_argument) that says what contradicts what.
StreamRequest checked_stream(StreamRequest request, const Environment& environment);
/// The same for one block: GapPolicy::skip and an end without a start are refused, too.
StreamRequest checked_fetch(StreamRequest request, const Environment& environment);

/// A text that differs for requests of different data: of other channels or another replay.
std::string digest_of(const StreamRequest& request);

/// The time of the archived data that a replay shows at `time`.
GpsTime archive_time(const ReplayWindow& window, GpsTime time);

}  // namespace arrakis::inline v1
