#include "testing/real_broker.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>

#include "kafka/handle.hpp"
#include "testing/processes.hpp"

namespace arrakis::testing {

namespace {

constexpr int kAdminTimeoutMs = 30'000;

/// How long a broker may take to end, or to start.
constexpr std::chrono::seconds kLifeTimeout{120};
constexpr std::chrono::milliseconds kLookInterval{10};

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

/// One broker process: its folder, its ports and its life.
class BrokerNode {
 public:
  BrokerNode() {
    std::string folder =
        (std::filesystem::temp_directory_path() / "arrakis-broker-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = folder;
  }
  ~BrokerNode() {
    if (getpid() != owner_) return;  // a child of the test's that exits
    try {
      end(SIGKILL);
      std::filesystem::remove_all(folder_);
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
    }
  }
  BrokerNode(const BrokerNode&) = delete;
  BrokerNode& operator=(const BrokerNode&) = delete;

  [[nodiscard]] std::string address() const { return fmt::format("127.0.0.1:{}", ports_.first()); }
  [[nodiscard]] std::string controller() const {
    return fmt::format("127.0.0.1:{}", ports_.second());
  }
  void set_properties(Settings properties) { properties_ = std::move(properties); }
  void set_heap(std::string heap) { heap_ = std::move(heap); }

  /// Starts it, on the data there is, and waits until it answers.
  void start() {
    std::string options;
    for (const auto& [key, value] : properties_) options += fmt::format(" -o '{}={}'", key, value);
    // The watcher ends the broker when this process dies without a word.
    run(
        fmt::format("KAFKA_LIBS='{}/kafka' KAFKA_WAIT={} {} '{}/tests/kafka/start.sh' -k -p {} "
                    "-d '{}/data' -w {}{}",
                    ARRAKIS_DEPS, kLifeTimeout.count(), heap_, ARRAKIS_SOURCE_DIR, ports_.first(),
                    folder_, getpid(), options));
    std::ifstream(folder_ + "/data/broker.pid") >> pid_;
    if (pid_ <= 0) throw std::runtime_error("no process id of the broker at " + address());
  }

  void freeze() const {
    if (pid_ > 0) testing::freeze(pid_);
  }
  void thaw() const {
    if (pid_ > 0) ::kill(pid_, SIGCONT);
  }

  /// Ends it with a signal; returns when the process and its ports are gone.
  void end(int signal) {
    if (pid_ <= 0) return;
    ::kill(pid_, signal);
    // A process whose first thread has gone may still have others that hold its ports.
    const auto lives = [&] {
      return is_running(pid_) || is_listened_to(ports_.first()) || is_listened_to(ports_.second());
    };
    const auto deadline = std::chrono::steady_clock::now() + kLifeTimeout;
    while (lives()) {
      if (std::chrono::steady_clock::now() > deadline) {
        throw std::runtime_error(fmt::format("broker {} did not end", pid_));
      }
      std::this_thread::sleep_for(kLookInterval);
    }
    pid_ = 0;
    // The number may be given to another process.
    std::filesystem::remove(folder_ + "/data/broker.pid");
  }

 private:
  PortPair ports_;
  std::string folder_;
  Settings properties_;
  std::string heap_;
  pid_t pid_ = 0;
  pid_t owner_ = getpid();
};

namespace {

Settings properties_of(const RealBroker::Options& options) {
  Settings properties{{"auto.create.topics.enable", "false"}};
  if (options.fast_fencing) {
    properties.emplace_back("broker.session.timeout.ms", "2000");
    properties.emplace_back("broker.heartbeat.interval.ms", "500");
  }
  properties.insert(properties.end(), options.settings.begin(), options.settings.end());
  return properties;
}

void create_topic_on(const std::string& bootstrap, const std::string& name, int partitions,
                     int replicas, const Settings& settings) {
  rd_kafka_NewTopic_t* topic =
      rd_kafka_NewTopic_new(name.c_str(), partitions, replicas, nullptr, 0);
  rd_kafka_NewTopic_set_config(topic, "max.message.bytes", "20000000");
  for (const auto& [key, value] : settings) {
    rd_kafka_NewTopic_set_config(topic, key.c_str(), value.c_str());
  }
  const std::unique_ptr<rd_kafka_NewTopic_t, void (*)(rd_kafka_NewTopic_t*)> owner(
      topic, rd_kafka_NewTopic_destroy);
  administer(bootstrap, "creating a topic", [&](rd_kafka_t* handle, rd_kafka_queue_t* queue) {
    rd_kafka_CreateTopics(handle, &topic, 1, nullptr, queue);
  });
}

}

RealBroker& RealBroker::get() {
  static RealBroker broker{Options()};
  return broker;
}

RealBroker::RealBroker(const Options& options) : node_(std::make_unique<BrokerNode>()) {
  node_->set_properties(properties_of(options));
  node_->start();
  bootstrap_ = node_->address();
}

RealBroker::~RealBroker() = default;

void RealBroker::kill() { node_->end(SIGKILL); }
void RealBroker::terminate() { node_->end(SIGTERM); }
void RealBroker::restart() { node_->start(); }
void RealBroker::freeze() { node_->freeze(); }
void RealBroker::thaw() { node_->thaw(); }

void RealBroker::create_topic(const std::string& name, int partitions, const Settings& settings) {
  create_topic_on(bootstrap_, name, partitions, 1, settings);
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
  const PartitionList before = one_partition(topic, 0, offset);
  rd_kafka_DeleteRecords_t* records = rd_kafka_DeleteRecords_new(before.get());
  const std::unique_ptr<rd_kafka_DeleteRecords_t, void (*)(rd_kafka_DeleteRecords_t*)> owner(
      records, rd_kafka_DeleteRecords_destroy);
  administer(bootstrap_, "deleting records", [&](rd_kafka_t* handle, rd_kafka_queue_t* queue) {
    rd_kafka_DeleteRecords(handle, &records, 1, nullptr, queue);
  });
}

RealCluster::RealCluster(const RealBroker::Options& options) {
  std::vector<std::string> voters;
  std::vector<std::string> addresses;
  for (std::size_t i = 0; i < kNodes; ++i) {
    nodes_[i] = std::make_unique<BrokerNode>();
    voters.push_back(fmt::format("{}@{}", i + 1, nodes_[i]->controller()));
    addresses.push_back(nodes_[i]->address());
  }
  bootstrap_ = fmt::format("{}", fmt::join(addresses, ","));
  const std::string quorum = fmt::format("{}", fmt::join(voters, ","));
  // Together: none is ready before two of them are up.
  std::vector<std::future<void>> starts;
  for (std::size_t i = 0; i < kNodes; ++i) {
    BrokerNode& node = *nodes_[i];
    Settings properties = properties_of(options);
    for (const auto& [key, value] : Settings{{"node.id", fmt::format("{}", i + 1)},
                                             {"controller.quorum.voters", quorum},
                                             {"offsets.topic.replication.factor", "3"},
                                             {"transaction.state.log.replication.factor", "3"},
                                             {"transaction.state.log.min.isr", "2"},
                                             {"default.replication.factor", "3"},
                                             {"min.insync.replicas", "2"}}) {
      properties.emplace_back(key, value);
    }
    node.set_properties(std::move(properties));
    node.set_heap("KAFKA_HEAP=256m");
    starts.push_back(std::async(std::launch::async, [&node] { node.start(); }));
  }
  for (std::future<void>& start : starts) start.get();
}

RealCluster::~RealCluster() = default;

void RealCluster::create_topic(const std::string& name, int partitions, const Settings& settings) {
  create_topic_on(bootstrap_, name, partitions, static_cast<int>(kNodes), settings);
}
void RealCluster::kill(std::size_t node) { nodes_.at(node)->end(SIGKILL); }
void RealCluster::terminate(std::size_t node) { nodes_.at(node)->end(SIGTERM); }
void RealCluster::restart(std::size_t node) { nodes_.at(node)->start(); }
void RealCluster::freeze(std::size_t node) { nodes_.at(node)->freeze(); }
void RealCluster::thaw(std::size_t node) { nodes_.at(node)->thaw(); }

}
