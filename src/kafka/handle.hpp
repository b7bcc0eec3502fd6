#pragma once

/// The one RAII layer over librdkafka's C API: handles, partition lists, borrowed messages.

#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/error.hpp"
#include "wire/row_decoder.hpp"

namespace arrakis::inline v1 {

using KafkaProperties = std::map<std::string, std::string>;

enum class HandleKind { consumer, producer };

/// A librdkafka client. Destroyed by the last of those who share it: a message keeps its handle, so
/// that a message may outlive its reader (rd_kafka_destroy would wait for it).
class Handle {
 public:
  struct Callbacks {
    /// A connection-level error; called on the thread that polls the handle.
    std::function<void(rd_kafka_resp_err_t, const char* reason)> on_error;
    /// A delivery report (producers); called on the thread that polls the handle.
    std::function<void(const rd_kafka_message_t&)> on_delivery;
  };

  /// `properties` over `defaults` over what every handle of ours sets. Does not contact the broker.
  /// Error(invalid_argument) quotes a property that librdkafka does not take.
  static std::shared_ptr<Handle> create(HandleKind kind, const std::string& bootstrap,
                                        const KafkaProperties& defaults,
                                        const KafkaProperties& properties,
                                        Callbacks callbacks = {});
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  [[nodiscard]] rd_kafka_t* get() const { return handle_; }
  [[nodiscard]] const std::string& bootstrap() const { return bootstrap_; }
  /// Stops calling back: for an owner that goes before the last message does.
  void clear_callbacks() { callbacks_ = {}; }

 private:
  friend struct HandleHooks;
  Handle(std::string bootstrap, Callbacks callbacks);

  std::string bootstrap_;
  Callbacks callbacks_;
  HandleKind kind_ = HandleKind::consumer;
  rd_kafka_t* handle_ = nullptr;
};

struct PartitionListDeleter {
  void operator()(rd_kafka_topic_partition_list_t* list) const {
    rd_kafka_topic_partition_list_destroy(list);
  }
};
using PartitionList = std::unique_ptr<rd_kafka_topic_partition_list_t, PartitionListDeleter>;

inline PartitionList make_partition_list(std::size_t capacity) {
  return PartitionList(rd_kafka_topic_partition_list_new(static_cast<int>(capacity)));
}
/// A list of one; librdkafka's own default for the offset is "none".
inline PartitionList one_partition(const std::string& topic, std::int32_t partition,
                                   std::int64_t offset = RD_KAFKA_OFFSET_INVALID) {
  PartitionList list = make_partition_list(1);
  rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = offset;
  return list;
}
inline std::span<rd_kafka_topic_partition_t> elements(const PartitionList& list) {
  return {list->elems, static_cast<std::size_t>(list->cnt)};
}

struct MessageDeleter {
  void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
};
using MessagePtr = std::unique_ptr<rd_kafka_message_t, MessageDeleter>;

struct QueueDeleter {
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
};
using QueuePtr = std::unique_ptr<rd_kafka_queue_t, QueueDeleter>;

/// librdkafka's text for an error, "Broker: Unknown topic or partition".
inline const char* text_of(rd_kafka_resp_err_t error) { return rd_kafka_err2str(error); }

/// A timeout as librdkafka takes it: whole milliseconds, rounded up, never negative or infinite.
int timeout_ms(Duration timeout);

}
