#pragma once

/// What the demo's detector measures. Every signal is a sequence of samples that depends only on
/// its seed; time zero is when the detector was switched on.

#include <cstdint>
#include <memory>

#include "arrakis/time.hpp"

namespace arrakis::demo {

/// Not safe from several threads at once.
class Signal {
 public:
  virtual ~Signal() = default;
  /// The next sample.
  virtual double next() = 0;
};

/// Noise that is stronger at low frequencies, like an interferometer's, and every kChirpPeriod a
/// chirp: two bodies that spiral into each other. In strain, about 1e-21.
std::unique_ptr<Signal> make_strain(double hz, std::uint64_t seed);
/// When the first chirp ends, and from end to end.
constexpr Duration kFirstChirp = std::chrono::milliseconds(3500);
constexpr Duration kChirpPeriod = std::chrono::seconds(6);
constexpr Duration kChirpLength = std::chrono::milliseconds(1000);

/// A slow oscillation around a mean, with a little noise: a suspension, a microphone, a servo.
std::unique_ptr<Signal> make_oscillation(double hz, std::uint64_t seed);

/// Something that wanders slowly and comes back: a temperature, the wind.
std::unique_ptr<Signal> make_drift(double hz, std::uint64_t seed, double mean, double deviation);

/// A state number that now and then leaves its usual value for a while.
std::unique_ptr<Signal> make_state(double hz, std::uint64_t seed);

/// A word of eight status bits, most of them set.
std::unique_ptr<Signal> make_bits(double hz, std::uint64_t seed);

/// When the faulty channel is silent: once in every kDropoutPeriod, for one to two seconds.
class DropoutPlan {
 public:
  DropoutPlan(GpsTime switched_on, std::uint64_t seed) : switched_on_(switched_on), seed_(seed) {}
  [[nodiscard]] bool is_silent(GpsTime time) const;

 private:
  GpsTime switched_on_;
  std::uint64_t seed_;
};
constexpr Duration kDropoutPeriod = std::chrono::seconds(9);

}
