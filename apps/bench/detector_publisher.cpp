#include "bench/detector_publisher.hpp"

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

/// The life of the publishing process.
void publish(const std::string& bootstrap, const ChannelSet& channels, int commands, int answers) {
  Broker broker(bootstrap);
  StrideMessages messages(channels);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < messages.size(); ++i) names.push_back(messages.topic(i));
  broker.create_topics(names);
  // Many publishers are one here: what they ask of the broker must not be more than theirs is.
  const std::shared_ptr<Handle> producer = Handle::create(
      HandleKind::producer, broker.bootstrap(),
      {{"linger.ms", "0"}, {"acks", "1"}, {"queue.buffering.max.messages", "0"}}, {});
  std::vector<TopicPtr> topics;
  for (const std::string& name : names) {
    topics.emplace_back(rd_kafka_topic_new(producer->get(), name.c_str(), nullptr));
  }
  write_line(answers, kReady, broker.bootstrap());
  if (!wait_for_byte(commands)) return;

  Duration latest{};
  GpsTime time = system_clock().now().floor_to(kStride);
  while (!is_told_before(commands, time + kStride)) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      messages.set_time(i, time);
      const std::span<std::byte> bytes = messages.bytes(i);
      if (rd_kafka_produce(topics[i].get(), 0, RD_KAFKA_MSG_F_COPY, bytes.data(), bytes.size(),
                           nullptr, 0, nullptr) != 0) {
        throw Error(Errc::delivery_failed,
                    fmt::format("{}: {}", names[i], text_of(rd_kafka_last_error())));
      }
    }
    latest = std::max(latest, system_clock().now() - (time + kStride));
    rd_kafka_poll(producer->get(), 0);
    time += kStride;
  }
  rd_kafka_purge(producer->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  write_line(answers, kReady,
             fmt::format("{:.3f}", std::chrono::duration<double, std::milli>(latest).count()));
}

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) {
    throw Error(Errc::io, "no pipe: " + std::generic_category().message(errno));
  }
  return ends;
}

}

DetectorPublisher::DetectorPublisher(const std::string& bootstrap, const ChannelSet& channels) {
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
      publish(bootstrap, channels, commands[0], answers[1]);
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

DetectorPublisher::~DetectorPublisher() { end(); }

void DetectorPublisher::start() {
  const char go = '\n';
  if (::write(commands_, &go, 1) != 1) throw Error(Errc::io, "the publishing process is gone");
}

double DetectorPublisher::stop() {
  start();  // the second byte ends it
  return std::stod(read_line());
}

std::string DetectorPublisher::read_line() {
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

void DetectorPublisher::end() {
  if (commands_ >= 0) ::close(commands_);
  if (answers_ >= 0) ::close(answers_);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}
