#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/logging.hpp"
#include "kafka/reader_impl.hpp"
#include "wire/part.hpp"

namespace arrakis::inline v1 {

std::vector<PartitionKey> KafkaReader::Impl::keys_of(
    std::span<const std::size_t> partitions) const {
  std::vector<PartitionKey> keys;
  keys.reserve(partitions.size());
  for (const std::size_t partition : partitions) keys.push_back(partitions_[partition].key);
  return keys;
}

std::size_t KafkaReader::Impl::add_partition(std::size_t topic, std::int32_t number) {
  Partition partition;
  partition.key = {topics_[topic].name, number};
  partition.stream = topic;
  partitions_.push_back(std::move(partition));
  topics_[topic].partitions.push_back(partitions_.size() - 1);
  return partitions_.size() - 1;
}

/// Starts reading the partitions at the offsets; none of them may be assigned. What can't be
/// assigned counts as lost, and is placed anew a little later.
void KafkaReader::Impl::assign(std::span<const std::size_t> partitions,
                               std::span<const std::int64_t> offsets) {
  rd_kafka_t* handle = lender_->handle()->get();
  const PartitionList list = make_partition_list(partitions.size());
  const PartitionList paused = make_partition_list(0);
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    Partition& partition = partitions_[partitions[i]];
    partition.state = Partition::State::reading;
    partition.next_offset = std::max<std::int64_t>(offsets[i], 0);
    ++partition.generation;
    const auto add_to = [&](const PartitionList& to) {
      return rd_kafka_topic_partition_list_add(to.get(), partition.key.topic.c_str(),
                                               partition.key.partition);
    };
    add_to(list)->offset = offsets[i];
    if (streams_[partition.stream].paused) add_to(paused);
  }
  if (rd_kafka_error_t* error = rd_kafka_incremental_assign(handle, list.get())) {
    log::error(kReaderLog, "broker {}: assignment failed: {}; trying again", bootstrap_,
               rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    for (const std::size_t partition : partitions) {
      unassign(partition);
      partitions_[partition].state = Partition::State::lost;
    }
    control_wanted_.notify_all();
    return;
  }
  // A partition that is new to the client is not paused yet.
  if (paused->cnt > 0) rd_kafka_pause_partitions(handle, paused.get());
}

void KafkaReader::Impl::unassign(std::size_t partition) {
  const PartitionKey& key = partitions_[partition].key;
  ++partitions_[partition].generation;
  const PartitionList list = one_partition(key.topic, key.partition);
  // The only failure is that it was not assigned.
  rd_kafka_error_destroy(rd_kafka_incremental_unassign(lender_->handle()->get(), list.get()));
}

/// Goes on reading a partition elsewhere; what was fetched ahead of it is thrown away, the others'
/// is not.
void KafkaReader::Impl::move(std::size_t partition, std::int64_t offset) {
  unassign(partition);
  assign(std::array{partition}, std::array{offset});
}

void KafkaReader::Impl::add_partitions(std::size_t topic, std::int32_t count) {
  std::vector<std::size_t> added;
  while (topics_[topic].partitions.size() < static_cast<std::size_t>(count)) {
    added.push_back(
        add_partition(topic, static_cast<std::int32_t>(topics_[topic].partitions.size())));
  }
  // They did not exist before, so their beginning is what comes next.
  const std::vector<std::int64_t> offsets(added.size(), RD_KAFKA_OFFSET_BEGINNING);
  if (!added.empty()) assign(added, offsets);
}

/// Lets go, or drops, what was held because the topic was suspect.
void KafkaReader::Impl::clear_suspicion(std::size_t topic, bool drop) {
  if (std::exchange(topics_[topic].suspect, false)) --suspects_;
  std::deque<HeldPart>& held = streams_[topic].held;
  for (HeldPart& part : held) {
    if (part.suspect) suspect_bytes_ -= part.part->bytes();
  }
  if (drop) std::erase_if(held, [](const HeldPart& part) { return part.suspect; });
  for (HeldPart& part : held) part.suspect = false;
}

/// Reads a topic that was made under a name that had another one.
void KafkaReader::Impl::begin_anew(std::size_t index, const TopicDescription& found) {
  Topic& topic = topics_[index];
  ++stats_.recreated_topics;
  topic.id = found.id;
  while (topic.partitions.size() > static_cast<std::size_t>(found.partitions)) {
    unassign(topic.partitions.back());
    topic.partitions.pop_back();
  }
  for (const std::size_t p : topic.partitions) {
    Partition& partition = partitions_[p];
    partition.repeats = std::exchange(partition.unverified, {});
    partition.known_end.reset();
    move(p, RD_KAFKA_OFFSET_BEGINNING);
  }
  add_partitions(index, found.partitions);
}

void KafkaReader::Impl::topic_appeared(std::size_t index, const TopicDescription& found) {
  Topic& topic = topics_[index];
  topic.state = Topic::State::present;
  topic.heard_at = Steady::now();
  if (topic.partitions.empty()) {
    topic.id = found.id;
    add_partitions(index, topic.was_absent ? found.partitions : 0);
    // It may have been there all the time: then its beginning may be long ago.
    for (std::int32_t number = 0; !topic.was_absent && number < found.partitions; ++number) {
      partitions_[add_partition(index, number)].state = Partition::State::unplaced;
    }
  } else if (found.id == topic.id) {
    // The broker was wrong when it said that the topic was gone.
    for (const std::size_t p : topic.partitions) move(p, partitions_[p].next_offset);
    add_partitions(index, found.partitions);
  } else {
    begin_anew(index, found);
  }
  log::info(kReaderLog, "topic {} has appeared on {}", topic.name, bootstrap_);
  events_.emplace_back(events::TopicAppeared{topic.name});
}

void KafkaReader::Impl::topic_vanished(std::size_t index) {
  Topic& topic = topics_[index];
  stash_batch();
  topic.state = Topic::State::missing;
  topic.was_absent = true;
  for (const std::size_t partition : topic.partitions) unassign(partition);
  log::warning(kReaderLog,
               "topic {} no longer exists on {}; its channels are gaps until it appears",
               topic.name, bootstrap_);
  events_.emplace_back(events::TopicMissing{topic.name});
}

void KafkaReader::Impl::topic_recreated(std::size_t index, const TopicDescription& found) {
  Topic& topic = topics_[index];
  stash_batch();
  // What came since it was suspected is the new topic's, and is read again in its order.
  clear_suspicion(index, true);
  log::warning(kReaderLog,
               "topic {} was deleted and made again on {}; reading the new one from its beginning",
               topic.name, bootstrap_);
  events_.emplace_back(events::TopicMissing{topic.name});
  events_.emplace_back(events::TopicAppeared{topic.name});
  begin_anew(index, found);
}

}
