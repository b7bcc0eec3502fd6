#pragma once

/// A Source that reads endpoints of Flight servers.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrakis/channel.hpp"
#include "arrakis/source.hpp"
#include "flight/connector.hpp"

namespace arrakis::inline v1 {

/// What one DoGet gives: a ticket, where it may be redeemed, and the channels that it is for.
struct StreamEndpoint {
  std::string ticket;
  std::vector<std::string> locations;  ///< replicas; none: where it was asked for
  ServerUrl asked;                     ///< who named it
  ChannelSet channels;
  std::optional<GpsTime> start;  ///< as in the ticket
  std::optional<GpsTime> end;
};

struct FlightReaderOptions {
  /// Blocks that an endpoint may be ahead of poll(), and bytes of them; beyond it the server waits.
  std::size_t queue_blocks = 64;
  std::size_t queue_bytes = std::size_t{32} << 20U;
  /// How long one location may take for its first answer before the next one is tried.
  Duration connect_timeout = std::chrono::seconds(10);
  /// What a live endpoint may be silent for, beyond its channels' greatest max_latency and stride.
  Duration stall_grace = std::chrono::seconds(30);
};

/// Endpoints that cover the same channels one after the other in time (slices: the same channel
/// set, ascending start, live last) are one stream; parts of the overlap are delivered once, the
/// first that comes. Endpoints of different channel sets are streams of their own, read at the same
/// time, a thread each.
///
/// An endpoint that can't be reached at one location is tried at the next; a failure in mid-stream,
/// and one that every location shares, is thrown by poll() after the parts before it. A live
/// endpoint that is silent for longer than allowed is Error(stalled), with its channels, the
/// silence and the bound. Batches are checked as untrusted: a bad one is counted, named once an
/// episode and passed over.
class FlightReader final : public Source {
 public:
  FlightReader(std::shared_ptr<Connector> connector, std::vector<StreamEndpoint> endpoints,
               FlightReaderOptions options = {});
  ~FlightReader() override;
  FlightReader(const FlightReader&) = delete;
  FlightReader& operator=(const FlightReader&) = delete;

  [[nodiscard]] const std::vector<StreamInfo>& streams() const override;
  void open(const OpenOptions& options) override;
  bool poll(Sink& sink) override;
  void set_wakeup(std::function<void()> wake) override;
  void pause(std::size_t stream) override;
  void resume(std::size_t stream) override;
  [[nodiscard]] bool caught_up(std::size_t stream) override;
  [[nodiscard]] bool exhausted() override;
  [[nodiscard]] bool done() const override;
  void close() override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace arrakis::inline v1
