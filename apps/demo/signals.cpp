#include "demo/signals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "common/random.hpp"

namespace arrakis::demo {
namespace {

constexpr double kTwoPi = 2.0 * std::numbers::pi;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

/// Noise with most of its power below `corner` Hz; its standard deviation is 1.
class RedNoise {
 public:
  RedNoise(double hz, double corner, std::uint64_t seed)
      : random_(seed),
        memory_(std::exp(-kTwoPi * corner / hz)),
        gain_(std::sqrt(1.0 - memory_ * memory_)),
        value_(random_.normal()) {}
  double next() { return value_ = memory_ * value_ + gain_ * random_.normal(); }

 private:
  console::Random random_;
  double memory_;
  double gain_;
  double value_;
};

/// The last second of two bodies that spiral into each other, `left` seconds before they meet: at
/// lowest order the frequency grows as left^(-3/8), the amplitude as left^(-1/4).
double chirp(double left) {
  constexpr double kFirstHz = 35.0;
  constexpr double kClosest = 1.5e-3;  // where the approximation ends, seconds before
  const double length = seconds(kChirpLength);
  if (left > length || left <= 0) return 0;
  const double x = std::max(left, kClosest) / length;
  const double phase = -kTwoPi * kFirstHz * length * 1.6 * std::pow(x, 0.625);
  const double fade_in = std::min(1.0, (length - left) / 0.05);
  const double fade_out = std::min(1.0, left / kClosest);
  return fade_in * fade_out * std::pow(x, -0.25) * std::sin(phase);
}

class Strain final : public Signal {
 public:
  Strain(double hz, std::uint64_t seed)
      : hz_(hz), red_(hz, kCornerHz, seed), white_(seed ^ 0x5DEECE66DU) {}

  double next() override {
    const double time = static_cast<double>(n_++) / hz_;
    const double period = seconds(kChirpPeriod);
    const double since = std::fmod(time - seconds(kFirstChirp) + period, period);
    return kRed * red_.next() + kWhite * white_.normal() + kChirp * chirp(period - since);
  }

 private:
  static constexpr double kCornerHz = 12.0;
  static constexpr double kRed = 4e-22;
  static constexpr double kWhite = 1e-22;
  static constexpr double kChirp = 1.2e-21;

  double hz_;
  RedNoise red_;
  console::Random white_;
  std::int64_t n_ = 0;
};

class Oscillation final : public Signal {
 public:
  Oscillation(double hz, std::uint64_t seed) : Oscillation(hz, seed, console::Random(seed)) {}

  double next() override {
    phase_ = std::fmod(phase_ + step_, kTwoPi);
    return mean_ + amplitude_ * (std::sin(phase_) + 0.1 * noise_.next());
  }

 private:
  Oscillation(double hz, std::uint64_t seed, console::Random random)
      : step_(kTwoPi * random.uniform(0.15, 0.6) / hz),
        phase_(random.uniform(0, kTwoPi)),
        mean_(random.uniform(-5, 5)),
        amplitude_(random.uniform(0.2, 2)),
        noise_(hz, 5.0, ~seed) {}

  double step_;
  double phase_;
  double mean_;
  double amplitude_;
  RedNoise noise_;
};

class Drift final : public Signal {
 public:
  Drift(double hz, std::uint64_t seed, double mean, double deviation)
      : mean_(mean), deviation_(deviation), noise_(hz, 0.1, seed) {}
  double next() override { return mean_ + deviation_ * noise_.next(); }

 private:
  double mean_;
  double deviation_;
  RedNoise noise_;
};

class State final : public Signal {
 public:
  State(double hz, std::uint64_t seed) : hz_(hz), random_(seed) { stay(5, 8); }

  double next() override {
    if (left_-- > 0) return value_;
    if (value_ == kUsual) {
      value_ = kOthers.at(random_.bits() % kOthers.size());
      stay(0.5, 2);
    } else {
      value_ = kUsual;
      stay(4, 8);
    }
    return value_;
  }

 private:
  static constexpr double kUsual = 600;
  static constexpr std::array kOthers{10.0, 400.0, 580.0};

  void stay(double least, double most) {
    left_ = static_cast<std::int64_t>(random_.uniform(least, most) * hz_);
  }

  double hz_;
  console::Random random_;
  double value_ = kUsual;
  std::int64_t left_ = 0;
};

class Bits final : public Signal {
 public:
  Bits(double hz, std::uint64_t seed) : hz_(hz), random_(seed) {}

  double next() override {
    for (unsigned bit = 0; bit < 8; ++bit) {
      const bool set = (word_ >> bit & 1U) != 0;
      // A bit fails about every 20 s and recovers within one.
      const double flips_a_second = set ? 0.05 : 1.5;
      if (random_.uniform() < flips_a_second / hz_) word_ ^= 1U << bit;
    }
    return word_;
  }

 private:
  double hz_;
  console::Random random_;
  std::uint32_t word_ = 0xFF;
};

}  // namespace

std::unique_ptr<Signal> make_strain(double hz, std::uint64_t seed) {
  return std::make_unique<Strain>(hz, seed);
}

std::unique_ptr<Signal> make_oscillation(double hz, std::uint64_t seed) {
  return std::make_unique<Oscillation>(hz, seed);
}

std::unique_ptr<Signal> make_drift(double hz, std::uint64_t seed, double mean, double deviation) {
  return std::make_unique<Drift>(hz, seed, mean, deviation);
}

std::unique_ptr<Signal> make_state(double hz, std::uint64_t seed) {
  return std::make_unique<State>(hz, seed);
}

std::unique_ptr<Signal> make_bits(double hz, std::uint64_t seed) {
  return std::make_unique<Bits>(hz, seed);
}

bool DropoutPlan::is_silent(GpsTime time) const {
  if (time < switched_on_) return false;
  const Duration since = time - switched_on_;
  console::Random random(seed_ + static_cast<std::uint64_t>(since / kDropoutPeriod));
  const double from = random.uniform(4, 6);
  const double length = random.uniform(1, 2);
  const double at = seconds(since % kDropoutPeriod);
  return from <= at && at < from + length;
}

}
