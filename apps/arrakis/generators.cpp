#include "generators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrakis/error.hpp"
#include "common/random.hpp"

namespace arrakis::cli {
namespace {

constexpr std::int64_t kNsASecond = 1'000'000'000;

constexpr std::array<std::pair<std::string_view, Waveform>, 4> kWaveforms = {
    {{"sine", Waveform::sine},
     {"chirp", Waveform::chirp},
     {"noise", Waveform::noise},
     {"ramp", Waveform::ramp}}};

// The same on every machine, which std::hash need not be.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  }
  return hash;
}

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  return console::Random(console::Random(a).bits() ^ b).bits();
}

// Cycles since the epoch, without the whole ones. What a double of today's seconds would lose is
// kept: whole seconds are taken times the fraction of a cycle only.
double phase(double frequency, GpsTime time) {
  const std::int64_t seconds = time.ns() / kNsASecond;
  const auto rest = static_cast<double>(time.ns() % kNsASecond) / 1e9;
  const double fraction = frequency - std::floor(frequency);
  const long double turned = static_cast<long double>(fraction) * static_cast<long double>(seconds);
  return static_cast<double>(std::fmod(turned, 1.0L)) + frequency * rest;
}

double sine(double cycles) { return std::sin(2 * std::numbers::pi * cycles); }

double seconds_into(GpsTime time, Duration period) {
  return std::chrono::duration<double>(time - time.floor_to(period)).count();
}

template <typename T>
T as_sample(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    // The greatest integers are no doubles: what rounds up to them must not be converted.
    const double rounded = std::round(value);
    if (rounded >= static_cast<double>(std::numeric_limits<T>::max())) {
      return std::numeric_limits<T>::max();
    }
    if (rounded <= static_cast<double>(std::numeric_limits<T>::min())) {
      return std::numeric_limits<T>::min();
    }
    return static_cast<T>(rounded);
  }
}

void require(bool holds, std::string_view option, const std::string& must_be) {
  if (holds) return;
  throw Error(Errc::invalid_argument, fmt::format("{} must be {}", option, must_be));
}

void require_usable(const GeneratorOptions& options) {
  const auto finite = [](double value) { return std::isfinite(value); };
  require(finite(options.amplitude), "the amplitude",
          fmt::format("a finite number, not {}", options.amplitude));
  require(finite(options.offset), "the offset",
          fmt::format("a finite number, not {}", options.offset));
  require(finite(options.frequency) && options.frequency >= 0, "the frequency",
          fmt::format("zero or more Hz, not {}", options.frequency));
  require(finite(options.end_frequency) && options.end_frequency >= 0, "the end frequency",
          fmt::format("zero or more Hz, not {}", options.end_frequency));
  require(options.period > Duration::zero(), "the period",
          fmt::format("longer than nothing, not {} ns", options.period.count()));
  require(options.dropout >= 0 && options.dropout <= 1, "the share of drop-outs",
          fmt::format("between 0 and 1, not {}", options.dropout));
  require(options.dropout_length > Duration::zero(), "the length of a drop-out",
          fmt::format("longer than nothing, not {} ns", options.dropout_length.count()));
}

}  // namespace

std::string_view to_string(Waveform waveform) {
  const auto* const found =
      std::find_if(kWaveforms.begin(), kWaveforms.end(),
                   [&](const auto& entry) { return entry.second == waveform; });
  return found->first;
}

std::optional<Waveform> parse_waveform(std::string_view name) {
  const auto* const found = std::find_if(kWaveforms.begin(), kWaveforms.end(),
                                         [&](const auto& entry) { return entry.first == name; });
  return found == kWaveforms.end() ? std::nullopt : std::optional(found->second);
}

Generator::Generator(ChannelSet channels, const GeneratorOptions& options)
    : channels_(std::move(channels)), options_(options) {
  require_usable(options_);
}

SeriesBlock Generator::block(GpsTime time, Duration duration) const {
  BlockBuilder builder(time, channels_);
  // A full gap has the times of the samples that are to be made.
  const SeriesBlock frame = full_gap(time, duration, channels_);
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    const Channel& channel = channels_[i];
    const Series times = frame.at(i);
    const std::uint64_t key = hash_of(channel.name());
    visit_type(channel.data_type(), [&]<typename T>(T) {
      std::vector<T> samples(times.size());
      std::vector<bool> gaps(times.size());
      for (std::size_t k = 0; k < samples.size(); ++k) {
        const GpsTime at = times.time_at(k);
        gaps[k] = is_missing(key, at);
        samples[k] = gaps[k] ? T{} : as_sample<T>(value(key, at));
      }
      builder.set(channel.name(), samples, gaps);
    });
  }
  SeriesBlock block = builder.build();
  if (block.duration() != duration && !channels_.empty()) {
    throw Error(Errc::precondition,
                fmt::format("{} ns are no whole number of samples of {} at {} Hz", duration.count(),
                            channels_[0].name(), channels_[0].sample_rate().to_string()));
  }
  return block;
}

double Generator::value(std::uint64_t channel, GpsTime time) const {
  const GeneratorOptions& o = options_;
  switch (o.waveform) {
    case Waveform::sine:
      return o.offset + o.amplitude * sine(phase(o.frequency, time));
    case Waveform::chirp: {
      const double t = seconds_into(time, o.period);
      const double length = std::chrono::duration<double>(o.period).count();
      const double growth = (o.end_frequency - o.frequency) / (2 * length);
      return o.offset + o.amplitude * sine((o.frequency + growth * t) * t);
    }
    case Waveform::noise: {
      console::Random random(mixed(o.seed ^ channel, static_cast<std::uint64_t>(time.ns())));
      return o.offset + o.amplitude * random.normal();
    }
    case Waveform::ramp:
      break;
  }
  const double length = std::chrono::duration<double>(o.period).count();
  return o.offset + o.amplitude * seconds_into(time, o.period) / length;
}

bool Generator::is_missing(std::uint64_t channel, GpsTime time) const {
  if (options_.dropout <= 0) return false;
  const auto piece = static_cast<std::uint64_t>(time.floor_to(options_.dropout_length).ns());
  // Not the noise's own numbers.
  return console::Random(mixed(~options_.seed ^ channel, piece)).uniform() < options_.dropout;
}

}
