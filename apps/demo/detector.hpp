#pragma once

/// The demo's detector: three publishers of synthetic channels.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/time.hpp"
#include "demo/signals.hpp"

namespace arrakis::demo {

/// Length of a block: 16 a second.
constexpr Duration kStride = std::chrono::microseconds(62'500);

/// The channel that drops out now and then.
constexpr std::string_view kFaultyChannel = "X1:PEM-SEIS_VAULT";

/// One publisher's share of the detector. Makes its blocks in order of time; the samples depend
/// only on the seed. Not safe from several threads at once.
class Instrument {
 public:
  Instrument(std::string publisher, ChannelSet channels,
             std::vector<std::unique_ptr<Signal>> signals, GpsTime switched_on,
             DropoutPlan dropouts);

  [[nodiscard]] const std::string& publisher() const { return publisher_; }
  [[nodiscard]] const ChannelSet& channels() const { return channels_; }
  /// Where the next block begins.
  [[nodiscard]] GpsTime next_time() const { return next_time_; }
  /// The next kStride. A channel that is silent for all of it is left out, as a publisher does that
  /// hears nothing of its sensor; where it is silent for a part, that part is a gap.
  SeriesBlock next_block();

 private:
  std::string publisher_;
  ChannelSet channels_;
  ChannelSet without_faulty_;
  std::vector<std::unique_ptr<Signal>> signals_;  // as channels_
  GpsTime next_time_;
  DropoutPlan dropouts_;
};

class Detector {
 public:
  /// Switched on at `switched_on`, a multiple of kStride.
  Detector(GpsTime switched_on, std::uint64_t seed);

  /// Gives the publishers' shares away, once.
  std::vector<Instrument> take_instruments() { return std::move(instruments_); }
  /// All channels of all publishers.
  [[nodiscard]] const ChannelSet& channels() const { return channels_; }
  /// How many samples of a channel were never taken in [from, to): what is missing beyond them was
  /// lost on the way.
  [[nodiscard]] std::size_t silent_samples(const Channel& channel, GpsTime from, GpsTime to) const;

 private:
  DropoutPlan dropouts_;
  std::vector<Instrument> instruments_;
  ChannelSet channels_;
};

/// The channels that the demo streams.
std::vector<std::string> shown_channels();

}
