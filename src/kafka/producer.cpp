#include "kafka/producer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/logging.hpp"
#include "kafka/limits.hpp"

namespace arrakis::inline v1 {

namespace {

using Steady = std::chrono::steady_clock;

constexpr std::string_view kLog = "publisher";
/// Every Arrakis publisher writes there, and readers of other makes look nowhere else.
constexpr std::int32_t kPartition = 0;
/// The longest turn of waiting for delivery reports; they end it early.
constexpr Duration kReportTurn = std::chrono::milliseconds(100);
/// The first turn of a new client, see Producer::wait_turn().
constexpr Duration kFirstTurn = std::chrono::milliseconds(5);

Duration left_until(const Deadline& deadline, Duration most) {
  if (!deadline) return most;
  return std::clamp<Duration>(*deadline - Steady::now(), Duration(0), most);
}

KafkaProperties producer_properties(const PublisherOptions& options) {
  Duration unknown_topic = kUnknownTopicLimit;
  if (options.timeout) unknown_topic = std::min(unknown_topic, *options.timeout / 2);
  return {
      {"message.max.bytes", fmt::format("{}", kMaxMessageBytes)},
      {"enable.idempotence", "true"},
      {"linger.ms", "0"},
      {"topic.metadata.propagation.max.ms", fmt::format("{}", timeout_ms(unknown_topic))},
  };
}

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

/// Whether librdkafka answers so from what it remembers of a topic, for up to five seconds after it
/// became right.
bool is_remembered(rd_kafka_resp_err_t error) {
  return error == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
         error == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION ||
         error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
         error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
}

}

Deadline deadline_after(Duration timeout) {
  const Steady::time_point now = Steady::now();
  if (timeout > Steady::time_point::max() - now) return std::nullopt;
  return now + timeout;
}

bool has_passed(const Deadline& deadline) { return deadline && Steady::now() >= *deadline; }

Producer::Producer(std::string bootstrap, const PublisherOptions& options,
                   const PublishRules& rules, Pipeline& pipeline)
    : bootstrap_(std::move(bootstrap)), options_(options), rules_(rules), pipeline_(pipeline) {
  if (bootstrap_.empty()) throw Error(Errc::invalid_argument, "no Kafka broker given");
  start();
}

Producer::~Producer() { handle_->clear_callbacks(); }

void Producer::start() {
  Handle::Callbacks callbacks;
  callbacks.on_delivery = [this](const rd_kafka_message_t& message) { on_delivery(message); };
  callbacks.on_error = [this](rd_kafka_resp_err_t error, const char* reason) {
    on_error(error, reason);
  };
  handle_ = Handle::create(HandleKind::producer, bootstrap_, producer_properties(options_),
                           options_.properties, std::move(callbacks));
  is_warm_ = false;
  fatal_.reset();
}

std::string Producer::trouble() const {
  return last_error_.empty() ? "" : fmt::format(" ({})", last_error_);
}

void Producer::give_up(const std::string& reason) {
  rd_kafka_purge(handle_->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT |
                                     RD_KAFKA_PURGE_F_NON_BLOCKING);
  const Deadline limit = deadline_after(kPurgeReports);
  while (pipeline_.has_unconfirmed() && !has_passed(limit)) {
    rd_kafka_poll(handle_->get(), timeout_ms(left_until(limit, kReportTurn)));
  }
  pipeline_.fail_all(reason);
}

void Producer::replace_if_failed(const Deadline& deadline) {
  if (!fatal_) return;
  Deadline limit = deadline_after(kFatalDrain);
  if (deadline) limit = std::min(*limit, *deadline);
  while (pipeline_.has_unconfirmed() && !has_passed(limit)) {
    rd_kafka_poll(handle_->get(), timeout_ms(left_until(limit, kReportTurn)));
  }
  give_up(fmt::format("{}: {}", bootstrap_, *fatal_));
  handle_->clear_callbacks();
  log::warning(kLog, "broker {}: the client had to be started anew after: {}", bootstrap_, *fatal_);
  start();
  pipeline_.new_client();
}

void Producer::on_error(rd_kafka_resp_err_t error, const char* reason) {
  if (error == RD_KAFKA_RESP_ERR__FATAL) {
    fatal_ = reason;
    return;
  }
  // A broker that closes an idle connection is no trouble.
  if (pipeline_.empty()) {
    log::debug(kLog, "broker {}: {}", bootstrap_, reason);
    return;
  }
  last_error_ = reason;
  if (const auto count = outage_.occurred(options_.clock->monotonic())) {
    log::warning(kLog, "broker {}: {} block(s) wait: {} ({} error(s) since the last report)",
                 bootstrap_, pipeline_.size(), reason, *count);
  }
}

std::string Producer::failure_of(const rd_kafka_message_t& message) const {
  const std::string topic = rd_kafka_topic_name(message.rkt);
  // rd_kafka_message_errstr() is for received messages: it takes the payload for the text.
  const char* detail = rd_kafka_message_produce_errstr(&message);
  std::string reason = detail != nullptr ? detail : text_of(message.err);
  if (fatal_) reason += fmt::format(" after: {}", *fatal_);
  if (message.err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) {
    reason += fmt::format(": {} bytes of {}", message.len, rules_.channels_in(topic));
  }
  return fmt::format("{} ({}): {}", topic, bootstrap_, reason);
}

void Producer::on_delivery(const rd_kafka_message_t& message) {
  // The flight is in the pipeline until its last message was reported.
  auto& flight = *static_cast<InFlight*>(message._private);
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    pipeline_.reported(flight, message.len, failure_of(message));
    return;
  }
  pipeline_.reported(flight, message.len, "");
  is_warm_ = true;
  last_error_.clear();
  if (const auto ended = outage_.ended()) {
    log::info(kLog, "broker {}: messages are delivered again, after {} error(s)", bootstrap_,
              ended->total);
  }
}

void Producer::wait_turn(const Deadline& deadline) {
  rd_kafka_t* handle = handle_->get();
  if (is_warm_) {
    rd_kafka_poll(handle, timeout_ms(left_until(deadline, kReportTurn)));
    return;
  }
  // An idempotent producer asks for its id half a second after its start, or when an answer about
  // topics arrives on a connection that stands by then. Such a question makes the first block 17
  // times as fast: 30 ms instead of 506 ms on a real broker on this machine's loopback.
  if (rd_kafka_poll(handle, timeout_ms(left_until(deadline, kFirstTurn))) > 0) return;
  if (ask_for_topics(deadline)) is_warm_ = true;
}

bool Producer::ask_for_topics(const Deadline& deadline) {
  const struct rd_kafka_metadata* metadata = nullptr;
  if (rd_kafka_metadata(handle_->get(), 0, nullptr, &metadata,
                        timeout_ms(left_until(deadline, kReportTurn))) !=
      RD_KAFKA_RESP_ERR_NO_ERROR) {
    return false;
  }
  rd_kafka_metadata_destroy(metadata);
  return true;
}

rd_kafka_resp_err_t Producer::produce(const EncodedMessage& message, InFlight& flight,
                                      const Deadline& deadline) {
  for (;;) {
    const rd_kafka_resp_err_t error = produce_once(handle_->get(), message, flight);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) pipeline_.sent(flight, message.bytes.size());
    // A completion must not wait.
    if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL || pipeline_.is_completing() ||
        has_passed(deadline)) {
      return error;
    }
    wait_turn(deadline);
  }
}

void Producer::send(const std::vector<EncodedMessage>& messages, InFlight& flight,
                    const Deadline& deadline) {
  bool has_asked = pipeline_.is_completing();
  for (const EncodedMessage& message : messages) {
    rd_kafka_resp_err_t error = produce(message, flight, deadline);
    if (is_remembered(error) && !std::exchange(has_asked, true) && ask_for_topics(deadline)) {
      error = produce(message, flight, deadline);
    }
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    flight.failures.push_back(
        fmt::format("{} ({}): {}{}", message.topic, bootstrap_, text_of(error), trouble()));
  }
}

}
