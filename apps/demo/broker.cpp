#include "demo/broker.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "arrakis/error.hpp"
#include "kafka/embedded_broker.hpp"

namespace arrakis::demo {
namespace {

[[noreturn]] void fail(const std::string& what, int code) {
  throw Error(Errc::io, fmt::format("{}: {}", what, std::generic_category().message(code)));
}

class EmbeddedDemoBroker final : public Broker {
 public:
  explicit EmbeddedDemoBroker(const std::vector<std::string>& topics) {
    for (const std::string& topic : topics) broker_.create_topic(topic);
  }
  [[nodiscard]] std::string bootstrap() const override { return broker_.bootstrap(); }
  [[nodiscard]] std::string description() const override {
    return fmt::format("librdkafka's mock cluster in this process, {}", bootstrap());
  }
  /// A fetch that finds nothing is answered when its time is over, not when a message comes.
  [[nodiscard]] std::map<std::string, std::string> reader_properties() const override {
    return {{"fetch.wait.max.ms", "4"}};
  }

 private:
  EmbeddedBroker broker_;
};

/// A port of the loopback interface that is free now, and the socket that keeps it so.
class FreePort {
 public:
  FreePort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (socket_ < 0) fail("no socket", errno);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, any, length) != 0 || ::getsockname(socket_, any, &length) != 0) {
      const int code = errno;
      ::close(socket_);
      fail("no free port", code);
    }
    port_ = ntohs(address.sin_port);
  }
  ~FreePort() { ::close(socket_); }
  FreePort(const FreePort&) = delete;
  FreePort& operator=(const FreePort&) = delete;
  [[nodiscard]] std::string text() const { return std::to_string(port_); }

 private:
  int socket_;
  int port_ = 0;
};

/// A folder of its own under the system's temporary one, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_((std::filesystem::temp_directory_path() / "arrakis-demo-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) fail("no temporary folder " + path_, errno);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A child process whose output is read here. In a process group of its own, so that a Ctrl-C
/// reaches only this program, which then ends the child in good order.
class Child {
 public:
  explicit Child(const std::vector<std::string>& arguments) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) fail("no pipe", errno);
    output_ = pipe[0];
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, pipe[1], STDERR_FILENO);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t ignored_here;
    ::sigemptyset(&ignored_here);
    ::sigaddset(&ignored_here, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes, &ignored_here);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);

    std::vector<std::string> words = arguments;
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const int code = ::posix_spawn(&pid_, argv[0], &actions, &attributes, argv.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(pipe[1]);
    if (code != 0) {
      ::close(output_);
      fail(arguments.front() + " can't be run", code);
    }
  }
  ~Child() {
    if (!status_) {
      ::kill(-pid_, SIGTERM);
      wait();
    }
    ::close(output_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Reads what it prints until it ends; false when `stopped` answered true before.
  bool run(const std::function<bool()>& stopped) {
    constexpr int kLookMs = 100;
    while (!stopped()) {
      if (readable(kLookMs)) {
        if (read_some()) continue;
        wait();
        return true;
      }
      if (ended()) {  // though what it left running may hold the pipe open
        while (readable(0) && read_some()) {
        }
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] bool succeeded() const {
    return status_ && WIFEXITED(*status_) && WEXITSTATUS(*status_) == 0;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  [[nodiscard]] bool readable(int wait_ms) const {
    pollfd ready{output_, POLLIN, 0};
    return ::poll(&ready, 1, wait_ms) > 0;
  }
  bool read_some() {
    std::array<char, 4096> buffer{};
    const ssize_t count = ::read(output_, buffer.data(), buffer.size());
    if (count > 0) text_.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0;
  }
  bool ended() {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    return status_.has_value();
  }
  void wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    status_ = status;
  }

  pid_t pid_ = -1;
  int output_ = -1;
  std::string text_;
  std::optional<int> status_;
};

class RealBroker final : public Broker {
 public:
  explicit RealBroker(std::string scripts) : scripts_(std::move(scripts)) {}
  ~RealBroker() override {
    try {
      Child stop({scripts_ + "/stop.sh", "-d", folder_.path(), "-w"});
      stop.run([] { return false; });
    } catch (const Error&) {  // nothing more can be done about it
    }
  }
  RealBroker(const RealBroker&) = delete;
  RealBroker& operator=(const RealBroker&) = delete;

  bool start(const std::function<bool()>& stopped) {
    std::vector<std::string> arguments{scripts_ + "/start.sh", "-d", folder_.path(), "-w",
                                       fmt::format("{}", ::getpid())};
    {
      const FreePort broker;
      const FreePort controller;
      arguments.insert(arguments.end(), {"-p", broker.text(), "-c", controller.text()});
    }
    Child child(arguments);
    if (!child.run(stopped)) return false;
    std::string text = child.text();
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (!child.succeeded()) {
      throw Error(Errc::unavailable, fmt::format("the broker did not start: {}", text));
    }
    bootstrap_ = text.substr(text.rfind('\n') + 1);
    return true;
  }
  [[nodiscard]] std::string bootstrap() const override { return bootstrap_; }
  [[nodiscard]] std::string description() const override {
    return fmt::format("Apache Kafka in {}, {}", folder_.path(), bootstrap_);
  }

 private:
  std::string scripts_;
  TemporaryFolder folder_;
  std::string bootstrap_;
};

}  // namespace

std::unique_ptr<Broker> start_embedded_broker(const std::vector<std::string>& topics) {
  return std::make_unique<EmbeddedDemoBroker>(topics);
}

std::unique_ptr<Broker> start_real_broker(const std::string& scripts,
                                          const std::function<bool()>& stopped) {
  auto broker = std::make_unique<RealBroker>(scripts);
  if (!broker->start(stopped)) return nullptr;
  return broker;
}

}
