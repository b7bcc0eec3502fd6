#pragma once

/// The saved inputs of the fuzz targets, tests/corpus/<target>.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace arrakis::testing {

struct SavedInput {
  std::string name;
  std::string bytes;
};

/// By name. Throws when there are none, so that a corpus that moved away is noticed.
inline std::vector<SavedInput> corpus(const std::string& target) {
  std::vector<SavedInput> inputs;
  const std::filesystem::path folder =
      std::filesystem::path(ARRAKIS_SOURCE_DIR) / "tests" / "corpus" / target;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ostringstream bytes;
    bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    inputs.push_back({entry.path().filename().string(), bytes.str()});
  }
  if (inputs.empty()) throw std::runtime_error("no saved inputs in " + folder.string());
  std::sort(inputs.begin(), inputs.end(),
            [](const SavedInput& a, const SavedInput& b) { return a.name < b.name; });
  return inputs;
}

}  // namespace arrakis::testing
