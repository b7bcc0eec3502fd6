#include "bench/publisher_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <system_error>
#include <vector>

#include "arrakis/error.hpp"
#include "bench/broker.hpp"
#include "bench/stride_messages.hpp"
#include "bench/synthetic.hpp"

namespace arrakis::bench {
namespace {

/// How the two processes talk: a line begins with one of these.
constexpr char kReady = '+';
constexpr char kFailed = '-';
/// What may wait in librdkafka, 64 MiB.
constexpr const char* kQueueKilobytes = "65536";
constexpr Duration kFlushTimeout = std::chrono::seconds(60);

void write_line(int fd, char kind, const std::string& text) {
  const std::string line = kind + text + '\n';
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t count = ::write(fd, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // the parent is gone, which the next wait tells
    done += static_cast<std::size_t>(count);
  }
}

/// Waits for a byte, or for the end of the other process, which is told by false.
bool wait_for_byte(int fd) {
  char byte = 0;
  ssize_t count = 0;
  do {
    count = ::read(fd, &byte, 1);
  } while (count < 0 && errno == EINTR);
  return count == 1;
}

/// Whether the other process spoke, or ended, before `until`.
bool is_told_before(int fd, GpsTime until) {
  const Duration left = std::max(until - system_clock().now(), Duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec limit{seconds.count(), (left - seconds).count()};
  pollfd wanted{fd, POLLIN, 0};
  return ::ppoll(&wanted, 1, &limit, nullptr) > 0;
}

struct TopicDeleter {
  void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
};
using TopicPtr = std::unique_ptr<rd_kafka_topic_t, TopicDeleter>;

/// What the publishing process does.
class Publishing {
 public:
  Publishing(const std::string& bootstrap, const ChannelSet& channels, int commands, int answers)
      : broker_(bootstrap), messages_(channels), commands_(commands), answers_(answers) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < messages_.size(); ++i) names.push_back(messages_.topic(i));
    broker_.create_topics(names);
    // Many publishers are one here: what they ask of the broker must not be more than theirs is.
    Handle::Callbacks callbacks;
    callbacks.on_delivery = [this](const rd_kafka_message_t& message) { on_delivery(message); };
    producer_ = Handle::create(HandleKind::producer, broker_.bootstrap(),
                               {{"linger.ms", "0"},
                                {"acks", "1"},
                                {"queue.buffering.max.messages", "0"},
                                {"queue.buffering.max.kbytes", kQueueKilobytes}},
                               {}, callbacks);
    for (const std::string& name : names) {
      topics_.emplace_back(rd_kafka_topic_new(producer_->get(), name.c_str(), nullptr));
    }
  }

  void run(const std::optional<Backlog>& backlog) {
    write_line(answers_, kReady, broker_.bootstrap());
    if (!wait_for_byte(commands_)) return;
    const Duration latest = backlog ? publish_backlog(*backlog) : publish_live();
    rd_kafka_purge(producer_->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    write_line(answers_, kReady,
               fmt::format("{:.3f}", std::chrono::duration<double, std::milli>(latest).count()));
  }

 private:
  /// How late a stride was handed over at most.
  Duration publish_live() {
    Duration latest{};
    GpsTime time = system_clock().now().floor_to(kStride);
    while (!is_told_before(commands_, time + kStride)) {
      publish_stride(time);
      latest = std::max(latest, system_clock().now() - (time + kStride));
      time += kStride;
    }
    return latest;
  }

  Duration publish_backlog(const Backlog& backlog) {
    for (std::size_t n = 0; n < backlog.strides; ++n) {
      if (is_told_before(commands_, GpsTime::min())) return {};
      publish_stride(backlog.from + static_cast<std::int64_t>(n) * kStride);
      if ((n + 1) % backlog.report_every == 0) {
        if (rd_kafka_flush(producer_->get(), timeout_ms(kFlushTimeout)) !=
            RD_KAFKA_RESP_ERR_NO_ERROR) {
          throw Error(Errc::delivery_failed,
                      fmt::format("not confirmed within {}", format_duration(kFlushTimeout)));
        }
        write_line(answers_, kReady, "");
      }
    }
    wait_for_byte(commands_);
    return {};
  }

  void publish_stride(GpsTime time) {
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      messages_.set_time(i, time);
      produce(i);
    }
    rd_kafka_poll(producer_->get(), 0);
    if (!failure_.empty()) throw Error(Errc::delivery_failed, failure_);
  }

  void produce(std::size_t i) {
    const std::span<std::byte> bytes = messages_.bytes(i);
    while (rd_kafka_produce(topics_[i].get(), 0, RD_KAFKA_MSG_F_COPY, bytes.data(), bytes.size(),
                            nullptr, 0, nullptr) != 0) {
      if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        throw Error(Errc::delivery_failed,
                    fmt::format("{}: {}", messages_.topic(i), text_of(rd_kafka_last_error())));
      }
      rd_kafka_poll(producer_->get(), timeout_ms(kFlushTimeout));
    }
  }

  void on_delivery(const rd_kafka_message_t& message) {
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR || !failure_.empty()) return;
    failure_ = fmt::format("{}: {}", rd_kafka_topic_name(message.rkt), text_of(message.err));
  }

  Broker broker_;
  StrideMessages messages_;
  int commands_;
  int answers_;
  std::string failure_;  // the first that a message had
  std::shared_ptr<Handle> producer_;
  std::vector<TopicPtr> topics_;
};

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) {
    throw Error(Errc::io, "no pipe: " + std::generic_category().message(errno));
  }
  return ends;
}

}

PublisherProcess::PublisherProcess(const std::string& bootstrap, const ChannelSet& channels,
                                   std::optional<Backlog> backlog) {
  const std::array<int, 2> commands = make_pipe();
  const std::array<int, 2> answers = make_pipe();
  pid_ = ::fork();
  if (pid_ < 0) throw Error(Errc::io, "no process: " + std::generic_category().message(errno));
  if (pid_ == 0) {
    ::close(commands[1]);
    ::close(answers[0]);
    // The end of the parent is told by the pipe.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGINT, SIG_IGN);
    int status = EXIT_SUCCESS;
    try {
      Publishing(bootstrap, channels, commands[0], answers[1]).run(backlog);
    } catch (const std::exception& error) {
      write_line(answers[1], kFailed, error.what());
      status = EXIT_FAILURE;
    }
    ::_exit(status);
  }
  ::close(commands[0]);
  ::close(answers[1]);
  commands_ = commands[1];
  answers_ = answers[0];
  try {
    bootstrap_ = read_line();
  } catch (...) {
    end();
    throw;
  }
}

PublisherProcess::~PublisherProcess() { end(); }

void PublisherProcess::start() const {
  const char go = '\n';
  if (::write(commands_, &go, 1) != 1) throw Error(Errc::io, "the publishing process is gone");
}

void PublisherProcess::wait_for_report() { read_line(); }

double PublisherProcess::stop() {
  start();  // the second byte ends it
  return std::stod(read_line());
}

std::string PublisherProcess::read_line() const {
  std::string line;
  char byte = 0;
  for (;;) {
    const ssize_t count = ::read(answers_, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw Error(Errc::io, "the publishing process ended without a word");
    if (byte == '\n') break;
    line += byte;
  }
  if (line.front() == kReady) return line.substr(1);
  throw Error(Errc::io, "the publishing process: " + line.substr(1));
}

void PublisherProcess::end() const {
  if (commands_ >= 0) ::close(commands_);
  if (answers_ >= 0) ::close(answers_);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}
