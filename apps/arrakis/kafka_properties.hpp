#pragma once

/// -X KEY=VALUE

#include <map>
#include <string>
#include <vector>

namespace arrakis::cli {

/// The properties of texts KEY=VALUE; of one that comes twice, the last. Throws UsageError.
std::map<std::string, std::string> kafka_properties(const std::vector<std::string>& texts);

}
