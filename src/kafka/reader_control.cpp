#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/logging.hpp"
#include "kafka/reader_impl.hpp"

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

}
