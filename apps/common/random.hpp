#pragma once

/// Random numbers that are the same on every machine, which the standard's distributions are not.

#include <cmath>
#include <cstdint>
#include <numbers>

namespace arrakis::console {

/// SplitMix64: small, fast, and good enough for noise that is only looked at.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  /// In [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }
  /// In [least, greatest).
  double uniform(double least, double greatest) { return least + (greatest - least) * uniform(); }
  /// Mean 0, variance 1.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

}
