#pragma once

/// Produces arbitrary bytes, for messages that no publisher of ours would send.

#include <memory>
#include <stdexcept>
#include <string>

#include "kafka/handle.hpp"

namespace arrakis::testing {

class RawProducer {
 public:
  explicit RawProducer(const std::string& bootstrap, const KafkaProperties& properties = {})
      : handle_(Handle::create(HandleKind::producer, bootstrap, {{"linger.ms", "0"}}, properties)) {
  }

  void send(const std::string& topic, std::string bytes) {
    produce(topic, bytes.data(), bytes.size());
  }
  [[nodiscard]] rd_kafka_t* client() const { return handle_->get(); }
  void send_null(const std::string& topic) { produce(topic, nullptr, 0); }

 private:
  void produce(const std::string& topic, void* data, std::size_t size) {
    rd_kafka_topic_t* handle = rd_kafka_topic_new(handle_->get(), topic.c_str(), nullptr);
    const int result =
        rd_kafka_produce(handle, 0, RD_KAFKA_MSG_F_COPY, data, size, nullptr, 0, nullptr);
    rd_kafka_topic_destroy(handle);
    if (result != 0) throw std::runtime_error("not produced to " + topic);
    if (rd_kafka_flush(handle_->get(), 10'000) != RD_KAFKA_RESP_ERR_NO_ERROR) {
      throw std::runtime_error("not delivered to " + topic);
    }
  }

  std::shared_ptr<Handle> handle_;
};

}
