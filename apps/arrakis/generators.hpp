#pragma once

/// Test signals to publish. A sample depends on its channel and its GPS time alone, so that any
/// block can be made by itself, again, and by any number of publishers.

#include <cstdint>
#include <optional>
#include <string_view>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/time.hpp"

namespace arrakis::cli {

enum class Waveform {
  sine,   ///< amplitude · sin(2π · frequency · t)
  chirp,  ///< a sine whose frequency goes from frequency to end_frequency in each period
  noise,  ///< normal, of standard deviation amplitude
  ramp,   ///< from zero up to amplitude in each period
};
std::string_view to_string(Waveform waveform);
/// "sine", "chirp", "noise" or "ramp".
std::optional<Waveform> parse_waveform(std::string_view name);

struct GeneratorOptions {
  Waveform waveform = Waveform::sine;
  double amplitude = 1;
  double offset = 0;  ///< added to every sample
  double frequency = 1;
  double end_frequency = 10;
  Duration period = std::chrono::seconds(10);         ///< counted from the GPS epoch; > 0
  std::uint64_t seed = 0;                             ///< of noise and drop-outs
  double dropout = 0;                                 ///< share of time that is missing, 0 to 1
  Duration dropout_length = std::chrono::seconds(1);  ///< time is lost in pieces of this; > 0
};

/// Immutable; safe from any thread.
class Generator {
 public:
  /// Throws Error(invalid_argument) that names the option which can't be used, and its value.
  explicit Generator(ChannelSet channels, const GeneratorOptions& options = {});

  /// Integers are rounded, and end at the limits of their type. Throws Error(precondition) when
  /// `duration` is not the same whole time of samples for every channel.
  [[nodiscard]] SeriesBlock block(GpsTime time, Duration duration) const;

 private:
  [[nodiscard]] double value(std::uint64_t channel, GpsTime time) const;
  [[nodiscard]] bool is_missing(std::uint64_t channel, GpsTime time) const;

  ChannelSet channels_;
  GeneratorOptions options_;
};

}
