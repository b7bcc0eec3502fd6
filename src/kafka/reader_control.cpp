#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/logging.hpp"
#include "kafka/probe.hpp"
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

/// Partitions in this state whose topic is there.
std::vector<std::size_t> KafkaReader::Impl::partitions_in(Partition::State state) const {
  std::vector<std::size_t> found;
  for (const Topic& topic : topics_) {
    if (topic.state == Topic::State::missing) continue;
    for (const std::size_t p : topic.partitions) {
      if (partitions_[p].state == state) found.push_back(p);
    }
  }
  return found;
}

void KafkaReader::Impl::control() {
  std::unique_lock lock(mutex_);
  topics_checked_at_ = watched_at_ = answered_at_ = Steady::now();
  while (!closing_) {
    try {
      // A client that gets no answer may be at fault itself.
      if (Steady::now() - answered_at_ > kPatienceWithQuestions + topic_interval()) {
        questions_ = make_questioner();
        answered_at_ = Steady::now();
      }
      BrokerQueries queries(questions_);
      queries.set_stop([this] { return is_closing(); });
      control_step(queries, lock);
    } catch (const std::exception& error) {
      // Out of memory or of descriptors: what was to be done is still to be done.
      if (!lock.owns_lock()) lock.lock();
      log::error(kReaderLog, "{}: {}", bootstrap_, error.what());
      control_wanted_.wait_for(lock, kRestartPause, [this] { return closing_; });
    }
  }
}

/// Does the most urgent thing that is due, or waits for one. Enters and leaves with the lock held.
void KafkaReader::Impl::control_step(const BrokerQueries& queries,
                                     std::unique_lock<std::mutex>& lock) {
  const Steady::time_point now = Steady::now();
  Steady::time_point next = Steady::time_point::max();
  // Whether something that is wanted may be done by now; if not, when.
  const auto is_due = [&](bool wanted, Steady::time_point at) {
    if (wanted && now < at) next = std::min(next, at);
    return wanted && now >= at;
  };
  const auto unlocked = [&](auto&& task) {
    lock.unlock();
    task();
    lock.lock();
  };

  if (is_due(restart_wanted_, restarted_at_ + kRestartPause)) {
    restarted_at_ = now;
    restart_consumer();
  } else if (forward_) {
    unlocked([&, forward = *forward_] { run_forward(queries, forward); });
  } else if (suspects_ > 0) {
    std::vector<std::size_t> suspects;
    for (std::size_t t = 0; t < topics_.size(); ++t) {
      if (topics_[t].suspect) suspects.push_back(t);
    }
    unlocked([&] { check_topics(queries, suspects); });
  } else if (is_due(!partitions_in(Partition::State::lost).empty(), placed_at_ + kRetryPause)) {
    placed_at_ = now;
    unlocked([&] { place_lost(queries); });
  } else if (is_due(!partitions_in(Partition::State::unplaced).empty(), placed_at_ + kRetryPause)) {
    placed_at_ = now;
    unlocked([&] { place_new(queries); });
  } else if (is_due(ends_wanted_until_ > now, ends_known_at_ + kWatermarkRefresh)) {
    unlocked([&] { refresh_ends(queries); });
  } else if (is_due(topics_wanted_, topics_checked_at_ + kRetryPause) ||
             is_due(true, topics_checked_at_ + topic_interval())) {
    topics_wanted_ = false;
    topics_checked_at_ = now;
    std::vector<std::size_t> all(topics_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    unlocked([&] { check_topics(queries, all); });
  } else if (is_due(true, watched_at_ + kSilenceCheck)) {
    watched_at_ = now;
    unlocked([&] { watch_silence(queries); });
  } else {
    control_wanted_.wait_until(lock, next);
  }
}

/// Compares topics with what the broker has now.
void KafkaReader::Impl::check_topics(const BrokerQueries& queries,
                                     std::span<const std::size_t> asked) {
  std::vector<std::string> names;
  std::vector<std::uint64_t> marks;  // of what was delivered before the broker was asked
  const std::int64_t asked_ms = kafka_timestamp_ms(clock_->now() - kPublisherClockError);
  {
    const std::unique_lock lock(mutex_);
    for (const std::size_t t : asked) {
      names.push_back(topics_[t].name);
      for (const std::size_t p : topics_[t].partitions) {
        marks.push_back(partitions_[p].unverified.noted());
      }
    }
  }
  const auto found = queries.describe(names, kControlQueryTimeout);
  if (!found) log::debug(kReaderLog, "{}", found.error().what());
  const std::unique_lock lock(mutex_);
  if (closing_) return;
  if (found) answered_at_ = Steady::now();
  auto mark = marks.begin();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const std::size_t t = asked[i];
    if (found) {
      const bool is_same = topics_[t].state == Topic::State::present &&
                           (*found)[i].status == TopicDescription::Status::exists &&
                           (*found)[i].id == topics_[t].id;
      // Only this thread adds partitions, so there are as many marks as there were.
      for (const std::size_t p : topics_[t].partitions) {
        if (is_same) partitions_[p].unverified.forget_until(*mark);
        ++mark;
      }
      if (is_same) topics_[t].compared_stamp_ms = asked_ms;
      compare_topic(t, (*found)[i]);
    }
    // Without an answer it is delivered all the same: better twice than never.
    if (topics_[t].suspect) clear_suspicion(t, false);
  }
  wake();
}

void KafkaReader::Impl::compare_topic(std::size_t index, const TopicDescription& now) {
  using Status = TopicDescription::Status;
  const Topic& topic = topics_[index];
  if (now.status == Status::unknown) return;
  if (topic.state == Topic::State::missing) {
    if (now.status == Status::exists) {
      topic_appeared(index, now);
    } else {
      topics_[index].was_absent = true;
    }
  } else if (now.status == Status::absent) {
    topic_vanished(index);
  } else if (now.id != topic.id) {
    topic_recreated(index, now);
  } else {
    add_partitions(index, now.partitions);
  }
}

/// Finds a new position for partitions whose old one the broker no longer has.
void KafkaReader::Impl::place_lost(const BrokerQueries& queries) {
  std::vector<std::size_t> lost;
  std::vector<PartitionKey> keys;
  std::vector<std::uint64_t> generations;
  {
    const std::unique_lock lock(mutex_);
    lost = partitions_in(Partition::State::lost);
    keys = keys_of(lost);
    for (const std::size_t p : lost) generations.push_back(partitions_[p].generation);
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
    if (partition.generation != generations[i]) continue;
    const Watermarks& mark = (*marks)[i];
    const std::int64_t position = partition.next_offset;
    if (position >= mark.low && position <= mark.high) {
      move(lost[i], position);
      continue;
    }
    if (position > mark.high) {
      // Made anew, or a broker that lost its tail: the topic's id tells.
      topics_wanted_ = true;
      topics_checked_at_ = {};
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

/// Finds where to begin reading partitions that may have been there all the time.
void KafkaReader::Impl::place_new(const BrokerQueries& queries) {
  std::vector<std::size_t> added;
  std::vector<PartitionKey> keys;
  GpsTime from;
  {
    const std::unique_lock lock(mutex_);
    added = partitions_in(Partition::State::unplaced);
    keys = keys_of(added);
    Duration budget{};
    for (const std::size_t p : added) {
      budget = std::max(budget, streams_[partitions_[p].stream].budget);
    }
    const GpsTime recent = clock_->now() - budget;
    from = (start_ == GpsTime::min() ? recent : std::min(start_, recent)) - options_.start_margin;
  }
  const auto starts = queries.start_for_time(keys, from, kControlQueryTimeout);
  if (!starts) {
    log::debug(kReaderLog, "{}", starts.error().what());
    return;
  }
  const std::unique_lock lock(mutex_);
  if (closing_) return;
  for (std::size_t i = 0; i < added.size(); ++i) {
    if (partitions_[added[i]].state == Partition::State::unplaced) {
      move(added[i], (*starts)[i].offset);
    }
  }
}

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
  const PartitionList list = make_partition_list(1);
  rd_kafka_topic_partition_list_add(list.get(), partition.key.topic.c_str(),
                                    partition.key.partition);
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

void KafkaReader::Impl::refresh_ends(const BrokerQueries& queries) {
  std::vector<std::size_t> assigned;
  std::vector<PartitionKey> keys;
  {
    const std::unique_lock lock(mutex_);
    assigned = partitions_in(Partition::State::reading);
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
                                                               Duration timeout,
                                                               Unresolved unresolved) {
  ForwardPlan plan;
  bool at_head = true;
  std::vector<PartitionKey> keys;
  {
    const std::unique_lock lock(mutex_);
    if (closing_) return plan;
    const std::vector<std::size_t> reading = partitions_in(Partition::State::reading);
    for (const std::size_t p : reading) {
      const Partition& partition = partitions_[p];
      plan.moves.push_back({p, partition.generation, 0});
      const std::int64_t end = fetched_end(partition);
      if (end < 0 || partition.next_offset < end) at_head = false;
    }
    keys = keys_of(reading);
  }
  // At the head there is nothing to skip but what is held here.
  if (at_head) return plan;

  const Steady::time_point deadline = Steady::now() + timeout;
  const auto left = [&] { return std::max<Duration>(deadline - Steady::now(), Duration(1)); };
  // The ends are taken before the look-up: what comes between the two is not passed over.
  const auto marks = queries.watermarks(keys, left());
  std::optional<std::vector<std::optional<std::int64_t>>> found;
  std::vector<bool> stays(keys.size(), false);
  if (time && marks) {
    auto offsets = queries.offsets_for_time(keys, *time, left());
    if (offsets) found = *std::move(offsets);
    if (found && unresolved == Unresolved::stay) {
      // From a broker that can't look up by time, no answer says nothing about the source.
      const auto ever = queries.offsets_for_time(keys, from_unix({}), left());
      for (std::size_t i = 0; ever && i < keys.size(); ++i) stays[i] = (*ever)[i].has_value();
    }
  }
  if (!marks || (time && !found)) {
    log::warning(kReaderLog, "broker {} does not say where GPS {} is: seeking to end", bootstrap_,
                 time ? format_time(*time) : "now");
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::int64_t& offset = plan.moves[i].offset;
    if (found && (*found)[i]) {
      offset = *(*found)[i];
    } else if (!stays[i]) {
      offset = marks ? (*marks)[i].high : RD_KAFKA_OFFSET_END;
    }
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
    if (partition.generation != planned.generation) continue;
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
    std::size_t dropped = 0;
    if (has_newer) {
      dropped = std::erase_if(held, [&](const HeldPart& part) {
        const bool goes = is_old(part);
        if (goes && part.suspect) suspect_bytes_ -= part.part->bytes();
        return goes;
      });
    }
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
  const ForwardPlan plan =
      plan_forward(queries, forward.target, kControlQueryTimeout, Unresolved::stay);
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
