#pragma once

/// The reference's own server, arrakis-server from the private environment, on a free loopback
/// port. It goes with the process, also when that is killed. One thread at a time.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "testing/processes.hpp"
#include "testing/temporary_folder.hpp"

namespace arrakis::testing {

/// One server: its folder, its port and its life. Several that know each other: make them, give
/// each a scope map with their URLs, then start them.
class PythonServer {
 public:
  using Arguments = std::vector<std::string>;

  /// Does not run yet; its URL is known.
  PythonServer() = default;
  /// Runs and answers.
  explicit PythonServer(const Arguments& arguments) { start(arguments); }
  ~PythonServer();
  PythonServer(const PythonServer&) = delete;
  PythonServer& operator=(const PythonServer&) = delete;

  [[nodiscard]] std::string url() const;
  /// Writes a file into the server's folder - channels, a publisher's config, a scope map, tokens;
  /// its path, for arguments.
  [[nodiscard]] std::string write(const std::string& name, const std::string& content) const {
    return folder_.write(name, content);
  }

  /// Starts it with what stands behind "arrakis-server --url URL": global options, then a backend
  /// and its options, {"mock", "--with-faults", "full-gaps"} or {"kafka", "--kafka-url", …}.
  /// Returns when it answers; throws with what it wrote when it ends before that. The process ends
  /// with the thread that calls this.
  void start(const Arguments& arguments);
  /// The same arguments, port and folder again, after kill() or terminate().
  void restart() { start(Arguments(arguments_)); }

  /// SIGKILL, and waits until the process is gone.
  void kill();
  /// The same with SIGTERM.
  void terminate();
  /// Stops the process as a debugger would (SIGSTOP): its connections stay, nothing is answered.
  void freeze() const;
  void thaw() const;

  /// What it wrote, since its first start, on standard output and standard error.
  [[nodiscard]] std::string log() const;

 private:
  void launch();
  void await_answer();
  bool has_ended();
  void end(int signal);

  PortPair port_;
  TemporaryFolder folder_;
  Arguments arguments_;
  pid_t pid_ = 0;
  pid_t owner_ = 0;
};

/// A publisher's configuration (TOML) for the kafka backend: what stands in "[publisher]" and the
/// channels, {name, data type, rate}.
struct PublisherConfig {
  struct Item {
    std::string name;
    std::string data_type;
    int sample_rate = 16;
  };
  std::string publisher_id;
  std::int64_t stride_ns = 62'500'000;
  std::int64_t max_latency_ns = 1'000'000'000;
  bool is_dynamic = false;
  std::string replay_id;
  std::vector<Item> channels;

  [[nodiscard]] std::string toml() const;
};

}  // namespace arrakis::testing
