#include "bench/percentiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace arrakis::bench {

double Percentiles::at(double p) const {
  if (values_.empty()) return 0;
  const auto count = static_cast<double>(values_.size());
  const double rank = std::clamp(std::ceil(p * count), 1.0, count);
  const auto index = static_cast<std::size_t>(rank) - 1;
  std::vector<double> values = values_;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index),
                   values.end());
  return values[index];
}

std::string Percentiles::json() const {
  if (values_.empty()) {
    return R"({"count": 0, "p50": null, "p90": null, "p99": null, "max": null})";
  }
  return fmt::format(
      R"({{"count": {}, "p50": {:.3f}, "p90": {:.3f}, "p99": {:.3f}, "max": {:.3f}}})", count(),
      at(0.5), at(0.9), at(0.99), at(1));
}

}
