#pragma once

/// A publisher of a whole detector in a process of its own, so that a reader's cost can be told
/// from its.

#include <sys/types.h>

#include <string>

#include "arrakis/channel.hpp"

namespace arrakis::bench {

/// Ends with its parent. Not safe from several threads at once.
class DetectorPublisher {
 public:
  /// Forks, so there must be no other thread. The process makes the channels' topics on the broker
  /// at `bootstrap`, or on one of its own when that is empty. Throws Error with what went wrong
  /// there.
  DetectorPublisher(const std::string& bootstrap, const ChannelSet& channels);
  /// Waits until the process has deleted its topics.
  ~DetectorPublisher();
  DetectorPublisher(const DetectorPublisher&) = delete;
  DetectorPublisher& operator=(const DetectorPublisher&) = delete;

  [[nodiscard]] const std::string& bootstrap() const { return bootstrap_; }
  /// From here on every stride is published at its end.
  void start();
  /// Ends publishing; how late, at most, a stride was handed to librdkafka, in ms.
  double stop();

 private:
  std::string read_line();
  void end();

  pid_t pid_ = 0;
  int commands_ = -1;
  int answers_ = -1;
  std::string bootstrap_;
};

}
