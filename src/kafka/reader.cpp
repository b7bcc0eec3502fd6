#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/budget.hpp"
#include "core/logging.hpp"
#include "kafka/reader_impl.hpp"

namespace arrakis::inline v1 {

namespace {

constexpr std::size_t kKilobyte = 1024;

KafkaProperties consumer_properties(std::size_t prefetch_bytes, std::size_t streams) {
  const bool gathers = streams > kMostForSingleFetches;
  return {
      // Never used to balance; librdkafka wants one.
      {"group.id", generate_groupid()},
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      // A position that the broker no longer has is ours to decide on, and to tell about.
      {"auto.offset.reset", "error"},
      {"allow.auto.create.topics", "false"},
      {"message.max.bytes", fmt::format("{}", kMaxMessageBytes)},
      {"fetch.max.bytes", fmt::format("{}", kMaxResponseBytes)},
      // Throughput comes from the number of messages fetched ahead, memory is bounded by kbytes.
      {"queued.min.messages", "100000"},
      {"queued.max.messages.kbytes", fmt::format("{}", prefetch_bytes / kKilobyte)},
      {"fetch.queue.backoff.ms", "10"},
      {"fetch.error.backoff.ms", "50"},
      // Also bounds how long a question on the same connection waits.
      {"fetch.wait.max.ms", gathers ? "10" : "100"},
      {"fetch.min.bytes", gathers ? "1000000" : "1"},
  };
}

/// Channels by partition_id, in order of first appearance.
std::vector<std::pair<std::string, std::vector<Channel>>> by_partition(const ChannelSet& channels) {
  std::vector<std::pair<std::string, std::vector<Channel>>> groups;
  std::map<std::string_view, std::size_t> position;
  for (const Channel& channel : channels) {
    if (!channel.partition_id || !channel.partition_index) {
      throw Error(
          Errc::precondition,
          fmt::format("channel {} has no partition_id and partition_index: it can't be read "
                      "from Kafka",
                      channel.name()));
    }
    const auto [it, added] = position.emplace(*channel.partition_id, groups.size());
    if (added) groups.emplace_back(*channel.partition_id, std::vector<Channel>());
    groups[it->second].second.push_back(channel);
  }
  return groups;
}

}

KafkaReader::Impl::Impl(std::string bootstrap, const ChannelSet& channels, ReaderOptions options)
    : bootstrap_(std::move(bootstrap)), options_(std::move(options)) {
  if (channels.empty()) throw Error(Errc::invalid_argument, "no channels to read");
  if (bootstrap_.empty()) throw Error(Errc::invalid_argument, "no Kafka broker given");
  for (auto& [partition_id, group] : by_partition(channels)) {
    const Duration stride = value_or_throw(common_stride(group));
    Topic topic;
    topic.name = topic_of(group.front());
    topic_by_name_.emplace(topic.name, topics_.size());
    topics_.push_back(std::move(topic));
    const Duration budget = latency_budget(group);
    ChannelSet set(std::move(group));
    streams_.emplace_back(set, stride, budget);
    infos_.push_back({fmt::format("{}/{}", bootstrap_, partition_id), std::move(set)});
    log::debug(kReaderLog, "{}: latency budget {}", label(infos_.size() - 1),
               format_duration(budget));
  }
  prefetch_bytes_ = options_.prefetch_bytes.value_or(prefetch_kbytes(topics_.size()) * kKilobyte);
  borrowed_limit_ = options_.borrowed_bytes.value_or(
      std::min(2 * prefetch_bytes_, prefetch_bytes_ + kBorrowedBeyondPrefetch));
  lender_ = std::make_shared<Lender>(make_consumer(), borrowed_limit_);
}

std::shared_ptr<Handle> KafkaReader::Impl::make_consumer() {
  Handle::Callbacks callbacks;
  callbacks.on_error = [this](rd_kafka_resp_err_t error, const char* reason) {
    consume_error(error, reason);
  };
  return Handle::create(HandleKind::consumer, bootstrap_,
                        consumer_properties(prefetch_bytes_, streams_.size()), options_.properties,
                        std::move(callbacks));
}

std::shared_ptr<Handle> KafkaReader::Impl::make_questioner() {
  return Handle::create(HandleKind::consumer, bootstrap_, {}, options_.properties);
}

/// Takes messages from this handle from now on, and is woken when there are some.
void KafkaReader::Impl::listen(const std::shared_ptr<Handle>& handle) {
  queue_.reset(rd_kafka_queue_get_consumer(handle->get()));
  rd_kafka_queue_cb_event_enable(
      queue_.get(), [](rd_kafka_t*, void* self) { static_cast<Impl*>(self)->wake(); }, this);
}

void KafkaReader::Impl::open(const OpenOptions& options) {
  std::shared_ptr<Handle> handle;
  {
    const std::unique_lock lock(mutex_);
    if (closing_) throw Error(Errc::failed_precondition, "the Kafka reader is closed");
    if (clock_ != nullptr)
      throw Error(Errc::failed_precondition, "the Kafka reader is open already");
    clock_ = options.clock;
    if (options.start) start_ = *options.start;
    if (options_.fast_forward) {
      FastForwardPolicy::Options policy = options_.policy;
      if (!policy.clock) {
        policy.clock = [clock = clock_] { return in_seconds(clock->monotonic()); };
      }
      policy_.emplace(std::move(policy));
    }
    handle = lender_->handle();
  }

  // The questions go through the reader's own handle, which fetches nothing yet: what it learns of
  // the topics' leaders lets the first fetch start at once.
  rd_kafka_poll_set_consumer(handle->get());
  BrokerQueries queries(handle);
  queries.set_stop([this] { return is_closing(); });
  const Steady::time_point deadline = Steady::now() + options_.timeout;
  const auto left = [&] { return std::max<Duration>(deadline - Steady::now(), Duration(1)); };

  const std::vector<TopicDescription> found =
      value_or_throw(queries.describe(topic_names(), left()));
  std::vector<std::size_t> assigned;
  std::vector<PartitionKey> keys;
  {
    const std::unique_lock lock(mutex_);
    assigned = note_topics(found);
    keys = keys_of(assigned);
  }
  const std::optional<GpsTime> from = options.start && *options.start <= clock_->now()
                                          ? std::optional(*options.start - options_.start_margin)
                                          : std::nullopt;
  const std::vector<BrokerQueries::Start> starts = value_or_throw(
      from ? queries.start_for_time(keys, *from, left()) : queries.start_at_end(keys, left()));

  const std::unique_lock lock(mutex_);
  if (closing_) throw Error(Errc::cancelled, "the Kafka reader was closed while it opened");
  std::vector<std::int64_t> offsets;
  offsets.reserve(assigned.size());
  for (std::size_t i = 0; i < assigned.size(); ++i) {
    offsets.push_back(starts[i].offset);
    partitions_[assigned[i]].end_at_open = starts[i].watermarks.high;
  }
  if (!assigned.empty()) assign(assigned, offsets);
  listen(handle);
  questions_ = make_questioner();
  opened_ = true;
  control_ = std::thread([this] { control(); });
}

std::vector<std::string> KafkaReader::Impl::topic_names() const {
  std::vector<std::string> names;
  names.reserve(topics_.size());
  for (const Topic& topic : topics_) names.push_back(topic.name);
  return names;
}

/// Notes which topics there are, tells which are missing, and returns the partitions to read.
std::vector<std::size_t> KafkaReader::Impl::note_topics(std::span<const TopicDescription> found) {
  std::vector<std::size_t> partitions;
  std::vector<std::string> missing;
  std::vector<std::string> unknown;
  for (std::size_t t = 0; t < topics_.size(); ++t) {
    Topic& topic = topics_[t];
    if (found[t].status == TopicDescription::Status::exists) {
      topic.state = Topic::State::present;
      topic.id = found[t].id;
      topic.heard_at = Steady::now();
      topic.compared_stamp_ms = kafka_timestamp_ms(clock_->now() - kPublisherClockError);
      for (std::int32_t number = 0; number < found[t].partitions; ++number) {
        partitions.push_back(add_partition(t, number));
      }
      continue;
    }
    topic.was_absent = found[t].status == TopicDescription::Status::absent;
    (topic.was_absent ? missing : unknown).push_back(topic.name);
    streams_[t].caught_up = true;
    events_.emplace_back(events::TopicMissing{topic.name});
  }
  const auto report = [this](std::vector<std::string>& names, const char* what) {
    if (names.empty()) return;
    std::sort(names.begin(), names.end());
    log::warning(kReaderLog,
                 "{} topic(s) {} on the broker {}; their channels are gaps until they appear: {}",
                 names.size(), what, bootstrap_, fmt::join(names, ", "));
  };
  report(missing, "do not exist");
  report(unknown, "can't be read for now");
  return partitions;
}

bool KafkaReader::Impl::is_closing() {
  const std::unique_lock lock(mutex_);
  return closing_;
}

void KafkaReader::Impl::close() {
  {
    const std::unique_lock lock(mutex_);
    if (closing_) return;
    closing_ = true;
    control_wanted_.notify_all();
  }
  if (control_.joinable()) control_.join();
  const std::unique_lock lock(mutex_);
  batch_.clear();
  batch_next_ = 0;
  suspects_ = suspect_bytes_ = 0;
  for (StreamState& stream : streams_) stream.held.clear();
  lender_->handle()->clear_callbacks();
  if (queue_) {
    rd_kafka_queue_cb_event_enable(queue_.get(), nullptr, nullptr);
    rd_kafka_consumer_close(lender_->handle()->get());
    queue_.reset();
  }
  closed_ = true;
  lender_ = std::make_shared<Lender>(nullptr, 0);
  questions_.reset();
  wake();
}

bool KafkaReader::Impl::done() {
  const std::unique_lock lock(mutex_);
  return closed_ || failed_;
}

std::size_t KafkaReader::Impl::fast_forward(std::optional<GpsTime> time, Duration timeout) {
  std::shared_ptr<Handle> questions;
  {
    const std::unique_lock lock(mutex_);
    if (!opened_ || closing_) return 0;
    questions = questions_;
  }
  BrokerQueries queries(questions);
  queries.set_stop([this] { return is_closing(); });
  const ForwardPlan plan = plan_forward(queries, time, timeout, Unresolved::go_to_end);
  const std::size_t moved = apply_forward(plan, time);
  wake();
  return moved;
}

void KafkaReader::Impl::set_paused(std::size_t stream, bool paused) {
  const std::unique_lock lock(mutex_);
  if (!opened_ || closing_ || streams_[stream].paused == paused) return;
  streams_[stream].paused = paused;
  const PartitionList list = make_partition_list(topics_[stream].partitions.size());
  for (const std::size_t partition : topics_[stream].partitions) {
    const PartitionKey& key = partitions_[partition].key;
    rd_kafka_topic_partition_list_add(list.get(), key.topic.c_str(), key.partition);
  }
  if (paused) {
    rd_kafka_pause_partitions(lender_->handle()->get(), list.get());
  } else {
    rd_kafka_resume_partitions(lender_->handle()->get(), list.get());
    wake();
  }
}

bool KafkaReader::Impl::caught_up(std::size_t stream) {
  const std::unique_lock lock(mutex_);
  StreamState& state = streams_[stream];
  if (state.caught_up) return true;
  if (!state.held.empty()) return false;
  for (const std::size_t p : topics_[stream].partitions) {
    const Partition& partition = partitions_[p];
    if (partition.next_offset < partition.end_at_open) return false;
  }
  return state.caught_up = true;
}

bool KafkaReader::Impl::exhausted() {
  const std::unique_lock lock(mutex_);
  if (!opened_ || closing_) return true;
  const Steady::time_point now = Steady::now();
  if (ends_wanted_until_ <= now) control_wanted_.notify_all();
  ends_wanted_until_ = now + 2 * kWatermarkRefresh;
  if (batch_next_ < batch_.size()) return false;
  for (const StreamState& stream : streams_) {
    if (!stream.held.empty()) return false;
  }
  for (const Topic& topic : topics_) {
    if (topic.state == Topic::State::missing) continue;
    for (const std::size_t p : topic.partitions) {
      const Partition& partition = partitions_[p];
      if (partition.state != Partition::State::reading || !partition.known_end ||
          partition.next_offset < *partition.known_end) {
        return false;
      }
    }
  }
  return now - ends_known_at_ < 3 * kWatermarkRefresh;
}

ReaderStats KafkaReader::Impl::stats() {
  const std::unique_lock lock(mutex_);
  ReaderStats stats = stats_;
  stats.borrowed_bytes = lender_->bytes();
  stats.missing_topics = static_cast<std::size_t>(
      std::count_if(topics_.begin(), topics_.end(),
                    [](const Topic& topic) { return topic.state == Topic::State::missing; }));
  return stats;
}

void KafkaReader::Impl::set_wakeup(std::function<void()> wake) {
  const std::unique_lock lock(wake_mutex_);
  wake_callback_ = std::move(wake);
}

void KafkaReader::Impl::wake() {
  const std::unique_lock lock(wake_mutex_);
  wake_pending_ = true;
  woken_.notify_all();
  if (wake_callback_) wake_callback_();
}

bool KafkaReader::Impl::wait(Duration limit) {
  std::unique_lock lock(wake_mutex_);
  return woken_.wait_for(lock, limit, [this] { return wake_pending_; });
}

KafkaReader::KafkaReader(std::string bootstrap, const ChannelSet& channels, ReaderOptions options)
    : impl_(std::make_unique<Impl>(std::move(bootstrap), channels, std::move(options))) {}
KafkaReader::~KafkaReader() = default;

const std::vector<StreamInfo>& KafkaReader::streams() const { return impl_->streams(); }
void KafkaReader::open(const OpenOptions& options) { impl_->open(options); }
bool KafkaReader::poll(Sink& sink) { return impl_->poll(sink); }
void KafkaReader::set_wakeup(std::function<void()> wake) { impl_->set_wakeup(std::move(wake)); }
void KafkaReader::pause(std::size_t stream) { impl_->set_paused(stream, true); }
void KafkaReader::resume(std::size_t stream) { impl_->set_paused(stream, false); }
bool KafkaReader::caught_up(std::size_t stream) { return impl_->caught_up(stream); }
bool KafkaReader::exhausted() { return impl_->exhausted(); }
bool KafkaReader::done() const { return impl_->done(); }
void KafkaReader::close() { impl_->close(); }
bool KafkaReader::wait(Duration limit) { return impl_->wait(limit); }
std::size_t KafkaReader::fast_forward(std::optional<GpsTime> time, Duration timeout) {
  return impl_->fast_forward(time, timeout);
}
ReaderStats KafkaReader::stats() const { return impl_->stats(); }

}
