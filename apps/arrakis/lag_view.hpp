#pragma once

/// How `arrakis lag` shows its figures. Pure functions.

#include <cstddef>
#include <string>
#include <vector>

#include "arrakis/time.hpp"
#include "common/screen.hpp"
#include "lag_figures.hpp"

namespace arrakis::cli {

/// A table, a row a partition, at most `width` cells wide and `height` lines high.
std::vector<console::Line> lag_table(const std::vector<LagFigures>& figures, std::size_t width,
                                     std::size_t height);
/// "1400000000.000 P age 0.123 s lag 0.061 s …" without a line end.
std::string lag_line(const LagFigures& figures, GpsTime now);
/// The same as a JSON object; what is not known is null.
std::string lag_json(const LagFigures& figures, GpsTime now);

}
