#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "core/logging.hpp"
#include "kafka/reader_impl.hpp"
#include "wire/part.hpp"

namespace arrakis::inline v1 {

namespace {

/// In place of a node's id, for errors that name none: of an address to begin with, for instance.
constexpr std::int32_t kNoNode = -1;

/// Errors that say nothing but that a topic is not there, which the control thread finds out.
bool is_about_missing_topic(rd_kafka_resp_err_t error) {
  return error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
         error == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC || error == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION;
}

}

bool KafkaReader::Impl::poll(Source::Sink& sink) {
  {
    const std::unique_lock wake_lock(wake_mutex_);
    wake_pending_ = false;
  }
  const std::unique_lock lock(mutex_);
  if (!opened_ || closing_) return true;
  bool more = deliver_held(sink);
  // What was left over from the last poll, and one batch from librdkafka.
  for (int refills = 0; more && !failure_;) {
    if (batch_next_ == batch_.size()) {
      // While a skip is being looked up, what it passes over stays with librdkafka.
      if (forward_ || is_full() || refills++ == 1 || !refill()) break;
    }
    more = take(std::move(batch_[batch_next_++]), sink);
  }
  flush_events(sink);
  if (failure_ && more) {
    failed_ = true;
    throw Error(std::exchange(failure_, std::nullopt).value());
  }
  // A full batch may have left more behind, of which librdkafka tells nobody again.
  const bool is_drained = more && batch_next_ == batch_.size() && !batch_was_full_ && !is_full();
  // What waits for the control thread is woken by it when it is done.
  const bool must_wait = forward_ || is_full();
  if (!is_drained && !must_wait) wake();
  if (is_drained && !must_wait) drained_at_ = Steady::now();
  return is_drained && !must_wait && suspects_ == 0;
}

/// Whether so much waits for its topic's id to be compared that no more may be taken.
bool KafkaReader::Impl::is_full() const { return suspect_bytes_ > kMaxSuspectBytes; }

bool KafkaReader::Impl::refill() {
  std::array<rd_kafka_message_t*, kPollBatch> messages{};
  const ssize_t count =
      rd_kafka_consume_batch_queue(queue_.get(), 0, messages.data(), batch_limit_);
  batch_.clear();
  batch_next_ = 0;
  std::size_t bytes = 0;
  for (ssize_t i = 0; i < count; ++i) {
    bytes += messages[static_cast<std::size_t>(i)]->len;
    batch_.emplace_back(messages[static_cast<std::size_t>(i)]);
  }
  batch_was_full_ = batch_.size() == batch_limit_;
  if (batch_.empty()) return false;
  batch_at_ = Steady::now();
  const std::size_t mean = std::max<std::size_t>(bytes / batch_.size(), 1);
  batch_limit_ = std::clamp<std::size_t>(kPollBatchBytes / mean, 1, kPollBatch);
  return true;
}

std::optional<std::size_t> KafkaReader::Impl::partition_of(const rd_kafka_message_t& message) {
  if (message.rkt == nullptr) return std::nullopt;
  const char* name = rd_kafka_topic_name(message.rkt);
  // Messages of a topic come in runs.
  if (topics_[last_topic_].name != name) {
    const auto it = topic_by_name_.find(std::string_view(name));
    if (it == topic_by_name_.end()) return std::nullopt;
    last_topic_ = it->second;
  }
  const std::vector<std::size_t>& partitions = topics_[last_topic_].partitions;
  const auto number = static_cast<std::size_t>(message.partition);
  if (message.partition < 0 || number >= partitions.size()) return std::nullopt;
  return partitions[number];
}

/// Handles one message. False: the sink wants no more.
bool KafkaReader::Impl::take(MessagePtr message, Source::Sink& sink) {
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    on_message_error(*message);
    return true;
  }
  const std::optional<std::size_t> index = partition_of(*message);
  if (!index) return true;
  Partition& partition = partitions_[*index];
  const std::int64_t offset = message->offset;
  if (offset < partition.next_offset || partition.state != Partition::State::reading) {
    ++stats_.stale_messages;
    return true;
  }
  if (std::exchange(partition.skipped_to_end, false)) {
    stats_.skipped_messages += static_cast<std::uint64_t>(offset - partition.next_offset);
  }
  partition.next_offset = offset + 1;
  ++stats_.messages;
  stats_.bytes += message->len;
  if (const auto episode = consume_errors_.ended()) {
    log::info(kReaderLog, "{}: recovered; {} error(s) in all, {} since the last report", bootstrap_,
              episode->total, episode->unreported);
    events_.emplace_back(events::OutageEnded{bootstrap_, 0});
  }

  if (!away_nodes_.empty()) {
    away_nodes_.erase(rd_kafka_message_broker_id(message.get()));
    away_nodes_.erase(kNoNode);
  }
  if (partition.silence.spoke()) revived(*index);

  const std::size_t stream = partition.stream;
  notice_silence(stream, *message);
  Lender::Loan loan = lender_->lend(std::move(message));
  DecodeResult result = streams_[stream].decoder.decode(std::move(loan.message));
  report_decode(stream, partition, offset, result);
  if (result.status != DecodeResult::Status::decoded) return true;
  const GpsTime time = result.part->time();
  if (!partition.repeats.empty() && partition.repeats.take(offset, time)) {
    ++stats_.stale_messages;
    return true;
  }
  if (!topics_[stream].suspect) partition.unverified.note(offset, time);
  if (loan.copied) ++stats_.copied_parts;
  bool more = hand_over(*index, std::move(result.part), sink);
  for (BlockPartPtr& part : result.more) {
    if (more) {
      more = hand_over(*index, std::move(part), sink);
    } else {
      hold(*index, std::move(part));
    }
  }
  return more;
}

void KafkaReader::Impl::hold(std::size_t partition, BlockPartPtr part) {
  const std::size_t stream = partitions_[partition].stream;
  const bool suspect = topics_[stream].suspect;
  if (suspect) suspect_bytes_ += part->bytes();
  streams_[stream].held.push_back({partition, std::move(part), suspect});
}

/// A topic that speaks again after a silence may be another one by the same name.
void KafkaReader::Impl::notice_silence(std::size_t index, const rd_kafka_message_t& message) {
  Topic& topic = topics_[index];
  const Steady::time_point heard_at = std::exchange(topic.heard_at, batch_at_);
  rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  const std::int64_t stamp_ms = rd_kafka_message_timestamp(&message, &type);
  const std::int64_t heard_stamp_ms = std::exchange(topic.heard_stamp_ms, stamp_ms);
  const Duration limit = std::max(
      kSuspiciousSilence,
      std::chrono::duration_cast<Duration>(kSuspiciousSilenceStrides * streams_[index].stride));
  if (batch_at_ - heard_at <= limit || topic.suspect) return;
  // The silence may have been ours, and not the topic's.
  const bool is_stamped = stamp_ms >= 0 && heard_stamp_ms >= 0;
  if (is_stamped && std::chrono::milliseconds(stamp_ms - heard_stamp_ms) <= limit) return;
  if (is_stamped && stamp_ms < topic.compared_stamp_ms) return;
  topic.suspect = true;
  ++suspects_;
  control_wanted_.notify_all();
}

/// Whether parts of this stream have to wait: for its turn, for its topic to be proven the same, or
/// for a skip that is being looked up.
bool KafkaReader::Impl::is_held_back(std::size_t stream, GpsTime part_time) const {
  const StreamState& state = streams_[stream];
  if (state.paused || topics_[stream].suspect || !state.held.empty()) return true;
  return forward_ && state.budget > Duration::zero() && clock_->now() - part_time > state.budget;
}

bool KafkaReader::Impl::hand_over(std::size_t partition, BlockPartPtr part, Source::Sink& sink) {
  const std::size_t stream = partitions_[partition].stream;
  const GpsTime end = part->time() + part->duration();
  if (end <= start_) {
    ++stats_.before_start;
    return true;
  }
  if (end <= partitions_[partition].skip_before) {
    ++stats_.skipped_messages;
    return true;
  }
  if (policy_ && !forward_) judge_lag(stream, part->time());
  if (is_held_back(stream, part->time())) {
    hold(partition, std::move(part));
    return true;
  }
  ++stats_.parts;
  flush_events(sink);
  return sink.on_part(stream, std::move(part));
}

bool KafkaReader::Impl::deliver_held(Source::Sink& sink) {
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    StreamState& stream = streams_[s];
    while (!stream.held.empty() && !stream.paused && !topics_[s].suspect && !forward_) {
      HeldPart held = std::move(stream.held.front());
      stream.held.pop_front();
      const Partition& partition = partitions_[held.partition];
      if (held.part->time() + held.part->duration() <= partition.skip_before) {
        ++stats_.skipped_messages;
        continue;
      }
      ++stats_.parts;
      if (!sink.on_part(s, std::move(held.part))) return false;
    }
  }
  return true;
}

/// Decodes what was fetched already, so that its partitions may change their meaning.
void KafkaReader::Impl::stash_batch() {
  struct Stash final : Source::Sink {
    explicit Stash(Impl& impl) : reader(impl) {}
    bool on_part(std::size_t stream, BlockPartPtr part) override {
      --reader.stats_.parts;  // counted when it is handed over
      reader.hold(reader.topics_[stream].partitions.front(), std::move(part));
      return true;
    }
    void on_event(const Event& event) override { reader.events_.push_back(event); }
    Impl& reader;
  } stash(*this);
  while (batch_next_ < batch_.size()) take(std::move(batch_[batch_next_++]), stash);
}

void KafkaReader::Impl::judge_lag(std::size_t stream, GpsTime part_time) {
  const Duration lag = clock_->now() - part_time;
  const Duration budget = streams_[stream].budget;
  switch (policy_->observe(infos_[stream].id, lag, budget)) {
    case LagAction::ok:
      return;
    case LagAction::recovered:
      if (std::exchange(source_was_late_, false)) return;
      log::info(kReaderLog, "{}: caught up, block age {} (budget {})", label(stream),
                format_duration(lag), format_duration(budget));
      events_.emplace_back(events::Recovered{infos_[stream].id, lag});
      return;
    case LagAction::forward:
      forward_ = Forward{stream, clock_->now() - budget, lag};
      control_wanted_.notify_all();
      return;
  }
}

void KafkaReader::Impl::report_decode(std::size_t stream, const Partition& partition,
                                      std::int64_t offset, const DecodeResult& result) {
  StreamState& state = streams_[stream];
  const bool is_healthy =
      result.status == DecodeResult::Status::decoded && result.dropped_rows == 0;
  if (is_healthy && !state.bad_messages.running() && !state.without_rows.running() &&
      !state.dropped_rows.running()) {
    return;
  }
  const std::string& topic = partition.key.topic;
  const std::int32_t number = partition.key.partition;
  const Duration now = clock_->monotonic();

  if (result.status == DecodeResult::Status::bad) {
    ++stats_.bad_messages;
    stats_.dropped_rows += result.dropped_rows;
    const bool begins = !state.bad_messages.running();
    if (const auto count = state.bad_messages.occurred(now)) {
      log::warning(kReaderLog,
                   "bad message in {} [{}] at offset {}: {}; skipped ({} since the last report)",
                   topic, number, offset, result.reason, *count);
    }
    if (begins) {
      events_.emplace_back(events::OutageBegan{
          infos_[stream].id, fmt::format("bad message in {} [{}] at offset {}: {}", topic, number,
                                         offset, result.reason)});
    }
    return;
  }
  if (const auto episode = state.bad_messages.ended()) {
    log::info(kReaderLog, "{} [{}]: messages are good again; {} bad one(s) were skipped", topic,
              number, episode->total);
    events_.emplace_back(events::OutageEnded{infos_[stream].id, episode->total});
  }

  if (result.status == DecodeResult::Status::no_rows) {
    ++stats_.no_rows;
    if (!state.without_rows.running()) {
      log::warning(
          kReaderLog,
          "no requested rows in a message of {} [{}] at offset {}; the publisher's partition "
          "indexes may be stale",
          topic, number, offset);
    }
    state.without_rows.occurred(now);
    return;
  }
  if (const auto episode = state.without_rows.ended()) {
    log::info(kReaderLog, "{} [{}]: requested rows are there again after {} message(s) without",
              topic, number, episode->total);
  }

  if (result.dropped_rows == 0) {
    state.dropped_rows.ended();
    return;
  }
  stats_.dropped_rows += result.dropped_rows;
  if (const auto count = state.dropped_rows.occurred(now)) {
    log::warning(kReaderLog,
                 "{} [{}] at offset {}: {} row(s) of the wrong type or length are gaps ({} such "
                 "message(s) since the last report)",
                 topic, number, offset, result.dropped_rows, *count);
  }
}

/// A partition that had fallen silent speaks again.
void KafkaReader::Impl::revived(std::size_t partition) {
  const PartitionKey& key = partitions_[partition].key;
  log::info(kReaderLog, "{} [{}]: messages come again", key.topic, key.partition);
  events_.emplace_back(events::OutageEnded{infos_[partitions_[partition].stream].id, 0});
}

/// Runs under mutex_: librdkafka calls back from inside refill() and close().
void KafkaReader::Impl::consume_error(rd_kafka_resp_err_t error, const std::string& reason) {
  if (is_about_missing_topic(error)) {
    topics_wanted_ = true;
    control_wanted_.notify_all();
    return;
  }
  ++stats_.consume_errors;
  if (error == RD_KAFKA_RESP_ERR__FATAL) {
    std::array<char, 512> text{};
    rd_kafka_fatal_error(lender_->handle()->get(), text.data(), text.size());
    log::error(kReaderLog, "{}: fatal: {}", bootstrap_, text.data());
    if (!options_.restart_after_fatal) {
      failure_ = Error(Errc::broker_fatal, fmt::format("broker {}: {}", bootstrap_, text.data()));
      return;
    }
    restart_wanted_ = true;
    control_wanted_.notify_all();
  }
  // A node of a cluster that stays away is heard of again and again while the others deliver.
  const bool begins = !consume_errors_.running();
  if (begins && is_still_away(reason)) return;
  if (const auto count = consume_errors_.occurred(clock_->monotonic())) {
    log::warning(kReaderLog, "{}: {}; will retry ({} error(s) since the last report)", bootstrap_,
                 reason, *count);
  }
  if (begins) events_.emplace_back(events::OutageBegan{bootstrap_, reason});
}

/// Whether a connection error is only one more of a node that has delivered nothing since the last
/// one. librdkafka begins the reason with the node, "host:port/id: …".
bool KafkaReader::Impl::is_still_away(const std::string& reason) {
  const std::string node = reason.substr(0, reason.find(": "));
  const std::string id = node.substr(node.rfind('/') + 1);
  std::int32_t number = kNoNode;
  std::from_chars(id.data(), id.data() + id.size(), number);
  return !away_nodes_.insert(number).second;
}

void KafkaReader::Impl::on_message_error(const rd_kafka_message_t& message) {
  const std::optional<std::size_t> partition = partition_of(message);
  if (message.err != RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET || !partition) {
    consume_error(message.err, rd_kafka_message_errstr(&message));
    return;
  }
  partitions_[*partition].state = Partition::State::lost;
  control_wanted_.notify_all();
}

void KafkaReader::Impl::flush_events(Source::Sink& sink) {
  for (const Event& event : std::exchange(events_, {})) sink.on_event(event);
}

}
