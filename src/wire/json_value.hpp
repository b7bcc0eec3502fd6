#pragma once

/// JSON text as values, and what is read from those; for the readers of channels and blocks.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "arrakis/channel.hpp"

namespace arrakis::inline v1 {

/// Throws Error(invalid_argument) that says where `text` is not JSON.
nlohmann::json parse_json(std::string_view text);
/// As channel_from_json.
Channel channel_of(const nlohmann::json& object);

}  // namespace arrakis::inline v1
