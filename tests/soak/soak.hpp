#pragma once

/// Everything at random: a broker that dies and comes back, topics that are remade, purged and fed
/// with rubbish, readers that are held up, opened and cancelled, while everything that comes out is
/// held against what went in.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "soak/feeder.hpp"
#include "soak/journal.hpp"
#include "soak/ledger.hpp"
#include "soak/watcher.hpp"
#include "testing/raw_producer.hpp"
#include "testing/real_broker.hpp"

namespace arrakis::soak {

struct SoakOptions {
  Duration length = std::chrono::minutes(2);
  std::uint64_t seed = 0;
  /// How soon everything has to flow again after an act.
  Duration recovery = std::chrono::seconds(5);
};

/// One soak on a broker of its own. The seed decides which acts follow each other, with what and
/// for how long; when they happen is up to the machine.
class Soak {
 public:
  Soak(const SoakOptions& options, Journal& journal);
  ~Soak();
  Soak(const Soak&) = delete;
  Soak& operator=(const Soak&) = delete;

  /// Runs to its end, or until the journal has a violation.
  void run();
  /// What went in and what each reader made of it.
  [[nodiscard]] std::string summary() const;

 private:
  using Act = void (Soak::*)();
  struct Weighted {
    const char* kind;
    int weight;
    Act act;
  };
  static const std::vector<Weighted>& acts();

  // Acts. Each ends with the broker up.
  void kill();
  void terminate();
  void freeze();
  void recreate_topic();
  void purge();
  void send_bad_messages();
  void send_misplaced_blocks();
  void hold_reader();
  void slow_reader();
  void stall_publishers();
  void visit();
  void read_history();

  void die_and_return(const char* how, void (testing::RealBroker::*end)());
  void open_without_broker();
  /// Reads the past [first, end) and finds all of it.
  void check_history(std::int64_t first, std::int64_t end);
  /// Waits until every free reader has data of every topic that was published after now.
  void wait_until_it_flows(const std::string& after);
  /// Waits without an act, measuring once a second.
  void pass(Duration time);
  void finish();

  void act(const std::string& details) { journal_.act(kind_, details); }
  /// From `low` to `high`, both included.
  std::int64_t pick(std::int64_t low, std::int64_t high);
  Duration pick_time(Duration low, Duration high);
  std::size_t pick_topic() { return static_cast<std::size_t>(pick(0, kTopics - 1)); }

  static constexpr std::int64_t kTopics = 4;

  const SoakOptions options_;
  Journal& journal_;
  std::mt19937_64 random_;
  testing::RealBroker broker_;
  const std::vector<Topic> topics_;
  Ledger ledger_;
  std::unique_ptr<Feeder> feeder_;
  std::vector<std::unique_ptr<Watcher>> watchers_;
  std::jthread measuring_;
  std::string kind_;  // of the act that runs
  std::uint64_t bad_sent_ = 0;
};

}
