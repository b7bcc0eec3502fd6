#pragma once

/// Percentiles of times that were measured, exact: every value is kept.

#include <cstddef>
#include <string>
#include <vector>

namespace arrakis::bench {

class Percentiles {
 public:
  void add(double value) { values_.push_back(value); }
  [[nodiscard]] std::size_t count() const { return values_.size(); }
  /// The least value that at least a share `p` of all values does not exceed; 0 without values.
  /// 0 <= p <= 1.
  [[nodiscard]] double at(double p) const;
  /// {"count": …, "p50": …, "p90": …, "p99": …, "max": …}, three decimals; nulls without values.
  [[nodiscard]] std::string json() const;

 private:
  std::vector<double> values_;
};

}
