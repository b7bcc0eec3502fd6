#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/logging.hpp"
#include "kafka/reader_impl.hpp"
#include "wire/part.hpp"

namespace arrakis::inline v1 {

Duration KafkaReader::Impl::topic_interval() const {
  const bool missing = std::any_of(topics_.begin(), topics_.end(), [](const Topic& topic) {
    return topic.state == Topic::State::missing;
  });
  const Duration regular =
      std::max<Duration>(kTopicIdInterval, kTopicIdIntervalPerTopic * topics_.size());
  return missing ? std::min(options_.missing_topic_interval, regular) : regular;
}

/// Partitions that wait to be placed anew and whose topic is there.
std::vector<std::size_t> KafkaReader::Impl::lost_partitions() const {
  std::vector<std::size_t> lost;
  for (std::size_t p = 0; p < partitions_.size(); ++p) {
    if (partitions_[p].state == Partition::State::lost &&
        topics_[partitions_[p].stream].state == Topic::State::present) {
      lost.push_back(p);
    }
  }
  return lost;
}

void KafkaReader::Impl::control(const BrokerQueries& queries) {
  std::unique_lock lock(mutex_);
  topics_checked_at_ = Steady::now();
  while (!closing_) {
    try {
      control_step(queries, lock);
    } catch (const Error& error) {
      if (!lock.owns_lock()) lock.lock();
      log::error(kReaderLog, "{}", error.what());
      failure_ = error;
      wake();
      return;
    }
  }
}

/// Does the most urgent thing that is due, or waits for one. Enters and leaves with the lock held.
void KafkaReader::Impl::control_step(const BrokerQueries& queries,
                                     std::unique_lock<std::mutex>& lock) {
  const Steady::time_point now = Steady::now();
  Steady::time_point due = topics_checked_at_ + topic_interval();
  if (topics_wanted_) due = std::min(due, topics_checked_at_ + kRetryPause);
  const Steady::time_point lost_due = lost_tried_at_ + kRetryPause;
  const Steady::time_point ends_due = ends_known_at_ + kWatermarkRefresh;
  const bool has_lost = !lost_partitions().empty();
  const bool ends_wanted = ends_wanted_until_ > now;

  if (forward_) {
    const Forward forward = *forward_;
    lock.unlock();
    run_forward(queries, forward);
  } else if (has_lost && now >= lost_due) {
    lost_tried_at_ = now;
    lock.unlock();
    place_lost(queries);
  } else if (ends_wanted && now >= ends_due) {
    lock.unlock();
    refresh_ends(queries);
  } else if (now >= due) {
    topics_wanted_ = false;
    topics_checked_at_ = now;
    lock.unlock();
    check_topics(queries);
  } else {
    if (has_lost) due = std::min(due, lost_due);
    if (ends_wanted) due = std::min(due, ends_due);
    control_wanted_.wait_until(lock, due);
    return;
  }
  lock.lock();
}

void KafkaReader::Impl::check_topics(const BrokerQueries& queries) {
  const auto found = queries.describe(topic_names(), kControlQueryTimeout);
  if (!found) {
    log::debug(kReaderLog, "{}", found.error().what());
    return;
  }
  const std::unique_lock lock(mutex_);
  if (closing_) return;
  for (std::size_t t = 0; t < topics_.size(); ++t) {
    const TopicDescription& now = (*found)[t];
    const Topic& topic = topics_[t];
    if (topic.state == Topic::State::missing) {
      if (now.exists) topic_appeared(t, now);
    } else if (!now.exists) {
      topic_vanished(t);
    } else if (now.id != topic.id) {
      topic_recreated(t, now);
    } else {
      add_partitions(t, now.partitions);
    }
  }
  if (!events_.empty()) wake();
}

/// Finds a new position for partitions whose old one the broker no longer has.
void KafkaReader::Impl::place_lost(const BrokerQueries& queries) {
  std::vector<std::size_t> lost;
  std::vector<PartitionKey> keys;
  {
    const std::unique_lock lock(mutex_);
    lost = lost_partitions();
    keys = keys_of(lost);
  }
  const auto marks = queries.watermarks(keys, kControlQueryTimeout);
  if (!marks) {
    log::debug(kReaderLog, "{}", marks.error().what());
    return;
  }
  const std::unique_lock lock(mutex_);
  if (closing_) return;
  for (std::size_t i = 0; i < lost.size(); ++i) {
    Partition& partition = partitions_[lost[i]];
    if (partition.state != Partition::State::lost) continue;
    const Watermarks& mark = (*marks)[i];
    const std::int64_t position = partition.next_offset;
    if (position >= mark.low && position <= mark.high) {
      move(lost[i], position);
      continue;
    }
    const std::string reason =
        position < mark.low
            ? fmt::format("offsets {} to {} of {} [{}] were deleted before they were read",
                          position, mark.low - 1, partition.key.topic, partition.key.partition)
            : fmt::format("{} [{}] ends at offset {}, before the position {}: it was made anew",
                          partition.key.topic, partition.key.partition, mark.high, position);
    const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(mark.low - position, 0));
    stats_.purged_messages += count;
    log::warning(kReaderLog, "{}; going on at offset {}", reason, mark.low);
    events_.emplace_back(events::DataLost{infos_[partition.stream].id, reason, count});
    move(lost[i], mark.low);
  }
  wake();
}

void KafkaReader::Impl::refresh_ends(const BrokerQueries& queries) {
  std::vector<std::size_t> assigned;
  std::vector<PartitionKey> keys;
  {
    const std::unique_lock lock(mutex_);
    for (const Topic& topic : topics_) {
      if (topic.state == Topic::State::missing) continue;
      assigned.insert(assigned.end(), topic.partitions.begin(), topic.partitions.end());
    }
    keys = keys_of(assigned);
  }
  const auto marks = queries.watermarks(keys, kControlQueryTimeout);
  if (!marks) log::debug(kReaderLog, "{}", marks.error().what());
  const std::unique_lock lock(mutex_);
  ends_known_at_ = Steady::now();
  for (std::size_t i = 0; i < assigned.size(); ++i) {
    partitions_[assigned[i]].known_end.reset();
    if (marks) {
      partitions_[assigned[i]].known_end =
          (*marks)[i].high > (*marks)[i].low ? (*marks)[i].high : 0;
    }
  }
  wake();
}

KafkaReader::Impl::ForwardPlan KafkaReader::Impl::plan_forward(const BrokerQueries& queries,
                                                               std::optional<GpsTime> time,
                                                               Duration timeout) {
  ForwardPlan plan;
  bool at_head = true;
  std::vector<std::size_t> reading;
  std::vector<PartitionKey> keys;
  {
    const std::unique_lock lock(mutex_);
    for (const Topic& topic : topics_) {
      if (topic.state == Topic::State::missing) continue;
      for (const std::size_t p : topic.partitions) {
        const Partition& partition = partitions_[p];
        reading.push_back(p);
        std::int64_t low = -1;
        std::int64_t high = -1;
        const rd_kafka_resp_err_t error =
            closing_ ? RD_KAFKA_RESP_ERR__DESTROY
                     : rd_kafka_get_watermark_offsets(lender_->handle()->get(),
                                                      partition.key.topic.c_str(),
                                                      partition.key.partition, &low, &high);
        const bool known = error == RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0;
        if (!known || partition.next_offset < high) at_head = false;
      }
    }
    keys = keys_of(reading);
  }
  if (at_head) {
    for (const std::size_t p : reading) plan.moves.push_back({p, 0});
    return plan;
  }

  const Steady::time_point deadline = Steady::now() + timeout;
  const auto left = [&] { return std::max<Duration>(deadline - Steady::now(), Duration(1)); };
  // The ends are taken before the look-up: what comes between the two is not passed over.
  const auto marks = queries.watermarks(keys, left());
  std::optional<std::vector<std::optional<std::int64_t>>> found;
  if (time && marks) {
    auto offsets = queries.offsets_for_time(keys, *time, left());
    if (offsets) found = *std::move(offsets);
  }
  if (!marks || (time && !found)) {
    log::warning(kReaderLog, "broker {} does not say where GPS {} is: seeking to end", bootstrap_,
                 time ? format_time(*time) : "now");
  }
  for (std::size_t i = 0; i < reading.size(); ++i) {
    std::int64_t offset = marks ? (*marks)[i].high : RD_KAFKA_OFFSET_END;
    if (found && (*found)[i]) offset = *(*found)[i];
    plan.moves.push_back({reading[i], offset});
  }
  return plan;
}

std::size_t KafkaReader::Impl::apply_forward(const ForwardPlan& plan, std::optional<GpsTime> time) {
  const std::unique_lock lock(mutex_);
  if (closing_) return 0;
  std::size_t moved = 0;
  for (const ForwardPlan::Move& planned : plan.moves) {
    const std::size_t index = planned.partition;
    const std::int64_t offset = planned.offset;
    Partition& partition = partitions_[index];
    std::deque<HeldPart>& held = streams_[partition.stream].held;
    const std::int64_t position = partition.next_offset;
    const bool skips = offset == RD_KAFKA_OFFSET_END || offset > position;
    const auto is_old = [&](const HeldPart& part) {
      return part.partition == index &&
             (!time || part.part->time() + part.part->duration() <= *time);
    };
    // What is old may only go when there is something newer: else the source itself is late.
    const bool has_newer =
        skips || std::any_of(held.begin(), held.end(), [&](const HeldPart& part) {
          return part.partition == index && !is_old(part);
        });
    const std::size_t dropped = has_newer ? std::erase_if(held, is_old) : 0;
    if (!skips && dropped == 0) continue;
    ++moved;
    stats_.skipped_messages += dropped;
    if (time) partition.skip_before = *time;
    if (!skips) continue;
    if (offset > position) stats_.skipped_messages += static_cast<std::uint64_t>(offset - position);
    move(index, offset);
    // The end is not known by number: nothing older than what was read may come.
    if (offset == RD_KAFKA_OFFSET_END) partition.next_offset = position;
  }
  if (moved > 0) {
    ++stats_.fast_forwards;
    ends_known_at_ = {};
    for (Partition& partition : partitions_) partition.known_end.reset();
  }
  return moved;
}

void KafkaReader::Impl::run_forward(const BrokerQueries& queries, const Forward& forward) {
  const ForwardPlan plan = plan_forward(queries, forward.target, kControlQueryTimeout);
  const std::size_t moved = apply_forward(plan, forward.target);
  const std::unique_lock lock(mutex_);
  policy_->forwarded();
  forward_.reset();
  const Duration budget = streams_[forward.stream].budget;
  if (moved == 0) {
    // The reader has all that there is: the source itself is late, and skipping would lose data.
    if (!source_was_late_) {
      log::info(kReaderLog,
                "{}: blocks are {} old (budget {}), but nothing newer exists: the source is behind",
                label(forward.stream), format_duration(forward.lag), format_duration(budget));
    }
    source_was_late_ = true;
  } else {
    source_was_late_ = false;
    log::warning(
        kReaderLog,
        "{}: behind by {} (budget {}) for more than {:.1f} s: skipped ahead {} partition(s) to "
        "GPS {}, dropping {:.1f} s",
        label(forward.stream), format_duration(forward.lag), format_duration(budget),
        policy_->grace(budget), moved, format_time(forward.target),
        in_seconds(forward.lag - budget));
    events_.emplace_back(
        events::SkippedAhead{infos_[forward.stream].id, forward.lag, forward.target, moved});
  }
  wake();
}

}
