#pragma once

/// Opens the streams that a command's options ask for.

#include <optional>
#include <string>
#include <vector>

#include "arrakis/stream.hpp"
#include "command.hpp"

namespace arrakis::cli {

/// What the channels of a request stand for, and streams of them: from Kafka alone where there is a
/// file of metadata, else by way of the servers. Says in the log what is streamed.
class StreamSource {
 public:
  /// Finds the channels' names: reads the file, or asks the servers where there are patterns.
  StreamSource(Session& session, StreamRequest request, const std::optional<std::string>& metadata);

  /// The channels' descriptions; asks the servers.
  [[nodiscard]] ChannelSet channels() const;
  /// A stream of all of them, or of some.
  [[nodiscard]] BlockStream open() const;
  [[nodiscard]] BlockStream open(const ChannelSet& some) const;

 private:
  [[nodiscard]] BlockStream open_kafka(const ChannelSet& channels) const;

  Session& session_;
  StreamRequest request_;
  std::optional<Client> client_;         // none: no server is asked,
  std::optional<ChannelSet> described_;  // and this was read
};

}
