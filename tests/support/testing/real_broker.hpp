#pragma once

/// A real Kafka broker on free loopback ports, in a temporary folder, for one test program.

#include <string>
#include <utility>
#include <vector>

namespace arrakis::testing {

/// Starts with the first use, stops with the process (also when that is killed). Not a class to
/// have two of: tests of several brokers start them with tests/kafka/start.sh.
class RealBroker {
 public:
  /// The program's broker; topics are not created by themselves.
  static RealBroker& get();

  [[nodiscard]] const std::string& bootstrap() const { return bootstrap_; }

  using Settings = std::vector<std::pair<std::string, std::string>>;
  void create_topic(const std::string& name, int partitions = 1, const Settings& settings = {});
  void delete_topic(const std::string& name);
  /// Deletes the records of partition 0 before `offset`, as retention does.
  void delete_records(const std::string& topic, std::int64_t offset);

  RealBroker(const RealBroker&) = delete;
  RealBroker& operator=(const RealBroker&) = delete;

 private:
  RealBroker();
  ~RealBroker();

  std::string folder_;
  int port_ = 0;
  std::string bootstrap_;
};

/// Runs a shell command; throws with its output unless it succeeds. What it printed on standard
/// output.
std::string run(const std::string& command);

/// The private environment's Python.
std::string python();

}
