#include "soak/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arrakis/block.hpp"
#include "testing/channels.hpp"

namespace arrakis::soak {

std::vector<Topic> make_topics(std::size_t count) {
  std::vector<Topic> topics;
  for (std::size_t t = 0; t < count; ++t) {
    std::vector<Channel> channels = testing::make_partition(fmt::format("soak-{}", t), 2);
    for (Channel& channel : channels) channel.max_latency = std::chrono::seconds(2);
    topics.push_back({topic_of(channels[0]), ChannelSet(std::move(channels))});
  }
  return topics;
}

float sample_value(std::int64_t number, std::size_t channel, std::size_t i) {
  return static_cast<float>(number) + 1000.0F * static_cast<float>(channel) + static_cast<float>(i);
}

SeriesBlock make_block(GpsTime time, const ChannelSet& channels, std::int64_t number) {
  BlockBuilder builder(time, channels);
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const Channel& channel = channels[c];
    std::vector<float> samples(channel.sample_rate().samples_in(*channel.stride));
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = sample_value(number, c, i);
    builder.set<float>(channel.name(), samples);
  }
  return builder.build();
}

std::int64_t Ledger::number_at(GpsTime time) const {
  return (time.floor_to(stride_) - base_) / stride_;
}

void Ledger::sent(std::size_t topic, std::int64_t number) {
  const std::lock_guard lock(mutex_);
  std::vector<Fate>& fates = topics_[topic].fates;
  fates.resize(static_cast<std::size_t>(number) + 1, Fate::unsent);
  fates.back() = Fate::sent;
}

void Ledger::ended(std::size_t topic, std::int64_t number, bool confirmed) {
  const std::lock_guard lock(mutex_);
  topics_[topic].fates.at(static_cast<std::size_t>(number)) =
      confirmed ? Fate::confirmed : Fate::failed;
}

void Ledger::begin_loss(std::size_t topic) {
  const std::lock_guard lock(mutex_);
  topics_[topic].is_losing = true;
}

void Ledger::end_loss(std::size_t topic) {
  const std::lock_guard lock(mutex_);
  State& state = topics_[topic];
  state.is_losing = false;
  state.lost_before = static_cast<std::int64_t>(state.fates.size());
}

Ledger::Entry Ledger::look_up(std::size_t topic, std::int64_t number) const {
  const std::lock_guard lock(mutex_);
  const State& state = topics_[topic];
  const bool is_known = number >= 0 && number < static_cast<std::int64_t>(state.fates.size());
  return {.fate = is_known ? state.fates[static_cast<std::size_t>(number)] : Fate::unsent,
          .may_be_lost = state.is_losing || number < state.lost_before};
}

std::int64_t Ledger::next() const {
  const std::lock_guard lock(mutex_);
  std::size_t next = 0;
  for (const State& state : topics_) next = std::max(next, state.fates.size());
  return static_cast<std::int64_t>(next);
}

std::size_t Ledger::count(Fate fate) const {
  const std::lock_guard lock(mutex_);
  std::size_t found = 0;
  for (const State& state : topics_) {
    found += static_cast<std::size_t>(std::count(state.fates.begin(), state.fates.end(), fate));
  }
  return found;
}

}
