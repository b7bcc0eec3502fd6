#include "files/block_reader_exercise.hpp"

#include <cmath>
#include <optional>
#include <sstream>
#include <string>

#include "arrakis/files.hpp"
#include "core/exercise.hpp"

namespace arrakis::inline v1 {
namespace {

// So that a sanitizer sees what a block points to.
void look_at(const SeriesBlock& block, std::string_view input) {
  for (std::size_t c = 0; c < block.size(); ++c) {
    const Series series = block.at(c);
    std::size_t gaps = 0;
    for (std::size_t i = 0; i < series.size(); ++i) {
      gaps += series.is_gap(i) ? 1U : 0U;
      require(!series.is_gap(i) || std::isnan(series.value_as_double(i)), "a gap is NaN", input);
    }
    require(gaps == series.gap_count(), "gaps are counted right", input);
  }
}

}  // namespace

void exercise_block_reader(std::string_view input) {
  std::istringstream in{std::string(input)};
  try {
    BlockReader reader(in, "input");
    while (const std::optional<SeriesBlock> block = reader.next()) look_at(*block, input);
  } catch (const Error& error) {
    require(error.code() == Errc::decode, "bad input has the code decode", input);
    require(std::string_view(error.what()).starts_with("'input': "), "an error names what was read",
            input);
  }
}

}  // namespace arrakis::inline v1
