#pragma once

/// What a KafkaReader knows of its topics, partitions and streams.

#include <chrono>
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
#include "kafka/delivered.hpp"
#include "kafka/silence.hpp"
#include "wire/row_decoder.hpp"

namespace arrakis::inline v1 {

/// One partition of a topic.
struct Partition {
  enum class State {
    reading,   ///< assigned; messages come
    unplaced,  ///< found, and not yet known from where to read
    lost,      ///< librdkafka gave its position up; waits to be placed anew
  };

  PartitionKey key;
  std::size_t stream = 0;
  State state = State::reading;
  /// Counts assignments: an answer about an earlier one is out of date.
  std::uint64_t generation = 0;
  /// Offset of the next message to take; lower ones are of before a move.
  std::int64_t next_offset = 0;
  /// The log's end when the partition was first assigned.
  std::int64_t end_at_open = 0;
  /// The log's end as last asked for; nothing before the first answer.
  std::optional<std::int64_t> known_end;
  /// After a skip: parts that end here or before it are not handed over.
  GpsTime skip_before = GpsTime::min();
  bool skipped_to_end = false;  // by an offset that the next message will tell
  /// What was delivered since the topic's id was last compared.
  Delivered unverified;
  /// After the topic was made anew: what was delivered of it before that was noticed.
  Delivered repeats;
  Silence silence;
};

/// The topic that carries one stream; topics and streams have the same numbers.
struct Topic {
  enum class State {
    missing,  ///< not there, or not known to be there
    present,
  };

  std::string name;
  State state = State::missing;
  /// Whether the broker has said that there is no such topic.
  bool was_absent = false;
  std::string id;
  /// Positions in the reader's list of partitions, by partition number.
  std::vector<std::size_t> partitions;
  /// When and of when its latest message was; for noticing a silence.
  std::chrono::steady_clock::time_point heard_at;
  std::int64_t heard_stamp_ms = 0;
  /// What is stamped before this is of the topic with the id above.
  std::int64_t compared_stamp_ms = 0;
  /// It speaks again after a silence long enough to have been deleted and made anew in: what it
  /// says is held until its id has been compared.
  bool suspect = false;
};

/// A part that was decoded and can't be handed over yet.
struct HeldPart {
  std::size_t partition;
  BlockPartPtr part;
  bool suspect;  ///< came while its topic was
};

/// One stream: the wanted channels of one topic.
struct StreamState {
  StreamState(ChannelSet channels, Duration common_stride, Duration latency_budget)
      : decoder(std::move(channels)), stride(common_stride), budget(latency_budget) {}

  RowDecoder decoder;
  Duration stride;
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
