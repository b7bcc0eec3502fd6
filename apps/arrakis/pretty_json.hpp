#pragma once

/// JSON text laid out for people.

#include <string>
#include <string_view>

namespace arrakis::cli {

/// The same JSON, a member or element a line, indented by `indent` a level; "{}" and "[]" stay
/// whole. `json` must be valid.
std::string indented_json(std::string_view json, std::size_t indent);

/// The same with the members of every object sorted by name. Throws Error(protocol) when `json` is
/// not valid.
std::string sorted_json(std::string_view json, std::size_t indent);

}
