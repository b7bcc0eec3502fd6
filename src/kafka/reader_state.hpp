#pragma once

/// What a KafkaReader knows of its topics, partitions and streams.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/source.hpp"
#include "core/episode.hpp"
#include "kafka/broker_queries.hpp"
#include "wire/row_decoder.hpp"

namespace arrakis::inline v1 {

/// One partition of a topic.
struct Partition {
  enum class State {
    reading,  ///< assigned; messages come
    lost,     ///< librdkafka gave its position up; waits to be placed anew
  };

  PartitionKey key;
  std::size_t stream = 0;
  State state = State::reading;
  /// Offset of the next message to take; lower ones are of before a move.
  std::int64_t next_offset = 0;
  /// The log's end when the partition was first assigned.
  std::int64_t end_at_open = 0;
  /// The log's end as last asked for; nothing before the first answer.
  std::optional<std::int64_t> known_end;
  /// After a skip: parts that end here or before it are not handed over.
  GpsTime skip_before = GpsTime::min();
};

/// The topic that carries one stream; topics and streams have the same numbers.
struct Topic {
  enum class State {
    missing,  ///< the broker says that there is none
    present,
  };

  std::string name;
  State state = State::missing;
  std::string id;
  /// Positions in the reader's list of partitions, by partition number.
  std::vector<std::size_t> partitions;
};

/// A part that was decoded and can't be handed over yet.
struct HeldPart {
  std::size_t partition;
  BlockPartPtr part;
};

/// One stream: the wanted channels of one topic.
struct StreamState {
  StreamState(ChannelSet channels, Duration latency_budget)
      : decoder(std::move(channels)), budget(latency_budget) {}

  RowDecoder decoder;
  /// How old a part may be before the reader counts as behind; zero: any age.
  Duration budget;
  bool paused = false;
  bool caught_up = false;
  std::deque<HeldPart> held;
  Episode bad_messages;
  Episode without_rows;
  Episode dropped_rows;
};

}
