#pragma once

/// Real Kafka brokers on free loopback ports, in temporary folders, for one test program. They go
/// with the process, also when that is killed. Not safe from several threads at once, except where
/// it says so.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace arrakis::testing {

/// Properties of a broker or of a topic.
using Settings = std::vector<std::pair<std::string, std::string>>;

class BrokerNode;

/// One broker. Topics are not created by themselves. Safe from any thread: bootstrap() and what
/// changes topics.
class RealBroker {
 public:
  struct Options {
    /// A broker that was killed may come back only when the controller has given up its old
    /// session: after three seconds instead of twelve.
    bool fast_fencing = false;
    Settings settings;
  };

  /// The program's broker, which starts with the first use.
  static RealBroker& get();

  explicit RealBroker(const Options& options);
  ~RealBroker();
  RealBroker(const RealBroker&) = delete;
  RealBroker& operator=(const RealBroker&) = delete;

  [[nodiscard]] const std::string& bootstrap() const { return bootstrap_; }

  void create_topic(const std::string& name, int partitions = 1, const Settings& settings = {});
  void delete_topic(const std::string& name);
  /// Deletes the records of partition 0 before `offset`, as retention does.
  void delete_records(const std::string& topic, std::int64_t offset);

  /// SIGKILL, and waits until the process is gone; its data stays.
  void kill();
  /// The same with SIGTERM.
  void terminate();
  /// Starts it again on the same data and ports; returns when it answers.
  void restart();
  /// Stops the process as a debugger would (SIGSTOP): its connections stay, nothing is answered.
  void freeze();
  void thaw();

 private:
  std::unique_ptr<BrokerNode> node_;
  std::string bootstrap_;
};

/// Three brokers that are controllers as well. Every topic has three replicas, of which two must
/// have a message before it is confirmed. Safe from any thread: bootstrap() and create_topic().
class RealCluster {
 public:
  static constexpr std::size_t kNodes = 3;

  RealCluster() : RealCluster(RealBroker::Options()) {}
  explicit RealCluster(const RealBroker::Options& options);
  ~RealCluster();
  RealCluster(const RealCluster&) = delete;
  RealCluster& operator=(const RealCluster&) = delete;

  [[nodiscard]] const std::string& bootstrap() const { return bootstrap_; }

  void create_topic(const std::string& name, int partitions = 1, const Settings& settings = {});

  /// What RealBroker's do, to one of the nodes 0, 1, 2.
  void kill(std::size_t node);
  void terminate(std::size_t node);
  void restart(std::size_t node);
  void freeze(std::size_t node);
  void thaw(std::size_t node);

 private:
  std::array<std::unique_ptr<BrokerNode>, kNodes> nodes_;
  std::string bootstrap_;
};

/// Runs a shell command; throws with its output unless it succeeds. What it printed on standard
/// output.
std::string run(const std::string& command);

/// The private environment's Python.
std::string python();

}
