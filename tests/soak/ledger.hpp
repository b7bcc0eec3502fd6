#pragma once

/// What was published, and what became of it: the truth that readers are held against.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/time.hpp"

namespace arrakis::soak {

/// A topic's channels; every block of a topic has them all.
struct Topic {
  std::string name;
  ChannelSet channels;
};
/// Topics "soak-0", … with two channels each, that may be two seconds late.
std::vector<Topic> make_topics(std::size_t count);

/// Sample i of channel c in block `number`. Exact in a float for six days.
float sample_value(std::int64_t number, std::size_t channel, std::size_t i);
SeriesBlock make_block(GpsTime time, const ChannelSet& channels, std::int64_t number);

/// What became of one block of one topic.
enum class Fate : std::uint8_t { unsent, sent, confirmed, failed };

/// Block n of a topic begins n strides after `base`. Safe from any thread.
class Ledger {
 public:
  Ledger(GpsTime base, Duration stride, std::size_t topics)
      : base_(base), stride_(stride), topics_(topics) {}

  [[nodiscard]] GpsTime time_of(std::int64_t number) const { return base_ + number * stride_; }
  /// Rounded down.
  [[nodiscard]] std::int64_t number_at(GpsTime time) const;
  [[nodiscard]] Duration stride() const { return stride_; }
  [[nodiscard]] std::size_t topics() const { return topics_.size(); }

  /// Blocks are sent in order.
  void sent(std::size_t topic, std::int64_t number);
  void ended(std::size_t topic, std::int64_t number, bool confirmed);
  /// From here until end_loss() the broker forgets what the topic holds.
  void begin_loss(std::size_t topic);
  void end_loss(std::size_t topic);

  struct Entry {
    Fate fate = Fate::unsent;
    bool may_be_lost = false;  ///< the topic was deleted or purged since
  };
  [[nodiscard]] Entry look_up(std::size_t topic, std::int64_t number) const;
  /// The number after the last one sent to any topic.
  [[nodiscard]] std::int64_t next() const;
  [[nodiscard]] std::size_t count(Fate fate) const;

 private:
  struct State {
    std::vector<Fate> fates;       // by number
    std::int64_t lost_before = 0;  // numbers below may be lost
    bool is_losing = false;
  };

  const GpsTime base_;
  const Duration stride_;
  mutable std::mutex mutex_;
  std::vector<State> topics_;
};

}
