#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/logging.hpp"
#include "kafka/reader_impl.hpp"

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

/// Starts reading the partitions at the offsets; none of them may be assigned.
void KafkaReader::Impl::assign(std::span<const std::size_t> partitions,
                               std::span<const std::int64_t> offsets) {
  const PartitionList list = make_partition_list(partitions.size());
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    Partition& partition = partitions_[partitions[i]];
    partition.state = Partition::State::reading;
    partition.next_offset = std::max<std::int64_t>(offsets[i], 0);
    rd_kafka_topic_partition_list_add(list.get(), partition.key.topic.c_str(),
                                      partition.key.partition)
        ->offset = offsets[i];
  }
  rd_kafka_error_t* error = rd_kafka_incremental_assign(lender_->handle()->get(), list.get());
  if (error == nullptr) return;
  const std::string reason = rd_kafka_error_string(error);
  rd_kafka_error_destroy(error);
  throw Error(Errc::broker_fatal,
              fmt::format("broker {}: assignment failed: {}", bootstrap_, reason));
}

void KafkaReader::Impl::unassign(std::size_t partition) {
  const PartitionList list = make_partition_list(1);
  const PartitionKey& key = partitions_[partition].key;
  rd_kafka_topic_partition_list_add(list.get(), key.topic.c_str(), key.partition);
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

void KafkaReader::Impl::topic_appeared(std::size_t index, const TopicDescription& found) {
  Topic& topic = topics_[index];
  topic.state = Topic::State::present;
  topic.id = found.id;
  // It was not there when last looked for, so nothing before its beginning was wanted.
  const std::vector<std::int64_t> offsets(topic.partitions.size(), RD_KAFKA_OFFSET_BEGINNING);
  if (!topic.partitions.empty()) assign(topic.partitions, offsets);
  add_partitions(index, found.partitions);
  log::info(kReaderLog, "topic {} has appeared on {}", topic.name, bootstrap_);
  events_.emplace_back(events::TopicAppeared{topic.name});
}

void KafkaReader::Impl::topic_vanished(std::size_t index) {
  Topic& topic = topics_[index];
  stash_batch();
  topic.state = Topic::State::missing;
  for (const std::size_t partition : topic.partitions) unassign(partition);
  log::warning(kReaderLog,
               "topic {} no longer exists on {}; its channels are gaps until it appears",
               topic.name, bootstrap_);
  events_.emplace_back(events::TopicMissing{topic.name});
}

void KafkaReader::Impl::topic_recreated(std::size_t index, const TopicDescription& found) {
  Topic& topic = topics_[index];
  stash_batch();
  log::warning(kReaderLog,
               "topic {} was deleted and made again on {}; reading the new one from its beginning",
               topic.name, bootstrap_);
  topic.id = found.id;
  for (const std::size_t partition : topic.partitions) move(partition, RD_KAFKA_OFFSET_BEGINNING);
  add_partitions(index, found.partitions);
}

}
