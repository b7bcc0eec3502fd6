#include "testing/real_broker.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>

#include "kafka/handle.hpp"

namespace arrakis::testing {

namespace {

constexpr int kAdminTimeoutMs = 30'000;

bool is_free(int port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool free =
      bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(descriptor);
  return free;
}

/// A port that is free together with the next one, for the broker's controller.
int free_port_pair() {
  constexpr int kLowest = 20'000;
  constexpr int kCount = 5'000;  // below the range of outgoing connections
  for (int attempt = 0; attempt < kCount; ++attempt) {
    const int port = kLowest + 2 * ((getpid() + attempt) % kCount);
    if (is_free(port) && is_free(port + 1)) return port;
  }
  throw std::runtime_error("no two free ports in a row");
}

/// Runs an admin operation through a client of its own and throws when it fails.
void administer(const std::string& bootstrap, const char* what,
                const std::function<void(rd_kafka_t*, rd_kafka_queue_t*)>& request) {
  const auto handle = Handle::create(HandleKind::producer, bootstrap, {}, {});
  const QueuePtr queue(rd_kafka_queue_new(handle->get()));
  request(handle->get(), queue.get());
  rd_kafka_event_t* event = rd_kafka_queue_poll(queue.get(), kAdminTimeoutMs);
  if (event == nullptr) throw std::runtime_error(fmt::format("{}: no answer", what));
  const rd_kafka_resp_err_t error = rd_kafka_event_error(event);
  std::string text = rd_kafka_event_error_string(event);
  std::size_t count = 0;
  if (const auto* created = rd_kafka_event_CreateTopics_result(event)) {
    const auto** topics = rd_kafka_CreateTopics_result_topics(created, &count);
    if (count > 0 && rd_kafka_topic_result_error(topics[0]) != RD_KAFKA_RESP_ERR_NO_ERROR) {
      rd_kafka_event_destroy(event);
      throw std::runtime_error(fmt::format("{}: refused", what));
    }
  }
  rd_kafka_event_destroy(event);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    throw std::runtime_error(fmt::format("{}: {}", what, text));
  }
}

}

std::string run(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("can't run " + command);
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), size);
  }
  const int status = pclose(pipe);
  if (status != 0) {
    throw std::runtime_error(fmt::format("status {} of {}\n{}", status, command, output));
  }
  return output;
}

std::string python() { return ARRAKIS_DEPS "/venv/bin/python"; }

RealBroker& RealBroker::get() {
  static RealBroker broker;
  return broker;
}

RealBroker::RealBroker() : port_(free_port_pair()) {
  std::string folder = (std::filesystem::temp_directory_path() / "arrakis-broker-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = folder;
  // The watcher ends the broker when this process dies without a word.
  bootstrap_ = run(fmt::format(
      "KAFKA_LIBS='{}/kafka' KAFKA_WAIT=120 '{}/tests/kafka/start.sh' -p {} -d '{}/data' -w {} "
      "-o auto.create.topics.enable=false",
      ARRAKIS_DEPS, ARRAKIS_SOURCE_DIR, port_, folder_, getpid()));
  while (!bootstrap_.empty() && bootstrap_.back() == '\n') bootstrap_.pop_back();
}

RealBroker::~RealBroker() {
  const std::string command = fmt::format("'{}/tests/kafka/stop.sh' -p {} -d '{}/data' -w",
                                          ARRAKIS_SOURCE_DIR, port_, folder_);
  if (std::system(command.c_str()) == 0) {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
}

void RealBroker::create_topic(const std::string& name, int partitions, const Settings& settings) {
  rd_kafka_NewTopic_t* topic = rd_kafka_NewTopic_new(name.c_str(), partitions, 1, nullptr, 0);
  rd_kafka_NewTopic_set_config(topic, "max.message.bytes", "20000000");
  for (const auto& [key, value] : settings) {
    rd_kafka_NewTopic_set_config(topic, key.c_str(), value.c_str());
  }
  const std::unique_ptr<rd_kafka_NewTopic_t, void (*)(rd_kafka_NewTopic_t*)> owner(
      topic, rd_kafka_NewTopic_destroy);
  administer(bootstrap_, "creating a topic", [&](rd_kafka_t* handle, rd_kafka_queue_t* queue) {
    rd_kafka_CreateTopics(handle, &topic, 1, nullptr, queue);
  });
}

void RealBroker::delete_topic(const std::string& name) {
  rd_kafka_DeleteTopic_t* topic = rd_kafka_DeleteTopic_new(name.c_str());
  const std::unique_ptr<rd_kafka_DeleteTopic_t, void (*)(rd_kafka_DeleteTopic_t*)> owner(
      topic, rd_kafka_DeleteTopic_destroy);
  administer(bootstrap_, "deleting a topic", [&](rd_kafka_t* handle, rd_kafka_queue_t* queue) {
    rd_kafka_DeleteTopics(handle, &topic, 1, nullptr, queue);
  });
}

void RealBroker::delete_records(const std::string& topic, std::int64_t offset) {
  const PartitionList before = make_partition_list(1);
  rd_kafka_topic_partition_list_add(before.get(), topic.c_str(), 0)->offset = offset;
  rd_kafka_DeleteRecords_t* records = rd_kafka_DeleteRecords_new(before.get());
  const std::unique_ptr<rd_kafka_DeleteRecords_t, void (*)(rd_kafka_DeleteRecords_t*)> owner(
      records, rd_kafka_DeleteRecords_destroy);
  administer(bootstrap_, "deleting records", [&](rd_kafka_t* handle, rd_kafka_queue_t* queue) {
    rd_kafka_DeleteRecords(handle, &records, 1, nullptr, queue);
  });
}

}
