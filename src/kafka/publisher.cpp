#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrakis/kafka.hpp"
#include "core/budget.hpp"
#include "core/logging.hpp"
#include "kafka/handle.hpp"
#include "kafka/limits.hpp"
#include "wire/row_encoder.hpp"

namespace arrakis::inline v1 {

namespace {

using Steady = std::chrono::steady_clock;

constexpr std::string_view kLog = "publisher";
/// Readers look nowhere else.
constexpr std::int32_t kPartition = 0;
/// How long one turn of the delivery reports is waited for.
constexpr int kReportTurnMs = 100;

KafkaProperties producer_properties() {
  return {
      {"message.max.bytes", fmt::format("{}", kMaxMessageBytes)},
      {"enable.idempotence", "true"},
      {"linger.ms", "0"},
  };
}

/// A block whose messages are on their way.
struct InFlight {
  SeriesBlock block;
  std::size_t unconfirmed = 0;
  std::vector<std::string> failures;
  /// Empty for a block that publish() waits, or has given up waiting, for.
  KafkaPublisher::Completion completion;
  /// publish() gave up waiting: the outcome is for the next call to tell.
  bool abandoned = false;

  [[nodiscard]] std::optional<Error> outcome() const {
    if (failures.empty()) return std::nullopt;
    return Error(
        Errc::delivery_failed,
        fmt::format("delivery failed for {} message(s) of the block at GPS {}: {}", failures.size(),
                    format_time(block.time()), fmt::join(failures, "; ")));
  }
};

/// Hands librdkafka a copy of one message, without waiting.
rd_kafka_resp_err_t produce_once(rd_kafka_t* handle, const EncodedMessage& message,
                                 InFlight& flight) {
  std::array<rd_kafka_vu_t, 5> arguments{};
  arguments[0].vtype = RD_KAFKA_VTYPE_TOPIC;
  arguments[0].u.cstr = message.topic.c_str();
  arguments[1].vtype = RD_KAFKA_VTYPE_PARTITION;
  arguments[1].u.i32 = kPartition;
  arguments[2].vtype = RD_KAFKA_VTYPE_VALUE;
  arguments[2].u.mem.ptr = const_cast<char*>(message.bytes.data());  // only read
  arguments[2].u.mem.size = message.bytes.size();
  arguments[3].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  arguments[3].u.i = RD_KAFKA_MSG_F_COPY;
  arguments[4].vtype = RD_KAFKA_VTYPE_OPAQUE;
  arguments[4].u.ptr = &flight;
  rd_kafka_error_t* error = rd_kafka_produceva(handle, arguments.data(), arguments.size());
  if (error == nullptr) return RD_KAFKA_RESP_ERR_NO_ERROR;
  const rd_kafka_resp_err_t code = rd_kafka_error_code(error);
  rd_kafka_error_destroy(error);
  return code;
}

}

class KafkaPublisher::Impl {
 public:
  Impl(std::string bootstrap, ChannelSet channels, PublisherOptions options);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void publish(const SeriesBlock& block);
  void publish_async(const SeriesBlock& block, Completion done);
  bool flush(Duration timeout);
  [[nodiscard]] Duration stride() const { return stride_; }
  [[nodiscard]] const ChannelSet& channels() const { return channels_; }

 private:
  using Deadline = std::optional<Steady::time_point>;

  [[nodiscard]] Deadline deadline() const {
    return options_.timeout ? Deadline(Steady::now() + *options_.timeout) : std::nullopt;
  }
  void check(const SeriesBlock& block) const;
  void check_sizes(const SeriesBlock& block, const std::vector<EncodedMessage>& messages) const;
  InFlight& send(const SeriesBlock& block, Completion done, const Deadline& deadline);
  void produce(const EncodedMessage& message, InFlight& flight, const Deadline& deadline);
  void on_delivery(const rd_kafka_message_t& message);
  /// Takes delivery reports, waiting for one at most until the deadline, and completes blocks in
  /// order. False: the deadline has passed.
  bool serve(const Deadline& deadline);
  void complete_in_order();
  void throw_if_late_failure();

  const std::string bootstrap_;
  const ChannelSet channels_;
  const PublisherOptions options_;
  Duration stride_{};
  RowEncoder encoder_;
  std::size_t max_message_bytes_ = kMaxMessageBytes;
  std::deque<std::unique_ptr<InFlight>> flights_;
  std::optional<GpsTime> last_sent_;
  std::optional<GpsTime> last_confirmed_;
  std::optional<Error> late_failure_;
  std::shared_ptr<Handle> handle_;
};

KafkaPublisher::Impl::Impl(std::string bootstrap, ChannelSet channels, PublisherOptions options)
    : bootstrap_(std::move(bootstrap)),
      channels_(std::move(channels)),
      options_(std::move(options)) {
  if (channels_.empty()) throw Error(Errc::invalid_argument, "no channels to publish");
  if (bootstrap_.empty()) throw Error(Errc::invalid_argument, "no Kafka broker given");
  const Channel& first = channels_[0];
  for (const Channel& channel : channels_) {
    if (!channel.partition_id || !channel.partition_index) {
      throw Error(Errc::precondition,
                  fmt::format("channel {} has no partition_id and partition_index: it can't be "
                              "published",
                              channel.name()));
    }
    if (channel.stride != first.stride) {
      throw Error(Errc::precondition,
                  fmt::format("channels {} and {} have different strides: a publisher has one",
                              first.name(), channel.name()));
    }
  }
  stride_ = value_or_throw(common_stride(channels_.channels()));
  if (const auto it = options_.properties.find("message.max.bytes");
      it != options_.properties.end()) {
    max_message_bytes_ = std::strtoull(it->second.c_str(), nullptr, 10);
  }
  Handle::Callbacks callbacks;
  callbacks.on_delivery = [this](const rd_kafka_message_t& message) { on_delivery(message); };
  callbacks.on_error = [this](rd_kafka_resp_err_t /*error*/, const char* reason) {
    log::debug(kLog, "{}: {}", bootstrap_, reason);
  };
  handle_ = Handle::create(HandleKind::producer, bootstrap_, producer_properties(),
                           options_.properties, std::move(callbacks));
}

KafkaPublisher::Impl::~Impl() {
  flush(kPublisherCloseTimeout);
  if (!flights_.empty()) {
    log::warning(kLog, "{}: closed with {} block(s) not confirmed", bootstrap_, flights_.size());
  }
  handle_->clear_callbacks();
}

/// Refuses what may not be published, before anything is sent.
void KafkaPublisher::Impl::check(const SeriesBlock& block) const {
  for (const Channel& channel : block.channels()) {
    const Channel& known = channels_.at(channel.name());
    if (!matches(channel, known)) {
      throw Error(Errc::invalid_argument,
                  fmt::format("channel metadata mismatch: the block has {}, registered is {}",
                              describe(channel), describe(known)));
    }
  }
  const std::string at = format_time(block.time());
  if (block.duration() != stride_) {
    throw Error(Errc::invalid_argument,
                fmt::format("the block at GPS {} is {} ns long; the publisher's stride is {} ns",
                            at, block.duration().count(), stride_.count()));
  }
  if (options_.require_grid && !block.time().is_multiple_of(stride_)) {
    throw Error(Errc::invalid_argument,
                fmt::format("the block's time, GPS {}, is no multiple of the stride of {} ns", at,
                            stride_.count()));
  }
  if (last_sent_ && block.time() <= *last_sent_) {
    throw Error(Errc::invalid_argument,
                fmt::format("block times are not monotonically increasing: GPS {} comes after {}",
                            at, format_time(*last_sent_)));
  }
}

void KafkaPublisher::Impl::check_sizes(const SeriesBlock& block,
                                       const std::vector<EncodedMessage>& messages) const {
  for (const EncodedMessage& message : messages) {
    if (message.bytes.size() <= max_message_bytes_) continue;
    const auto is_in = [&](const Channel& channel) {
      return channel.partition_id == message.partition_id;
    };
    const auto count = std::count_if(block.channels().begin(), block.channels().end(), is_in);
    const auto first = std::find_if(block.channels().begin(), block.channels().end(), is_in);
    throw Error(Errc::invalid_argument,
                fmt::format("the block at GPS {} makes a message of {} bytes for partition {} ({} "
                            "channel(s) from {}); the limit is {} (message.max.bytes)",
                            format_time(block.time()), message.bytes.size(), message.partition_id,
                            count, first->name(), max_message_bytes_));
  }
}

void KafkaPublisher::Impl::on_delivery(const rd_kafka_message_t& message) {
  // The flight is in flights_ until its last message was reported.
  auto& flight = *static_cast<InFlight*>(message._private);
  --flight.unconfirmed;
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  flight.failures.push_back(fmt::format("{} ({}): {}", rd_kafka_topic_name(message.rkt), bootstrap_,
                                        rd_kafka_message_errstr(&message)));
}

/// Queues one message; waits where librdkafka's queue is full.
void KafkaPublisher::Impl::produce(const EncodedMessage& message, InFlight& flight,
                                   const Deadline& deadline) {
  for (;;) {
    const rd_kafka_resp_err_t error = produce_once(handle_->get(), message, flight);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
      ++flight.unconfirmed;
      return;
    }
    const bool is_full = error == RD_KAFKA_RESP_ERR__QUEUE_FULL;
    if (!is_full || (deadline && Steady::now() >= *deadline)) {
      flight.failures.push_back(
          fmt::format("{} ({}): {}", message.topic, bootstrap_, text_of(error)));
      return;
    }
    rd_kafka_poll(handle_->get(), kReportTurnMs);
  }
}

InFlight& KafkaPublisher::Impl::send(const SeriesBlock& block, Completion done,
                                     const Deadline& deadline) {
  check(block);
  const std::vector<EncodedMessage> messages = encoder_.encode(block);
  check_sizes(block, messages);
  flights_.push_back(std::make_unique<InFlight>());
  InFlight& flight = *flights_.back();
  flight.block = block;
  flight.completion = std::move(done);
  last_sent_ = block.time();
  for (const EncodedMessage& message : messages) produce(message, flight, deadline);
  return flight;
}

bool KafkaPublisher::Impl::serve(const Deadline& deadline) {
  int wait_ms = kReportTurnMs;
  if (deadline) {
    wait_ms =
        std::min(wait_ms, timeout_ms(std::max<Duration>(*deadline - Steady::now(), Duration(0))));
  }
  rd_kafka_poll(handle_->get(), wait_ms);
  complete_in_order();
  return !deadline || Steady::now() < *deadline;
}

/// Takes finished asynchronous and abandoned blocks off the front; a block that publish() waits for
/// stays for it to take.
void KafkaPublisher::Impl::complete_in_order() {
  while (!flights_.empty()) {
    InFlight& front = *flights_.front();
    if (front.unconfirmed > 0 || (!front.completion && !front.abandoned)) return;
    const std::unique_ptr<InFlight> flight = std::move(flights_.front());
    flights_.pop_front();
    const std::optional<Error> outcome = flight->outcome();
    if (!outcome) {
      last_confirmed_ = flight->block.time();
    } else if (flights_.empty()) {
      last_sent_ = last_confirmed_;  // it may be tried again
    }
    if (flight->completion) {
      flight->completion(flight->block, outcome);
    } else if (outcome) {
      late_failure_ = outcome;
    }
  }
}

/// Tells, once, that a block for which publish() had stopped waiting did not arrive.
void KafkaPublisher::Impl::throw_if_late_failure() {
  rd_kafka_poll(handle_->get(), 0);
  complete_in_order();
  if (late_failure_) throw Error(*std::exchange(late_failure_, std::nullopt));
}

void KafkaPublisher::Impl::publish(const SeriesBlock& block) {
  throw_if_late_failure();
  const Deadline limit = deadline();
  InFlight& flight = send(block, nullptr, limit);
  while (flights_.front().get() != &flight || flight.unconfirmed > 0) {
    if (serve(limit)) continue;
    flight.abandoned = true;
    const std::size_t unconfirmed = flight.unconfirmed;
    complete_in_order();
    throw Error(
        Errc::timeout,
        fmt::format("broker {}: {} message(s) of the block at GPS {} not confirmed within {}; "
                    "delivery goes on",
                    bootstrap_, unconfirmed, format_time(block.time()),
                    format_duration(*options_.timeout)));
  }
  const std::optional<Error> outcome = flight.outcome();
  flights_.pop_front();
  if (outcome) {
    last_sent_ = last_confirmed_;
    throw Error(*outcome);
  }
  last_confirmed_ = block.time();
}

void KafkaPublisher::Impl::publish_async(const SeriesBlock& block, Completion done) {
  throw_if_late_failure();
  const Deadline limit = deadline();
  while (flights_.size() >= std::max<std::size_t>(options_.max_in_flight, 1)) {
    if (serve(limit)) continue;
    throw Error(Errc::timeout,
                fmt::format("broker {}: {} block(s) on their way and none confirmed within {}; the "
                            "block at GPS {} was not sent",
                            bootstrap_, flights_.size(), format_duration(*options_.timeout),
                            format_time(block.time())));
  }
  if (!done) done = [](const SeriesBlock&, const std::optional<Error>&) {};
  send(block, std::move(done), limit);
  serve(Steady::now());
}

bool KafkaPublisher::Impl::flush(Duration timeout) {
  const Deadline limit = Steady::now() + timeout;
  complete_in_order();
  while (!flights_.empty()) {
    if (!serve(limit)) return flights_.empty();
  }
  return true;
}

KafkaPublisher::KafkaPublisher(std::string bootstrap, ChannelSet channels, PublisherOptions options)
    : impl_(std::make_unique<Impl>(std::move(bootstrap), std::move(channels), std::move(options))) {
}
KafkaPublisher::~KafkaPublisher() = default;

void KafkaPublisher::publish(const SeriesBlock& block) { impl_->publish(block); }
void KafkaPublisher::publish_async(const SeriesBlock& block, Completion done) {
  impl_->publish_async(block, std::move(done));
}
bool KafkaPublisher::flush(Duration timeout) { return impl_->flush(timeout); }
Duration KafkaPublisher::stride() const { return impl_->stride(); }
const ChannelSet& KafkaPublisher::channels() const { return impl_->channels(); }

}
