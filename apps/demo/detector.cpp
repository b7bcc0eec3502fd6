#include "demo/detector.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

namespace arrakis::demo {
namespace {

constexpr Duration kMaxLatency = std::chrono::seconds(2);
constexpr int kStrainHz = 16'384;
constexpr int kAuxiliaryHz = 256;
constexpr int kSlowHz = 16;

constexpr std::array<std::string_view, 20> kAuxiliaries{
    "X1:SUS-ETMX_PIT",   "X1:SUS-ETMX_YAW",   "X1:SUS-ETMY_PIT",    "X1:SUS-ETMY_YAW",
    "X1:SUS-ITMX_PIT",   "X1:SUS-ITMX_YAW",   "X1:SUS-ITMY_PIT",    "X1:SUS-ITMY_YAW",
    "X1:ASC-CHARD_PIT",  "X1:ASC-CHARD_YAW",  "X1:ASC-DHARD_PIT",   "X1:ASC-DHARD_YAW",
    "X1:LSC-DARM_ERR",   "X1:LSC-MICH_ERR",   "X1:LSC-PRCL_ERR",    "X1:PSL-ISS_POWER",
    "X1:PEM-MIC_CORNER", "X1:PEM-MAG_CORNER", "X1:PEM-SEIS_CORNER", kFaultyChannel,
};

using Signals = std::vector<std::unique_ptr<Signal>>;

/// Collects the channels of one publisher. A partition carries one data type, so each type has its
/// own.
class Share {
 public:
  explicit Share(std::string name) : name_(std::move(name)) {}

  void add(std::string_view channel_name, DataType type, int hz, std::unique_ptr<Signal> signal) {
    Channel channel(std::string(channel_name), type, SampleRate(hz));
    channel.publisher = name_;
    channel.partition_id = name_ + "_" + std::string(to_string(type));
    channel.partition_index = partition_sizes_[type]++;
    channel.stride = kStride;
    channel.max_latency = kMaxLatency;
    channels_.push_back(std::move(channel));
    signals_.push_back(std::move(signal));
  }
  Instrument instrument(GpsTime switched_on, const DropoutPlan& dropouts) && {
    return {std::move(name_), ChannelSet(std::move(channels_)), std::move(signals_), switched_on,
            dropouts};
  }

 private:
  std::string name_;
  std::vector<Channel> channels_;
  Signals signals_;
  std::map<DataType, std::uint32_t> partition_sizes_;
};

Share strain_share(std::uint64_t seed) {
  Share share("X1_CAL");
  share.add("X1:CAL-STRAIN", DataType::float64, kStrainHz, make_strain(kStrainHz, seed));
  return share;
}

Share auxiliary_share(std::uint64_t seed) {
  Share share("X1_AUX");
  for (const std::string_view name : kAuxiliaries) {
    share.add(name, DataType::float32, kAuxiliaryHz, make_oscillation(kAuxiliaryHz, ++seed));
  }
  return share;
}

Share slow_share(std::uint64_t seed) {
  Share share("X1_SLOW");
  const auto drift = [&](std::string_view name, double mean, double deviation) {
    share.add(name, DataType::float32, kSlowHz, make_drift(kSlowHz, ++seed, mean, deviation));
  };
  share.add("X1:GRD-LOCK_STATE", DataType::int32, kSlowHz, make_state(kSlowHz, ++seed));
  share.add("X1:DQ-VECTOR", DataType::int32, kSlowHz, make_bits(kSlowHz, ++seed));
  drift("X1:PEM-TEMP_CORNER", 21.3, 0.05);
  drift("X1:PEM-WIND_SPEED", 4.2, 1.1);
  drift("X1:VAC-PRESSURE_X", 8.1e-9, 2e-10);
  return share;
}

std::vector<Channel> without(const ChannelSet& channels, std::string_view name) {
  std::vector<Channel> rest;
  std::copy_if(channels.begin(), channels.end(), std::back_inserter(rest),
               [name](const Channel& channel) { return channel.name() != name; });
  return rest;
}

/// For each of the channel's samples in [from, to), whether the sensor was silent.
std::vector<bool> silence(const Channel& channel, const DropoutPlan& dropouts, GpsTime from,
                          GpsTime to) {
  std::vector<bool> silent(channel.sample_rate().samples_in(to - from));
  if (channel.name() != kFaultyChannel) return silent;
  for (std::size_t i = 0; i < silent.size(); ++i) {
    silent[i] = dropouts.is_silent(from + channel.sample_rate().duration_of(i));
  }
  return silent;
}

}  // namespace

Instrument::Instrument(std::string publisher, ChannelSet channels, Signals signals,
                       GpsTime switched_on, DropoutPlan dropouts)
    : publisher_(std::move(publisher)),
      channels_(std::move(channels)),
      without_faulty_(without(channels_, kFaultyChannel)),
      signals_(std::move(signals)),
      next_time_(switched_on),
      dropouts_(dropouts) {}

SeriesBlock Instrument::next_block() {
  const GpsTime from = std::exchange(next_time_, next_time_ + kStride);
  const bool has_faulty = channels_.contains(kFaultyChannel);
  std::vector<bool> silent;
  if (has_faulty) silent = silence(channels_.at(kFaultyChannel), dropouts_, from, next_time_);
  const auto silent_count =
      static_cast<std::size_t>(std::count(silent.begin(), silent.end(), true));
  const bool left_out = has_faulty && silent_count == silent.size();
  const auto gaps = std::make_unique<bool[]>(silent.size());
  std::copy(silent.begin(), silent.end(), gaps.get());

  BlockBuilder builder(from, left_out ? without_faulty_ : channels_);
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    const Channel& channel = channels_[c];
    const bool is_faulty = channel.name() == kFaultyChannel;
    visit_type(channel.data_type(), [&](auto type) {
      using T = decltype(type);
      // Made also when nobody hears them, so that what comes later does not depend on that.
      std::vector<T> samples(channel.sample_rate().samples_in(kStride));
      for (T& sample : samples) sample = static_cast<T>(signals_[c]->next());
      if (is_faulty && left_out) return;
      const std::span<const bool> flags(gaps.get(),
                                        is_faulty && silent_count > 0 ? silent.size() : 0);
      builder.set(channel.name(), samples, flags);
    });
  }
  return builder.build();
}

Detector::Detector(GpsTime switched_on, std::uint64_t seed) : dropouts_(switched_on, seed) {
  constexpr std::uint64_t kSeedsApart = 1000;
  instruments_.push_back(strain_share(seed).instrument(switched_on, dropouts_));
  instruments_.push_back(auxiliary_share(seed + kSeedsApart).instrument(switched_on, dropouts_));
  instruments_.push_back(slow_share(seed + 2 * kSeedsApart).instrument(switched_on, dropouts_));
  std::vector<Channel> all;
  for (const Instrument& instrument : instruments_) {
    all.insert(all.end(), instrument.channels().begin(), instrument.channels().end());
  }
  channels_ = ChannelSet(std::move(all));
}

std::size_t Detector::silent_samples(const Channel& channel, GpsTime from, GpsTime to) const {
  const std::vector<bool> silent = silence(channel, dropouts_, from, to);
  return static_cast<std::size_t>(std::count(silent.begin(), silent.end(), true));
}

std::vector<std::string> shown_channels() {
  return {"X1:CAL-STRAIN",     "X1:LSC-DARM_ERR",    "X1:SUS-ETMX_PIT",
          "X1:ASC-CHARD_YAW",  "X1:PEM-MIC_CORNER",  std::string(kFaultyChannel),
          "X1:PEM-WIND_SPEED", "X1:PEM-TEMP_CORNER", "X1:GRD-LOCK_STATE",
          "X1:DQ-VECTOR"};
}

}
