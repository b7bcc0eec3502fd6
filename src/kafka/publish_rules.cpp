#include "kafka/publish_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>

#include "core/budget.hpp"
#include "core/logging.hpp"
#include "kafka/limits.hpp"
#include "wire/row_plan.hpp"

namespace arrakis::inline v1 {

namespace {

constexpr const char* kMaxMessageProperty = "message.max.bytes";

void require_publishable(const Channel& channel, const Channel& first) {
  if (!channel.partition_id || !channel.partition_index) {
    throw Error(Errc::precondition,
                fmt::format("channel {} has no partition_id and partition_index: it can't be "
                            "published",
                            channel.name()));
  }
  if (channel.stride != first.stride) {
    throw Error(Errc::precondition,
                fmt::format("channels {} and {} have different strides: a publisher has one",
                            first.name(), channel.name()));
  }
}

void require_whole_samples(const Channel& channel, Duration stride) {
  const SampleRate rate = channel.sample_rate();
  const std::uint64_t samples = rate.samples_in(stride);
  if (samples > 0 && rate.duration_of(samples) == stride) return;
  throw Error(Errc::precondition,
              fmt::format("channel {} of {} Hz has no whole number of samples in its stride of {} "
                          "ns: it can't be published",
                          channel.name(), rate.to_string(), stride.count()));
}

}

PublishRules::PublishRules(ChannelSet channels, const PublisherOptions& options)
    : channels_(std::move(channels)),
      require_grid_(options.require_grid),
      fill_missing_(options.fill_missing),
      future_limit_(options.future_limit),
      clock_(*options.clock),
      max_message_bytes_(kMaxMessageBytes),
      named_missing_(channels_.size()) {
  if (channels_.empty()) throw Error(Errc::invalid_argument, "no channels to publish");
  for (const Channel& channel : channels_) require_publishable(channel, channels_[0]);
  stride_ = value_or_throw(common_stride(channels_.channels()));
  for (const Channel& channel : channels_) require_whole_samples(channel, stride_);
  static_cast<void>(plan_rows(channels_));  // refuses what can't share a partition
  if (const auto it = options.properties.find(kMaxMessageProperty);
      it != options.properties.end()) {
    max_message_bytes_ = std::strtoull(it->second.c_str(), nullptr, 10);
  }
}

SeriesBlock PublishRules::admit(const SeriesBlock& block, const std::optional<GpsTime>& newest) {
  if (!checked_ || !checked_->same_table(block.channels())) {
    checked_.reset();
    check_channels(block.channels());
  }
  check_time(block, newest);
  if (!checked_) {
    if (!fill_missing_) warn_of_missing(block.channels());
    checked_ = block.channels();
  }
  if (fill_missing_ && block.channels().size() < channels_.size()) return filled(block);
  return block;
}

void PublishRules::check_channels(const ChannelSet& channels) {
  if (channels.empty()) throw Error(Errc::invalid_argument, "the block has no channels");
  for (const Channel& channel : channels) {
    const Channel& known = channels_.at(channel.name());
    if (!matches(channel, known)) {
      throw Error(Errc::invalid_argument,
                  fmt::format("channel metadata mismatch: the block has {}, registered is {}",
                              describe(channel), describe(known)));
    }
  }
}

void PublishRules::check_time(const SeriesBlock& block,
                              const std::optional<GpsTime>& newest) const {
  const auto refuse = [&](const std::string& reason) {
    throw Error(Errc::invalid_argument,
                fmt::format("the block at GPS {} {}", format_time(block.time()), reason));
  };
  if (block.duration() != stride_) {
    refuse(fmt::format("is {} ns long; the publisher's stride is {} ns", block.duration().count(),
                       stride_.count()));
  }
  if (require_grid_ && !block.time().is_multiple_of(stride_)) {
    refuse(fmt::format("begins at no multiple of the stride of {} ns", stride_.count()));
  }
  if (newest && block.time() <= *newest) {
    refuse(fmt::format("comes after that at {}: block times are not monotonically increasing",
                       format_time(*newest)));
  }
  if (future_limit_ && block.time() - clock_.now() > *future_limit_) {
    refuse(fmt::format("begins more than {} ahead of now, GPS {}: readers would refuse it",
                       format_duration(*future_limit_), format_time(clock_.now())));
  }
}

void PublishRules::warn_of_missing(const ChannelSet& channels) {
  if (channels.size() == channels_.size()) return;
  std::size_t count = 0;
  std::string first;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    if (named_missing_[i] || channels.contains(channels_[i].name())) continue;
    named_missing_[i] = true;
    if (count++ == 0) first = channels_[i].name();
  }
  if (count == 0) return;
  log::warning("publisher",
               "{} of {} channel(s) are not in the block and not sent, {} first; said once", count,
               channels_.size(), first);
}

SeriesBlock PublishRules::filled(const SeriesBlock& block) const {
  BlockBuilder builder(block.time(), channels_);
  for (const Channel& channel : channels_) {
    const bool is_there = block.channels().contains(channel.name());
    const std::size_t samples = channel.sample_rate().samples_in(stride_);
    const auto gaps = std::make_unique<bool[]>(samples);
    if (!is_there) {
      const std::vector<std::byte> nothing(samples * size_of(channel.data_type()));
      std::fill_n(gaps.get(), samples, true);
      builder.set_bytes(channel.name(), channel.data_type(), nothing, {gaps.get(), samples});
      continue;
    }
    const Series series = block[channel.name()];
    for (std::size_t i = 0; i < samples; ++i) gaps[i] = series.is_gap(i);
    builder.set_bytes(channel.name(), channel.data_type(), series.bytes(), {gaps.get(), samples});
  }
  return builder.build();
}

void PublishRules::check_sizes(const SeriesBlock& block,
                               const std::vector<EncodedMessage>& messages) const {
  for (const EncodedMessage& message : messages) {
    if (message.bytes.size() <= max_message_bytes_) continue;
    const auto is_in = [&](const Channel& channel) {
      return channel.partition_id == message.partition_id;
    };
    const auto count = std::count_if(block.channels().begin(), block.channels().end(), is_in);
    const auto first = std::find_if(block.channels().begin(), block.channels().end(), is_in);
    throw Error(Errc::invalid_argument,
                fmt::format("the block at GPS {} makes a message of {} bytes for partition {} ({} "
                            "channel(s) from {}); the limit is {} ({})",
                            format_time(block.time()), message.bytes.size(), message.partition_id,
                            count, first->name(), max_message_bytes_, kMaxMessageProperty));
  }
}

std::string PublishRules::channels_in(const std::string& topic) const {
  std::size_t count = 0;
  std::string first;
  for (const Channel& channel : channels_) {
    if (topic_of(channel) == topic && count++ == 0) first = channel.name();
  }
  return fmt::format("{} channel(s) from {}", count, first);
}

}
