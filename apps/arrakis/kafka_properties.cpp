#include "kafka_properties.hpp"

#include <fmt/format.h>

#include "options.hpp"

namespace arrakis::cli {

std::map<std::string, std::string> kafka_properties(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> properties;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      refuse("-X", fmt::format("'{}' is not of the form KEY=VALUE", text));
    }
    properties[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return properties;
}

}
