#pragma once

/// Publishing under a publisher's id: the server says where the channels go, blocks go to Kafka.
///
///     arrakis::Publisher publisher("CAL");
///     publisher.register_channels();
///     publisher.publish(block);
/// @since 0.2

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/client.hpp"
#include "arrakis/error.hpp"
#include "arrakis/export.hpp"
#include "arrakis/kafka.hpp"
#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

/// Publishes the channels of one publisher id. One thread at a time, except stats(); limits and
/// costs as KafkaPublisher.
class ARRAKIS_API Publisher {
 public:
  /// As KafkaPublisher's: what became of a block that was published asynchronously.
  using Completion = KafkaPublisher::Completion;

  /// `client.token`: none given and not off: the environment's ARRAKIS_TOKEN first, then discovery
  /// with the right to create. Does not contact the server. What the server says of the broker wins
  /// over the publisher's defaults, and options.properties over that.
  explicit Publisher(std::string publisher_id, ClientOptions client = {},
                     std::optional<std::string> replay_id = {}, PublisherOptions options = {});
  /// Waits, at most options.close_timeout, for what is on its way.
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  /// Learns the publisher's channels from the server and where to publish. Channels given that the
  /// server doesn't know, or knows differently, are registered first. Returns itself. Throws Error:
  /// not_found (the publisher has no channels; a channel was not registered), precondition (a
  /// channel without a partition; different strides), permission_denied (the server refuses).
  Publisher& register_channels(const std::optional<ChannelSet>& channels = {});

  /// All channels, and their stride. Empty before register_channels().
  [[nodiscard]] const ChannelSet& channels() const;
  [[nodiscard]] Duration stride() const;

  /// As KafkaPublisher's; Error(failed_precondition) before register_channels().
  void publish(const SeriesBlock& block);
  void publish_async(const SeriesBlock& block, Completion done);
  bool flush(Duration timeout);
  /// Waits as the destructor, and lets go of the broker. Idempotent; never throws.
  void close();
  /// Safe from any thread.
  [[nodiscard]] PublisherStats stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace arrakis::inline v1
