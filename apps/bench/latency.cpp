#include "bench/latency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "arrakis/arrakis.hpp"
#include "bench/broker.hpp"
#include "bench/latency_figures.hpp"
#include "bench/synthetic.hpp"
#include "kafka/limits.hpp"
#include "wire/part.hpp"
#include "wire/row_encoder.hpp"

namespace arrakis::bench {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kPartitions = 10;
constexpr std::size_t kChannels = 10;
constexpr std::size_t kSamples = 16;
/// Not measured at the start of a turn: connections and positions are being found.
constexpr std::size_t kWarmUp = 16;
/// How long a stride that lacks a partition is waited for, from its start, in strides.
constexpr int kDeadlineStrides = 4;
/// So that most strides are not about what is missing.
constexpr std::size_t kLeastWithholdEvery = 16;
/// A turn that takes so much longer than its strides has lost something.
constexpr Duration kPatience = std::chrono::seconds(10);
constexpr int kPollMs = 100;

ChannelSet make_paced_channels(int pace, const std::string& prefix) {
  const ChannelSet base = make_channels(
      {.partitions = kPartitions, .channels = kChannels, .rate = 16, .type = DataType::float32},
      prefix);
  std::vector<Channel> channels;
  for (const Channel& like : base) {
    Channel& channel = channels.emplace_back(like.name(), like.data_type(),
                                             SampleRate(static_cast<int>(kSamples) * pace));
    channel.publisher = like.publisher;
    channel.partition_id = like.partition_id;
    channel.partition_index = like.partition_index;
    channel.stride = Duration(std::chrono::seconds(1)) / pace;
    channel.max_latency = like.max_latency;
  }
  return ChannelSet(std::move(channels));
}

SeriesBlock make_block_at(GpsTime time, const ChannelSet& channels, std::size_t number) {
  BlockBuilder builder(time, channels);
  for (const Channel& channel : channels) {
    builder.set<float>(channel.name(), std::vector<float>(kSamples, static_cast<float>(number)));
  }
  return builder.build();
}

/// The strides of one turn: which are published and when.
struct Turn {
  GpsTime first;
  Duration stride{};
  std::size_t count = 0;
  std::size_t withhold_every = 0;

  [[nodiscard]] GpsTime time(std::size_t i) const {
    return first + static_cast<std::int64_t>(i) * stride;
  }
  /// A partition is missing until the deadline of the first stride without it has passed: if it
  /// went on sooner, that would tell the reader that the stride will not come.
  [[nodiscard]] Sent sent(std::size_t i) const {
    if (withhold_every == 0 || i < kWarmUp) return Sent::whole;
    const std::size_t place = (i - kWarmUp) % withhold_every;
    if (place == 0) return Sent::first_without;
    return place < kDeadlineStrides ? Sent::still_without : Sent::whole;
  }
  [[nodiscard]] Instant give_up_at() const {
    return Steady::now() + (time(count) - system_clock().now()) + kPatience;
  }
};

/// Calls `publish` at the end of each stride, when a publisher has its samples, and notes when.
/// `prepare` is called before that.
std::vector<Published> publish_on_time(const Turn& turn,
                                       const std::function<void(std::size_t)>& prepare,
                                       const std::function<void()>& publish) {
  std::vector<Published> published;
  for (std::size_t i = 0; i < turn.count; ++i) {
    prepare(i);
    std::this_thread::sleep_for(turn.time(i + 1) - system_clock().now());
    const Instant now = Steady::now();
    publish();
    if (i >= kWarmUp) published.push_back({turn.time(i), now, turn.sent(i)});
  }
  return published;
}

/// A reader that notes when the last part of each stride was announced.
class NotingSource final : public Source {
 public:
  explicit NotingSource(std::unique_ptr<Source> source) : source_(std::move(source)) {}

  [[nodiscard]] Instant last_part(GpsTime time) {
    announced_.erase(announced_.begin(), announced_.lower_bound(time));
    const auto it = announced_.find(time);
    return it == announced_.end() ? Instant() : it->second;
  }

  [[nodiscard]] const std::vector<StreamInfo>& streams() const override {
    return source_->streams();
  }
  void open(const OpenOptions& options) override { source_->open(options); }
  bool poll(Sink& sink) override {
    NotingSink noting(sink, announced_, woken_at_);
    return source_->poll(noting);
  }
  void set_wakeup(std::function<void()> wake) override {
    if (!wake) {
      source_->set_wakeup({});
      return;
    }
    source_->set_wakeup([this, wake = std::move(wake)] {
      woken_at_ = Steady::now();
      wake();
    });
  }
  void pause(std::size_t stream) override { source_->pause(stream); }
  void resume(std::size_t stream) override { source_->resume(stream); }
  [[nodiscard]] bool caught_up(std::size_t stream) override { return source_->caught_up(stream); }
  [[nodiscard]] bool exhausted() override { return source_->exhausted(); }
  [[nodiscard]] bool done() const override { return source_->done(); }
  void close() override { source_->close(); }

 private:
  using Announced = std::map<GpsTime, Instant>;

  struct NotingSink final : Sink {
    NotingSink(Sink& to, Announced& times, Instant now) : sink(to), announced(times), woken(now) {}
    bool on_part(std::size_t stream, BlockPartPtr part) override {
      announced[part->time()] = woken;
      return sink.on_part(stream, std::move(part));
    }
    void on_event(const Event& event) override { sink.on_event(event); }
    Sink& sink;
    Announced& announced;
    Instant woken;
  };

  std::unique_ptr<Source> source_;
  Announced announced_;
  std::atomic<Instant> woken_at_{Instant()};
};

/// Arrakis' turn.
class Ours {
 public:
  Ours(const Broker& broker, ChannelSet channels)
      : broker_(broker), publisher_(broker.bootstrap(), std::move(channels)) {
    std::vector<std::string_view> names;
    for (const Channel& channel : publisher_.channels()) {
      if (channel.partition_id != publisher_.channels()[0].partition_id) {
        names.push_back(channel.name());
      }
    }
    without_first_partition_ = std::move(names);
  }

  void run(Turn turn, LatencyFigures& figures) {
    ReaderOptions options;
    options.properties = broker_.consumer_properties();
    auto source = std::make_unique<NotingSource>(std::make_unique<KafkaReader>(
        broker_.bootstrap(), publisher_.channels(), std::move(options)));
    NotingSource& noting = *source;
    StreamOptions stream_options;
    stream_options.timeout = kDeadlineStrides * turn.stride;
    BlockStream stream(std::move(source), stream_options);
    turn.first = system_clock().now().floor_to(turn.stride) + turn.stride;
    auto arrivals =
        std::async(std::launch::async, [&] { return take_blocks(stream, noting, turn); });
    SeriesBlock block;
    const std::vector<Published> published = publish_on_time(
        turn,
        [&](std::size_t i) {
          block = make_block_at(turn.time(i), publisher_.channels(), i);
          if (turn.sent(i) != Sent::whole) block = block.filter(without_first_partition_);
        },
        [&] { publisher_.publish_async(block, {}); });
    publisher_.flush(kPatience);
    figures.add(published, arrivals.get());
  }

 private:
  static std::vector<Arrived> take_blocks(BlockStream& stream, NotingSource& source,
                                          const Turn& turn) {
    std::vector<Arrived> arrived;
    const Instant give_up = turn.give_up_at();
    while (Steady::now() < give_up) {
      const BlockStream::Next next = stream.next(std::chrono::seconds(1));
      const Instant now = Steady::now();
      if (next.status == BlockStream::Status::end) break;
      if (!next) continue;
      const GpsTime time = next.block.time();
      const GpsTime deadline = time + kDeadlineStrides * turn.stride;
      arrived.push_back({time, now, source.last_part(time), system_clock().now() - deadline,
                         next.block.has_gaps()});
      if (time >= turn.time(turn.count - 1)) break;
    }
    return arrived;
  }

  const Broker& broker_;
  KafkaPublisher publisher_;
  std::vector<std::string_view> without_first_partition_;
};

/// The turn of librdkafka alone: the same messages, from the call that produces the first to the
/// one that returns the last.
class Floor {
 public:
  Floor(const Broker& broker, ChannelSet channels)
      : broker_(broker),
        channels_(std::move(channels)),
        producer_(Handle::create(HandleKind::producer, broker.bootstrap(),
                                 {{"linger.ms", "0"},
                                  {"enable.idempotence", "true"},
                                  {"message.max.bytes", fmt::format("{}", kMaxMessageBytes)}},
                                 {})) {}

  void run(Turn turn, LatencyFigures& figures) {
    const KafkaProperties consumer_defaults{
        {"group.id", "floor"}, {"enable.auto.commit", "false"}, {"fetch.wait.max.ms", "100"}};
    consumer_ = Handle::create(HandleKind::consumer, broker_.bootstrap(), consumer_defaults,
                               broker_.consumer_properties());
    rd_kafka_poll_set_consumer(consumer_->get());
    assign_at_end();
    turn.first = system_clock().now().floor_to(turn.stride) + turn.stride;
    auto arrivals = std::async(std::launch::async, [&] { return take_messages(turn); });
    std::vector<EncodedMessage> messages;
    const std::vector<Published> published = publish_on_time(
        turn,
        [&](std::size_t i) {
          messages = encode_messages(make_block_at(turn.time(i), channels_, i));
        },
        [&] { produce(messages); });
    rd_kafka_flush(producer_->get(), timeout_ms(kPatience));
    figures.add(published, arrivals.get());
    rd_kafka_consumer_close(consumer_->get());
    consumer_.reset();
  }

 private:
  struct TopicDeleter {
    void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
  };
  using TopicPtr = std::unique_ptr<rd_kafka_topic_t, TopicDeleter>;

  void assign_at_end() {
    first_offsets_.clear();
    const PartitionList list = make_partition_list(kPartitions);
    for (const Channel& channel : channels_) {
      const std::string topic = topic_of(channel);
      if (first_offsets_.contains(topic)) continue;
      std::int64_t low = 0;
      std::int64_t high = 0;
      const rd_kafka_resp_err_t error = rd_kafka_query_watermark_offsets(
          consumer_->get(), topic.c_str(), 0, &low, &high, timeout_ms(kPatience));
      if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        throw Error(Errc::broker_unavailable,
                    fmt::format("broker {}: where '{}' ends: {}", broker_.bootstrap(), topic,
                                text_of(error)));
      }
      first_offsets_[topic] = high;
      rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), 0)->offset = high;
    }
    rd_kafka_assign(consumer_->get(), list.get());
  }

  void produce(std::vector<EncodedMessage>& messages) {
    for (EncodedMessage& message : messages) {
      TopicPtr& topic = topics_[message.topic];
      if (!topic) {
        topic.reset(rd_kafka_topic_new(producer_->get(), message.topic.c_str(), nullptr));
      }
      if (rd_kafka_produce(topic.get(), 0, RD_KAFKA_MSG_F_COPY, message.bytes.data(),
                           message.bytes.size(), nullptr, 0, nullptr) != 0) {
        throw Error(Errc::delivery_failed,
                    fmt::format("{}: {}", message.topic, text_of(rd_kafka_last_error())));
      }
    }
    rd_kafka_poll(producer_->get(), 0);
  }

  [[nodiscard]] std::vector<Arrived> take_messages(const Turn& turn) const {
    std::vector<std::size_t> parts(turn.count);
    std::vector<Arrived> arrived;
    const Instant give_up = turn.give_up_at();
    while (arrived.size() < turn.count && Steady::now() < give_up) {
      const MessagePtr message(rd_kafka_consumer_poll(consumer_->get(), kPollMs));
      const Instant now = Steady::now();
      if (!message || message->err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
      // Every stride is one message of every topic.
      const auto number = static_cast<std::size_t>(
          message->offset - first_offsets_.at(rd_kafka_topic_name(message->rkt)));
      if (number >= parts.size() || ++parts[number] < kPartitions) continue;
      arrived.push_back({turn.time(number), now, now, {}, false});
    }
    std::sort(arrived.begin(), arrived.end(),
              [](const Arrived& a, const Arrived& b) { return a.time < b.time; });
    return arrived;
  }

  const Broker& broker_;
  ChannelSet channels_;
  std::shared_ptr<Handle> producer_;
  std::map<std::string, TopicPtr> topics_;
  std::shared_ptr<Handle> consumer_;
  std::map<std::string, std::int64_t> first_offsets_;
};

std::vector<std::string> topics_of(const ChannelSet& channels) {
  std::vector<std::string> topics;
  for (const Channel& channel : channels) {
    const std::string topic = topic_of(channel);
    if (topics.empty() || topics.back() != topic) topics.push_back(topic);
  }
  return topics;
}

}

std::string latency(const LatencyOptions& options) {
  if (options.pace <= 0 || 1'000'000'000 % options.pace != 0) {
    throw Error(Errc::invalid_argument,
                fmt::format("a pace of {} a second: no divisor of 10^9", options.pace));
  }
  if (options.withhold_every != 0 && options.withhold_every < kLeastWithholdEvery) {
    throw Error(Errc::invalid_argument,
                fmt::format("a partition withheld every {} strides: at least {}",
                            options.withhold_every, kLeastWithholdEvery));
  }
  Broker broker(options.bootstrap);
  const ChannelSet channels = make_paced_channels(options.pace, unique_prefix("latency"));
  broker.create_topics(topics_of(channels));
  Ours ours(broker, channels);
  Floor floor(broker, channels);
  LatencyFigures our_figures;
  LatencyFigures floor_figures;
  Turn turn;
  turn.stride = Duration(std::chrono::seconds(1)) / options.pace;
  bool floor_first = true;
  for (std::size_t left = options.strides; left > 0; floor_first = !floor_first) {
    const std::size_t measured = std::min(left, std::max<std::size_t>(options.turn, 1));
    turn.count = kWarmUp + measured;
    for (const bool is_floor : {floor_first, !floor_first}) {
      turn.withhold_every = is_floor ? 0 : options.withhold_every;
      if (is_floor) {
        floor.run(turn, floor_figures);
      } else {
        ours.run(turn, our_figures);
      }
    }
    left -= measured;
  }
  return fmt::format(
      R"({{"mode": "latency", "broker": "{}", "pace": {}, "channels": {}, "partitions": {}, )"
      R"("floor_ms": {}, "ours_ms": {}, "over_floor_p50_ms": {:.3f}, "after_last_part_ms": {}, )"
      R"("after_deadline_ms": {}, "left_out": {}, "gaps": {}, "lost": {}, "floor_lost": {}}})",
      broker.kind(), options.pace, channels.size(), kPartitions, floor_figures.total.json(),
      our_figures.total.json(), our_figures.total.at(0.5) - floor_figures.total.at(0.5),
      our_figures.after_last_part.json(), our_figures.after_deadline.json(), our_figures.left_out,
      our_figures.gaps, our_figures.lost, floor_figures.lost);
}

}
