#pragma once

/// Samples and times as people read them. Pure functions.

#include <cstddef>
#include <string>

#include "arrakis/block.hpp"
#include "arrakis/time.hpp"

namespace arrakis::console {

/// Sample i in a few characters: "-3.2146e-21", "17", "gap".
std::string sample_text(const Series& series, std::size_t i);

/// All samples up to three, else the first and the last, and how many are gaps:
/// "[1, 2, 3]", "[1, ..., 16]", "[1, ..., 16] (4 of 16 gaps)"; "gap" when there is nothing else,
/// "[]" for no samples.
std::string short_data(const Series& series);

/// Seconds with `digits` decimals: "0.062500".
std::string seconds_text(Duration duration, int digits);

/// The fewest decimals, at least four, with which GPS seconds show `time` and `duration` exactly.
int exact_digits(GpsTime time, Duration duration);

}
