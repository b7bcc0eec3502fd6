#include "bench/broker.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <thread>
#include <utility>

#include "arrakis/kafka.hpp"
#include "kafka/limits.hpp"

namespace arrakis::bench {
namespace {

constexpr Duration kAdminTimeout = std::chrono::seconds(30);
/// The embedded broker answers a fetch that finds nothing when its time is over, not when a
/// message comes.
constexpr const char* kEmbeddedFetchWaitMs = "4";

struct EventDeleter {
  void operator()(rd_kafka_event_t* event) const { rd_kafka_event_destroy(event); }
};

/// Lets `request` ask the broker; throws what it or any topic's answer says is wrong.
void administer(const std::string& bootstrap, const char* what,
                const std::function<void(rd_kafka_t*, rd_kafka_queue_t*)>& request) {
  const std::shared_ptr<Handle> handle = Handle::create(HandleKind::producer, bootstrap, {}, {});
  const QueuePtr queue(rd_kafka_queue_new(handle->get()));
  request(handle->get(), queue.get());
  const std::unique_ptr<rd_kafka_event_t, EventDeleter> event(
      rd_kafka_queue_poll(queue.get(), timeout_ms(kAdminTimeout)));
  if (event == nullptr || rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    throw Error(Errc::broker_unavailable,
                fmt::format("broker {}: {}: {}", bootstrap, what,
                            event ? rd_kafka_event_error_string(event.get()) : "no answer"));
  }
  std::size_t count = 0;
  const rd_kafka_topic_result_t** results = nullptr;
  if (const auto* created = rd_kafka_event_CreateTopics_result(event.get())) {
    results = rd_kafka_CreateTopics_result_topics(created, &count);
  } else if (const auto* deleted = rd_kafka_event_DeleteTopics_result(event.get())) {
    results = rd_kafka_DeleteTopics_result_topics(deleted, &count);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (rd_kafka_topic_result_error(results[i]) == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    throw Error(Errc::broker_unavailable,
                fmt::format("broker {}: {} '{}': {}", bootstrap, what,
                            rd_kafka_topic_result_name(results[i]),
                            text_of(rd_kafka_topic_result_error(results[i]))));
  }
}

/// A topic that was just made has no leader yet that knows it.
void await_leaders(const std::string& bootstrap, const std::vector<std::string>& topics) {
  const std::shared_ptr<Handle> handle = Handle::create(HandleKind::producer, bootstrap, {}, {});
  const auto deadline = std::chrono::steady_clock::now() + kAdminTimeout;
  for (const std::string& topic : topics) {
    std::int64_t low = 0;
    std::int64_t high = 0;
    for (;;) {
      const rd_kafka_resp_err_t error = rd_kafka_query_watermark_offsets(
          handle->get(), topic.c_str(), 0, &low, &high, timeout_ms(kAdminTimeout));
      if (error == RD_KAFKA_RESP_ERR_NO_ERROR) break;
      if (std::chrono::steady_clock::now() > deadline) {
        throw Error(Errc::broker_unavailable,
                    fmt::format("broker {}: topic '{}': {}", bootstrap, topic, text_of(error)));
      }
      std::this_thread::sleep_for(kRetryPause);
    }
  }
}

}

KafkaProperties embedded_consumer_properties() {
  return {{"fetch.wait.max.ms", kEmbeddedFetchWaitMs}};
}

Broker::Broker(std::string bootstrap) : bootstrap_(std::move(bootstrap)) {
  if (!bootstrap_.empty()) return;
  embedded_ = std::make_unique<EmbeddedBroker>();
  bootstrap_ = embedded_->bootstrap();
}

Broker::~Broker() {
  if (topics_.empty()) return;
  std::vector<rd_kafka_DeleteTopic_t*> topics;
  for (const std::string& name : topics_) topics.push_back(rd_kafka_DeleteTopic_new(name.c_str()));
  try {
    administer(bootstrap_, "deleting topics", [&](rd_kafka_t* handle, rd_kafka_queue_t* queue) {
      rd_kafka_DeleteTopics(handle, topics.data(), topics.size(), nullptr, queue);
    });
  } catch (const Error& error) {
    std::fprintf(stderr, "topics were left behind: %s\n", error.what());
  }
  rd_kafka_DeleteTopic_destroy_array(topics.data(), topics.size());
}

KafkaProperties Broker::consumer_properties() const {
  return is_embedded() ? embedded_consumer_properties() : KafkaProperties();
}

void Broker::create_topics(const std::vector<std::string>& names) {
  if (is_embedded()) {
    for (const std::string& name : names) embedded_->create_topic(name);
    return;
  }
  struct Topics {
    std::vector<rd_kafka_NewTopic_t*> all;
    ~Topics() { rd_kafka_NewTopic_destroy_array(all.data(), all.size()); }
  } topics;
  for (const std::string& name : names) {
    topics.all.push_back(rd_kafka_NewTopic_new(name.c_str(), 1, 1, nullptr, 0));
    rd_kafka_NewTopic_set_config(topics.all.back(), "max.message.bytes",
                                 fmt::format("{}", kMaxMessageBytes).c_str());
  }
  topics_.insert(topics_.end(), names.begin(), names.end());
  administer(bootstrap_, "creating topics", [&](rd_kafka_t* handle, rd_kafka_queue_t* queue) {
    rd_kafka_CreateTopics(handle, topics.all.data(), topics.all.size(), nullptr, queue);
  });
  await_leaders(bootstrap_, names);
}

std::string unique_prefix(const std::string& what) {
  constexpr std::size_t kLength = 8;
  return what + random_alphanum(kLength) + "p";
}

}
