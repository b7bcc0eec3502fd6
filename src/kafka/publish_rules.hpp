#pragma once

/// Which channels and blocks may be published.

#include <optional>
#include <string>
#include <vector>

#include "arrakis/kafka.hpp"
#include "wire/row_encoder.hpp"

namespace arrakis::inline v1 {

/// The rules of one publisher. Not safe from several threads at once. A block of the same
/// ChannelSet as the one before costs no look at its channels.
class PublishRules {
 public:
  /// Throws Error(invalid_argument) or Error(precondition) that names the channel.
  PublishRules(ChannelSet channels, const PublisherOptions& options);

  [[nodiscard]] const ChannelSet& channels() const { return channels_; }
  [[nodiscard]] Duration stride() const { return stride_; }

  /// The block as it is to be sent: with gaps for missing channels when the options ask for it.
  /// `newest` is the time that it has to come after. Throws what KafkaPublisher::publish says.
  SeriesBlock admit(const SeriesBlock& block, const std::optional<GpsTime>& newest);
  /// Throws Error(invalid_argument) with the sizes and channels of a message that is too large.
  void check_sizes(const SeriesBlock& block, const std::vector<EncodedMessage>& messages) const;
  /// "3 channel(s) from X1:P-0"
  [[nodiscard]] std::string channels_in(const std::string& topic) const;

 private:
  void check_channels(const ChannelSet& channels);
  void check_time(const SeriesBlock& block, const std::optional<GpsTime>& newest) const;
  void warn_of_missing(const ChannelSet& channels);
  [[nodiscard]] SeriesBlock filled(const SeriesBlock& block) const;

  const ChannelSet channels_;
  const bool require_grid_;
  const bool fill_missing_;
  const std::optional<Duration> future_limit_;
  const Clock& clock_;
  std::size_t max_message_bytes_;
  Duration stride_{};
  std::optional<ChannelSet> checked_;  // the last block's channels, found to be right
  std::vector<bool> named_missing_;    // a channel of channels_ that a warning has named
};

}
