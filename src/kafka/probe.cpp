#include "kafka/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "arrakis/kafka.hpp"
#include "kafka/limits.hpp"

namespace arrakis::inline v1 {

Result<Readable> first_readable(const std::string& bootstrap, const KafkaProperties& properties,
                                const PartitionKey& partition, std::int64_t from, Duration timeout,
                                const std::function<bool()>& stop) {
  using Steady = std::chrono::steady_clock;
  const Steady::time_point deadline = Steady::now() + timeout;
  const auto handle = Handle::create(HandleKind::consumer, bootstrap,
                                     {{"group.id", generate_groupid()},
                                      {"enable.auto.commit", "false"},
                                      {"auto.offset.reset", "error"},
                                      {"enable.partition.eof", "true"},
                                      {"fetch.wait.max.ms", "100"},
                                      {"queued.min.messages", "1"}},
                                     properties);
  rd_kafka_poll_set_consumer(handle->get());
  const PartitionList list = one_partition(partition.topic, partition.partition, from);
  std::string reason = "no answer in time";
  if (const rd_kafka_resp_err_t error = rd_kafka_assign(handle->get(), list.get())) {
    reason = text_of(error);
  } else {
    while (Steady::now() < deadline && !stop()) {
      const Duration left =
          std::clamp<Duration>(deadline - Steady::now(), Duration(1), kRetryPause);
      const MessagePtr message(rd_kafka_consumer_poll(handle->get(), timeout_ms(left)));
      if (!message) continue;
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) return Readable{message->offset, true};
      if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) return Readable{message->offset, false};
      reason = rd_kafka_message_errstr(message.get());
    }
  }
  return tl::unexpected(
      Error(Errc::broker_unavailable,
            fmt::format("reading {} [{}] at offset {} from {}: {}", partition.topic,
                        partition.partition, from, bootstrap, reason)));
}

}
