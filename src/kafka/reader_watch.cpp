#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/logging.hpp"
#include "kafka/probe.hpp"
#include "kafka/reader_impl.hpp"

namespace arrakis::inline v1 {

/// The log's end as the last fetch told it; negative before the first one.
std::int64_t KafkaReader::Impl::fetched_end(const Partition& partition) const {
  std::int64_t low = -1;
  std::int64_t high = -1;
  const rd_kafka_resp_err_t error = rd_kafka_get_watermark_offsets(
      lender_->handle()->get(), partition.key.topic.c_str(), partition.key.partition, &low, &high);
  return error == RD_KAFKA_RESP_ERR_NO_ERROR ? high : -1;
}

/// Looks for partitions that are silent although their logs have more to read.
void KafkaReader::Impl::watch_silence(const BrokerQueries& queries) {
  std::vector<std::size_t> silent;
  std::vector<PartitionKey> keys;
  std::vector<std::uint64_t> generations;
  bool some_flow = false;
  {
    const std::unique_lock lock(mutex_);
    // While the caller has not taken what was fetched, the silence is the caller's.
    if (Steady::now() - drained_at_ > kSilenceCheck) return;
    bool is_catching_up = false;
    for (const std::size_t p : partitions_in(Partition::State::reading)) {
      Partition& partition = partitions_[p];
      const StreamState& stream = streams_[partition.stream];
      if (!partition.silence.is_silent(partition.next_offset)) {
        some_flow = true;
        is_catching_up |= partition.next_offset < fetched_end(partition);
        continue;
      }
      if (stream.paused || !stream.held.empty()) continue;
      silent.push_back(p);
      generations.push_back(partition.generation);
    }
    // Of many that have much to bring, some wait for their turn.
    if (is_catching_up) return;
    keys = keys_of(silent);
  }
  if (silent.empty()) return;
  const auto marks = queries.watermarks(keys, kControlQueryTimeout);
  if (!marks) {
    log::debug(kReaderLog, "{}", marks.error().what());
    return;
  }
  for (std::size_t i = 0; i < silent.size(); ++i) {
    std::int64_t offset = 0;
    {
      const std::unique_lock lock(mutex_);
      Partition& partition = partitions_[silent[i]];
      if (closing_) return;
      if (partition.generation != generations[i]) continue;
      const int looks = some_flow ? kLooksAtOne : kLooksAtAll;
      if (partition.silence.looks_behind((*marks)[i].high) < looks) continue;
      offset = partition.next_offset;
    }
    const auto readable = first_readable(bootstrap_, options_.properties, keys[i], offset,
                                         kControlQueryTimeout, [this] { return is_closing(); });
    if (!readable) {
      log::debug(kReaderLog, "{}", readable.error().what());
      continue;
    }
    const std::unique_lock lock(mutex_);
    Partition& partition = partitions_[silent[i]];
    if (closing_) return;
    if (partition.generation != generations[i] || partition.next_offset != offset) continue;
    if (readable->is_message) {
      revive(silent[i], (*marks)[i].high);
    } else {
      // Nothing up to there that a consumer would get.
      partition.next_offset = readable->offset;
      wake();
    }
  }
}

/// Assigns anew a partition that librdkafka no longer fetches.
void KafkaReader::Impl::revive(std::size_t index, std::int64_t end) {
  Partition& partition = partitions_[index];
  ++stats_.revived_partitions;
  const int times = partition.silence.revived();
  if (times == 1) {
    const std::string reason =
        fmt::format("{} [{}] is silent at offset {} although its log goes to {}",
                    partition.key.topic, partition.key.partition, partition.next_offset, end);
    log::warning(kReaderLog, "{}; assigning it anew", reason);
    events_.emplace_back(events::OutageBegan{infos_[partition.stream].id, reason});
    wake();
  }
  if (times > kRevivalsBeforeRestart) restart_wanted_ = true;
  move(index, partition.next_offset);
  // A pause outlives its assignment, and this one is not ours.
  const PartitionList list = one_partition(partition.key.topic, partition.key.partition);
  rd_kafka_resume_partitions(lender_->handle()->get(), list.get());
}

/// Goes on with a new librdkafka client from where every partition is.
void KafkaReader::Impl::restart_consumer() {
  const std::shared_ptr<Handle> fresh = make_consumer();  // throws with nothing changed
  rd_kafka_poll_set_consumer(fresh->get());
  restart_wanted_ = false;
  ++stats_.restarts;
  log::warning(kReaderLog, "{}: going on with a new client", bootstrap_);
  stash_batch();
  const std::shared_ptr<Handle> old = lender_->handle();
  rd_kafka_queue_cb_event_enable(queue_.get(), nullptr, nullptr);
  old->clear_callbacks();
  rd_kafka_consumer_close(old->get());
  lender_ = std::make_shared<Lender>(fresh, borrowed_limit_);
  listen(fresh);
  const std::vector<std::size_t> reading = partitions_in(Partition::State::reading);
  std::vector<std::int64_t> offsets;
  offsets.reserve(reading.size());
  for (const std::size_t p : reading) offsets.push_back(partitions_[p].next_offset);
  if (!reading.empty()) assign(reading, offsets);
  wake();
}

}
