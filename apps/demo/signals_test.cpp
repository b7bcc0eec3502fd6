#include "demo/signals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <vector>

namespace arrakis::demo {
namespace {

constexpr double kHz = 16384;

std::vector<double> take(Signal& signal, double seconds, double hz) {
  std::vector<double> samples(static_cast<std::size_t>(seconds * hz));
  for (double& sample : samples) sample = signal.next();
  return samples;
}

double rms(const std::vector<double>& samples, std::size_t from, std::size_t to) {
  double sum = 0;
  for (std::size_t i = from; i < to; ++i) sum += samples[i] * samples[i];
  return std::sqrt(sum / static_cast<double>(to - from));
}

std::size_t sample_at(Duration time) {
  return static_cast<std::size_t>(std::chrono::duration<double>(time).count() * kHz);
}

TEST(Signals, DependOnlyOnTheSeed) {
  using Make = std::function<std::unique_ptr<Signal>(std::uint64_t)>;
  const std::vector<Make> makers{
      [](std::uint64_t seed) { return make_strain(kHz, seed); },
      [](std::uint64_t seed) { return make_oscillation(256, seed); },
      [](std::uint64_t seed) { return make_drift(16, seed, 0, 1); },
      [](std::uint64_t seed) { return make_state(16, seed); },
      [](std::uint64_t seed) { return make_bits(16, seed); },
  };
  for (std::size_t i = 0; i < makers.size(); ++i) {
    const auto samples = [&](std::uint64_t seed) { return take(*makers[i](seed), 20, 100); };
    EXPECT_EQ(samples(1), samples(1)) << "signal " << i;
    EXPECT_NE(samples(1), samples(2)) << "signal " << i;
  }
}

TEST(Strain, HasAChirpAtItsTime) {
  const auto samples = take(*make_strain(kHz, 3), 4, kHz);
  constexpr Duration kTenth = std::chrono::milliseconds(100);
  const double quiet = rms(samples, 0, sample_at(kFirstChirp - kChirpLength));
  const double loud = rms(samples, sample_at(kFirstChirp - kTenth), sample_at(kFirstChirp));
  const double after = rms(samples, sample_at(kFirstChirp), samples.size());
  EXPECT_GT(loud, 3 * quiet);
  EXPECT_LT(after, 1.5 * quiet);
  EXPECT_NEAR(quiet, 4e-22, 2e-22);
}

TEST(Strain, TheChirpComesAgain) {
  const auto samples = take(*make_strain(kHz, 3), 10, kHz);
  const Duration second = kFirstChirp + kChirpPeriod;
  constexpr Duration kTenth = std::chrono::milliseconds(100);
  EXPECT_GT(rms(samples, sample_at(second - kTenth), sample_at(second)),
            3 * rms(samples, sample_at(kFirstChirp), sample_at(second - kChirpLength)));
}

TEST(Strain, TheChirpsFrequencyRises) {
  // Zero crossings of the chirp alone can't be had; in its loudest part it dominates the noise once
  // neighbouring samples are averaged.
  const auto samples = take(*make_strain(kHz, 3), 4, kHz);
  const auto crossings = [&](Duration from, Duration to) {
    constexpr std::size_t kAverage = 16;
    int count = 0;
    double last = 0;
    for (std::size_t i = sample_at(from); i + kAverage < sample_at(to); i += kAverage) {
      const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(i);
      const double mean = std::accumulate(begin, begin + kAverage, 0.0);
      if (mean * last < 0) ++count;
      last = mean;
    }
    return count;
  };
  using std::chrono::milliseconds;
  EXPECT_GT(crossings(kFirstChirp - milliseconds(100), kFirstChirp),
            crossings(kFirstChirp - milliseconds(500), kFirstChirp - milliseconds(400)));
}

TEST(Strain, NoiseIsStrongerAtLowFrequencies) {
  const auto samples = take(*make_strain(kHz, 5), 2, kHz);
  double squares = 0;
  double differences = 0;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    squares += samples[i] * samples[i];
    differences += (samples[i] - samples[i - 1]) * (samples[i] - samples[i - 1]);
  }
  EXPECT_LT(differences, 0.5 * squares);  // 2 for white noise
}

TEST(State, LeavesItsUsualValueNowAndThen) {
  const auto samples = take(*make_state(16, 1), 60, 16);
  const std::set<double> values(samples.begin(), samples.end());
  EXPECT_GT(values.size(), 1U);
  EXPECT_GT(std::count(samples.begin(), samples.end(), 600.0), 30 * 16);
}

TEST(Bits, AreMostlySetAndStayInTheWord) {
  const auto samples = take(*make_bits(16, 1), 60, 16);
  for (const double word : samples) {
    ASSERT_GE(word, 0);
    ASSERT_LE(word, 255);
  }
  EXPECT_GT(std::count(samples.begin(), samples.end(), 255.0), 10 * 16);
  EXPECT_LT(std::count(samples.begin(), samples.end(), 255.0), 60 * 16);
}

TEST(DropoutPlan, IsSilentOnceAPeriodForOneToTwoSeconds) {
  const GpsTime on = GpsTime::from_seconds(1'000'000'000);
  const DropoutPlan plan(on, 1);
  constexpr Duration kLook = std::chrono::milliseconds(1);
  for (int period = 0; period < 20; ++period) {
    Duration silent{};
    int changes = 0;
    bool last = false;
    for (Duration t{}; t < kDropoutPeriod; t += kLook) {
      const bool now = plan.is_silent(on + period * kDropoutPeriod + t);
      if (now) silent += kLook;
      if (now != last) ++changes;
      last = now;
    }
    EXPECT_EQ(changes, 2);
    EXPECT_GE(silent, std::chrono::milliseconds(999));
    EXPECT_LE(silent, std::chrono::milliseconds(2001));
  }
  EXPECT_FALSE(plan.is_silent(on - std::chrono::seconds(4)));
}

}  // namespace
}
