#pragma once

/// The JSON that servers answer to actions (wire 6.6). Fields that are not known are passed over.
/// Each function throws Error(protocol) that says what is wrong with the text.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "arrakis/client.hpp"

namespace arrakis::inline v1 {

ServerInfo parse_server_info(std::string_view text);
std::map<std::string, ReplayWindow> parse_replays(std::string_view text);
/// The domains of a scope map's endpoints, sorted.
std::vector<std::string> parse_domains(std::string_view scope_map);
/// The URLs of a scope map's endpoints, sorted; `asked` stands for the one that was asked.
std::vector<std::string> parse_endpoints(std::string_view scope_map, std::string_view asked);

}  // namespace arrakis::inline v1
