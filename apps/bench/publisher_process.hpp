#pragma once

/// A publisher in a process of its own, so that what a reader takes can be told from its.

#include <cstddef>
#include <optional>
#include <string>

#include "arrakis/channel.hpp"
#include "arrakis/time.hpp"
#include "bench/child_process.hpp"

namespace arrakis::bench {

/// Strides that are published as fast as it goes.
struct Backlog {
  GpsTime from;
  std::size_t strides = 0;
  std::size_t report_every = 1;
};

/// Ends with its parent; the destructor waits until the process has deleted its topics. Not safe
/// from several threads at once.
class PublisherProcess {
 public:
  /// Forks, so there must be no other thread. The process makes the channels' topics on the broker
  /// at `bootstrap`, or on one of its own when that is empty. Throws Error with what went wrong
  /// there.
  PublisherProcess(const std::string& bootstrap, const ChannelSet& channels,
                   std::optional<Backlog> backlog = {});

  [[nodiscard]] const std::string& bootstrap() const { return bootstrap_; }
  /// From here on every stride is published at its end, or the backlog as fast as it goes.
  void start();
  /// Waits until another `report_every` strides of the backlog have been published.
  void wait_for_report();
  /// Ends publishing; how late, at most, a stride was handed to librdkafka, in ms.
  double stop();

 private:
  ChildProcess process_;
  std::string bootstrap_;
};

}
