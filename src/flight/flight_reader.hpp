#pragma once

/// A Source that reads endpoints of Flight servers.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrakis/channel.hpp"
#include "arrakis/source.hpp"
#include "core/budget.hpp"
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
  /// One block always has room.
  std::size_t queue_blocks = 64;
  std::size_t queue_bytes = std::size_t{32} << 20U;
  /// How long one location may take for its first answer before the next one is tried.
  Duration connect_timeout = std::chrono::seconds(10);
  /// What a live endpoint may be silent for, beyond its channels' greatest max_latency and stride.
  Duration stall_grace = kStallGrace;
};

/// Counters since open(), over all streams.
struct FlightReaderStats {
  std::uint64_t batches = 0;      ///< received, whatever became of them
  std::uint64_t bytes = 0;        ///< of those
  std::uint64_t parts = 0;        ///< handed over
  std::uint64_t bad_batches = 0;  ///< could not be used
  std::uint64_t outside = 0;      ///< before the start or at or after the end; no loss
  std::uint64_t repeats = 0;      ///< sent by the slice before, too; no loss
  std::uint64_t attempts = 0;     ///< streams asked for, at any location
};

/// Endpoints that cover the same channels one after the other in time (slices: the same channel
/// set, ascending start, live last) are one stream; parts of the overlap are delivered once, the
/// first that comes. Endpoints of different channel sets are streams of their own, read at the same
/// time, a thread each.
///
/// Parts wholly before the start, or at or after the end, are not delivered. An endpoint is
/// complete when a part has reached its end; what the server sends after it is not waited for,
/// because there are servers that never stop.
///
/// An endpoint that can't be reached at one location, or fails there before its first batch, is
/// tried at the next; a failure in mid-stream, and one that every location shares, is thrown by
/// poll() after the parts before it. An endpoint without an end that is silent for longer than
/// allowed is Error(stalled), with its channels, the silence and the bound.
///
/// Servers that are shut down end their streams as if everything had been sent. So the end of a
/// stream without an end, and one before the end was reached, are Error(unavailable): whoever asks
/// again from there loses nothing. A range in which there is nothing looks the same; it is taken
/// for that when a server says so twice, has sent no batch at all, and everything up to the end is
/// older than the channels' max_latency, stride and two seconds. Hence a range that lacks its last
/// strides fails once, and is complete when those are asked for again.
///
/// Batches are checked as untrusted: a bad one is counted, named once an episode and passed over.
class FlightReader final : public Source {
 public:
  FlightReader(std::shared_ptr<Connector> connector, std::vector<StreamEndpoint> endpoints,
               FlightReaderOptions options = {});
  ~FlightReader() override;
  FlightReader(const FlightReader&) = delete;
  FlightReader& operator=(const FlightReader&) = delete;

  [[nodiscard]] const std::vector<StreamInfo>& streams() const override;
  /// Does not wait for the servers: what fails is thrown by poll().
  void open(const OpenOptions& options) override;
  bool poll(Sink& sink) override;
  void set_wakeup(std::function<void()> wake) override;
  void pause(std::size_t stream) override;
  void resume(std::size_t stream) override;
  /// At once for endpoints without a start and with one in the future; else when a part of now, or
  /// everything before a live slice, has been handed over.
  [[nodiscard]] bool caught_up(std::size_t stream) override;
  [[nodiscard]] bool exhausted() override;
  [[nodiscard]] bool done() const override;
  void close() override;

  /// From any thread.
  [[nodiscard]] FlightReaderStats stats() const;

 private:
  class Impl;
  /// A thread that gRPC does not give back in time outlives the reader, and so does this.
  std::shared_ptr<Impl> impl_;
};

}  // namespace arrakis::inline v1
