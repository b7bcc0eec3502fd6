#include "kafka/embedded_broker.hpp"

#include <fmt/format.h>

namespace arrakis::inline v1 {

EmbeddedBroker::EmbeddedBroker(int brokers)
    : handle_(Handle::create(HandleKind::producer, {}, {},
                             {{"test.mock.num.brokers", fmt::format("{}", brokers)}})),
      cluster_(rd_kafka_handle_mock_cluster(handle_->get())) {
  if (cluster_ == nullptr) throw Error(Errc::unsupported, "the embedded broker can't be started");
}

std::string EmbeddedBroker::bootstrap() const { return rd_kafka_mock_cluster_bootstraps(cluster_); }

void EmbeddedBroker::create_topic(const std::string& name, int partitions) {
  const rd_kafka_resp_err_t error =
      rd_kafka_mock_topic_create(cluster_, name.c_str(), partitions, 1);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    throw Error(Errc::invalid_argument, fmt::format("topic '{}': {}", name, text_of(error)));
  }
}

}
