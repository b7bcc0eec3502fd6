#pragma once

/// The options of find and count: which channels are meant.

#include <optional>
#include <string>
#include <vector>

#include "arrakis/client.hpp"
#include "options.hpp"

namespace arrakis::cli {

class QueryOptions {
 public:
  void add_to(OptionAdder& add, const char* pattern_help);
  /// Without a pattern: the default one of Query.
  [[nodiscard]] Query query(const ArgumentReader& read) const;
  [[nodiscard]] bool has_pattern() const { return pattern_.has_value(); }

 private:
  std::optional<std::string> pattern_, min_rate_, max_rate_, time_, replay_id_;
  std::vector<std::string> data_types_, publishers_;
  bool glob_ = false;
};

/// The regular expression that matches what the glob does: '*', '?' and '[...]'.
std::string regex_of_glob(std::string_view glob);

}
