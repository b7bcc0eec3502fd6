#pragma once

/// Sources: where the parts of streams come from.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/export.hpp"
#include "arrakis/fwd.hpp"
#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

/// Things that happen to a stream and are not data. Each kind is reported once an episode.
namespace events {
/// A source lost its peer, or its messages can't be used; delivery of `stream` is affected.
struct OutageBegan {
  std::string stream, reason;
};
/// It works again; `lost` counts what could not be delivered in between.
struct OutageEnded {
  std::string stream;
  std::uint64_t lost = 0;
};
/// A wanted topic does not exist; its channels are gaps until it appears.
struct TopicMissing {
  std::string topic;
};
struct TopicAppeared {
  std::string topic;
};
/// A backlog was skipped: nothing before `target` is delivered.
struct SkippedAhead {
  std::string stream;
  Duration lag{};
  GpsTime target;
  std::size_t partitions_moved = 0;
};
/// In budget again after a skip.
struct Recovered {
  std::string stream;
  Duration lag{};
};
/// Data that existed and is gone: purged, unusable, or dropped by a limit.
struct DataLost {
  std::string stream, reason;
  std::uint64_t count = 0;
};
}  // namespace events

using Event =
    std::variant<events::OutageBegan, events::OutageEnded, events::TopicMissing,
                 events::TopicAppeared, events::SkippedAhead, events::Recovered, events::DataLost>;
/// One line for people.
ARRAKIS_API std::string to_string(const Event& event);

/// One stream of a source: the channels whose samples travel together.
struct StreamInfo {
  std::string id;  ///< unique, "<broker>/<partition_id>" for Kafka
  ChannelSet channels;
  /// How much later than its channels' own max_latency a part may come because of who relays it.
  Duration relay_grace{};
};
/// "<first channel by name> +2 more (<id>)": how log lines name a stream.
ARRAKIS_API std::string describe(const StreamInfo& stream);

/// From when a source delivers, and what time it is.
struct OpenOptions {
  /// First instant wanted. None: from now. Zero and the past: what there still is, from the part
  /// that covers it. The future: from then.
  std::optional<GpsTime> start;
  /// Must outlive the source.
  const Clock* clock = &system_clock();
};

/// Where parts come from: Kafka, Flight, a file, a test. Used by one BlockStream (or one thread) at
/// a time, except close() and the wake-up, which any thread may call.
class ARRAKIS_API Source {
 public:
  /// Receives what poll() finds, on the thread that called poll().
  class Sink {
   public:
    virtual ~Sink() = default;
    /// A part of stream `stream`, in the sink's hands from now on. False: no more in this poll;
    /// what was fetched already stays with the source for the next one. Must not throw, nor call
    /// the source, except pause() and resume().
    virtual bool on_part(std::size_t stream, BlockPartPtr part) = 0;
    /// What happened, in order with the parts of its stream.
    virtual void on_event(const Event& event) = 0;
  };

  virtual ~Source() = default;
  /// The streams, in an order that never changes.
  [[nodiscard]] virtual const std::vector<StreamInfo>& streams() const = 0;
  /// Connects and starts delivery; throws Error. Called once, before poll(). May block, with a
  /// limit of the source's own.
  virtual void open(const OpenOptions& options) = 0;
  /// Hands over what has arrived, in order within a stream, and returns without waiting. Bounded:
  /// never more than a fixed amount a call, so that nobody is starved. Throws Error when the source
  /// has failed for good, after the parts before the failure; it is then done(). After close():
  /// nothing.
  /// Returns whether everything that had arrived when it was called has been handed over (what is
  /// paused does not count).
  virtual bool poll(Sink& sink) = 0;
  /// `wake` is called, from any thread, whenever poll() may find something after it found nothing.
  /// It must not block or call the source. When this returns, the one before is no longer running.
  virtual void set_wakeup(std::function<void()> wake) = 0;
  /// Holds back a stream: its parts stay with the source or its peer, none is lost.
  virtual void pause(std::size_t stream) = 0;
  virtual void resume(std::size_t stream) = 0;
  /// Whether everything of the stream that existed when the source was opened has been handed
  /// over. Once true, stays true. Does not block.
  [[nodiscard]] virtual bool caught_up(std::size_t stream) = 0;
  /// Whether everything that the peer holds has been handed over. May be false for no reason; true
  /// can be relied on for what the peer held a few seconds ago. Does not block.
  [[nodiscard]] virtual bool exhausted() = 0;
  /// Whether nothing will ever come again.
  [[nodiscard]] virtual bool done() const = 0;
  /// Stops delivery and frees everything within two seconds. Idempotent; parts handed over stay
  /// valid.
  virtual void close() = 0;
};

/// A block as a part, for sources that make their own data: `channels` is the stream's set, and the
/// block must have exactly its channels (Error(precondition) otherwise).
ARRAKIS_API BlockPartPtr to_part(const SeriesBlock& block, const ChannelSet& channels);

}  // namespace arrakis::inline v1
