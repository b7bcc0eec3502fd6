#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrakis/kafka.hpp"
#include "core/logging.hpp"
#include "kafka/pipeline.hpp"
#include "kafka/producer.hpp"
#include "kafka/publish_rules.hpp"
#include "wire/row_encoder.hpp"

namespace arrakis::inline v1 {

namespace {

constexpr std::string_view kLog = "publisher";

std::size_t total_bytes(const std::vector<EncodedMessage>& messages) {
  std::size_t bytes = 0;
  for (const EncodedMessage& message : messages) bytes += message.bytes.size();
  return bytes;
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
  [[nodiscard]] PublisherStats stats() const { return pipeline_.stats(); }
  [[nodiscard]] Duration stride() const { return rules_.stride(); }
  [[nodiscard]] const ChannelSet& channels() const { return rules_.channels(); }

 private:
  [[nodiscard]] Deadline deadline() const {
    return options_.timeout ? deadline_after(*options_.timeout) : std::nullopt;
  }
  [[nodiscard]] std::string timeout_text() const { return format_duration(*options_.timeout); }

  void require_not_completing(std::string_view call) const;
  /// Tells, once, that blocks for which publish() had stopped waiting did not arrive.
  void throw_if_late_failure();
  std::vector<EncodedMessage> prepare(const SeriesBlock& block);
  [[nodiscard]] bool has_room(std::size_t bytes) const;
  void wait_for_room(const SeriesBlock& block, std::size_t bytes, const Deadline& deadline);
  /// Waits a turn and completes blocks. False: the deadline has passed.
  bool serve(const Deadline& deadline);

  const PublisherOptions options_;
  PublishRules rules_;
  RowEncoder encoder_;
  Pipeline pipeline_;
  Producer producer_;
};

KafkaPublisher::Impl::Impl(std::string bootstrap, ChannelSet channels, PublisherOptions options)
    : options_(std::move(options)),
      rules_(std::move(channels), options_),
      producer_(std::move(bootstrap), options_, rules_, pipeline_) {
  if (options_.timeout && *options_.timeout < Duration(0)) {
    throw Error(Errc::invalid_argument,
                fmt::format("the publisher's timeout of {} is negative", timeout_text()));
  }
}

KafkaPublisher::Impl::~Impl() {
  if (!flush(options_.close_timeout)) {
    log::warning(kLog, "broker {}: closed with {} block(s) not confirmed within {}{}",
                 producer_.bootstrap(), pipeline_.size(), format_duration(options_.close_timeout),
                 producer_.trouble());
    producer_.give_up(fmt::format("{}: the publisher was closed", producer_.bootstrap()));
    pipeline_.complete();
  }
  if (const auto late = pipeline_.take_late_failure()) {
    log::warning(kLog, "broker {}: {}", producer_.bootstrap(), late->what());
  }
}

bool KafkaPublisher::Impl::serve(const Deadline& deadline) {
  producer_.wait_turn(deadline);
  pipeline_.complete();
  return !has_passed(deadline);
}

void KafkaPublisher::Impl::require_not_completing(std::string_view call) const {
  if (!pipeline_.is_completing()) return;
  throw Error(Errc::failed_precondition,
              fmt::format("{} was called from inside a completion, where nothing may wait", call));
}

void KafkaPublisher::Impl::throw_if_late_failure() {
  serve(std::chrono::steady_clock::now());
  if (const auto late = pipeline_.take_late_failure()) throw Error(*late);
}

bool KafkaPublisher::Impl::has_room(std::size_t bytes) const {
  if (pipeline_.empty()) return true;
  return pipeline_.size() < std::max<std::size_t>(options_.max_in_flight, 1) &&
         pipeline_.bytes() + bytes <= options_.max_in_flight_bytes;
}

void KafkaPublisher::Impl::wait_for_room(const SeriesBlock& block, std::size_t bytes,
                                         const Deadline& deadline) {
  while (!has_room(bytes)) {
    if (!pipeline_.is_completing() && serve(deadline)) continue;
    if (has_room(bytes)) return;
    pipeline_.refused();
    const std::string what =
        fmt::format("broker {}: {} block(s) with {} bytes are on their way", producer_.bootstrap(),
                    pipeline_.size(), pipeline_.bytes());
    const std::string which = fmt::format("the block at GPS {} was not sent{}",
                                          format_time(block.time()), producer_.trouble());
    if (pipeline_.is_completing()) {
      throw Error(Errc::failed_precondition,
                  fmt::format("{}: no room, and a completion must not wait: {}", what, which));
    }
    throw Error(Errc::timeout, fmt::format("{} and none was confirmed within {}: {}", what,
                                           timeout_text(), which));
  }
}

std::vector<EncodedMessage> KafkaPublisher::Impl::prepare(const SeriesBlock& block) {
  try {
    const SeriesBlock admitted = rules_.admit(block, pipeline_.newest());
    std::vector<EncodedMessage> messages = encoder_.encode(admitted);
    rules_.check_sizes(admitted, messages);
    return messages;
  } catch (const Error&) {
    pipeline_.refused();
    throw;
  }
}

void KafkaPublisher::Impl::publish(const SeriesBlock& block) {
  require_not_completing("publish()");
  throw_if_late_failure();
  const Deadline limit = deadline();
  producer_.replace_if_failed(limit);
  const std::vector<EncodedMessage> messages = prepare(block);
  wait_for_room(block, total_bytes(messages), limit);
  InFlight& flight = pipeline_.add(block.time(), InFlight::Teller::caller);
  producer_.send(messages, flight, limit);
  while (flight.unconfirmed > 0) {
    if (serve(limit) || flight.unconfirmed == 0) continue;
    const std::size_t unconfirmed = flight.unconfirmed;
    pipeline_.gave_up(flight);
    throw Error(
        Errc::timeout,
        fmt::format("broker {}: {} message(s) of the block at GPS {} not confirmed within {}; "
                    "delivery goes on{}",
                    producer_.bootstrap(), unconfirmed, format_time(block.time()), timeout_text(),
                    producer_.trouble()));
  }
  if (const auto failure = pipeline_.take(flight)) throw Error(*failure);
}

void KafkaPublisher::Impl::publish_async(const SeriesBlock& block, Completion done) {
  const bool is_nested = pipeline_.is_completing();
  if (!is_nested) throw_if_late_failure();
  const Deadline limit = deadline();
  if (!is_nested) producer_.replace_if_failed(limit);
  const std::vector<EncodedMessage> messages = prepare(block);
  wait_for_room(block, total_bytes(messages), limit);
  if (!done) done = [](const SeriesBlock&, const std::optional<Error>&) {};
  InFlight& flight = pipeline_.add(block.time(), InFlight::Teller::completion);
  producer_.send(messages, flight, limit);
  flight.block = block;
  flight.completion = std::move(done);
  if (!is_nested) serve(std::chrono::steady_clock::now());
}

bool KafkaPublisher::Impl::flush(Duration timeout) {
  require_not_completing("flush()");
  const Deadline limit = deadline_after(timeout);
  pipeline_.complete();
  while (!pipeline_.empty()) {
    if (!serve(limit)) return pipeline_.empty();
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
PublisherStats KafkaPublisher::stats() const { return impl_->stats(); }
Duration KafkaPublisher::stride() const { return impl_->stride(); }
const ChannelSet& KafkaPublisher::channels() const { return impl_->channels(); }

}
