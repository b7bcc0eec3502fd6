/// What the library takes from the process that it lives in: nothing that it does not give back.

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "arrakis/arrakis.hpp"
#include "testing/channels.hpp"
#include "testing/collector.hpp"
#include "testing/eventually.hpp"
#include "testing/peers.hpp"
#include "testing/real_broker.hpp"
#include "testing/traffic.hpp"

#if defined(__SANITIZE_ADDRESS__)
namespace {
/// A child made by fork() has lost the threads whose stacks hold what it would be told to have
/// lost.
bool is_child = false;
}
extern "C" int __lsan_is_turned_off() { return is_child ? 1 : 0; }
#endif

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using testing::eventually;
using testing::kStride;
using testing::make_block;
using testing::make_partition;
using testing::on_grid;
using testing::Peer;
using testing::RealBroker;

class Process : public ::testing::Test {
 protected:
  [[nodiscard]] ChannelSet make_topic() const {
    const std::string partition = random_alphanum(8);
    broker_.create_topic("arrakis-" + partition);
    return ChannelSet(make_partition(partition, 1));
  }
  /// Everything that the Kafka side of the library does, with brokers that live and that don't.
  void use_library() const {
    const ChannelSet channels = make_topic();
    {
      KafkaPublisher publisher(broker_.bootstrap(), channels);
      for (int i = 0; i < kBlocks; ++i) {
        publisher.publish(make_block(base_ + i * kStride, channels, i));
      }
      StreamOptions options;
      options.start = base_;
      options.end = base_ + kBlocks * kStride;
      BlockStream stream(std::make_unique<KafkaReader>(broker_.bootstrap(), channels), options);
      int blocks = 0;
      while (stream.next()) ++blocks;
      EXPECT_EQ(blocks, kBlocks);
    }
    for (const Peer::Kind kind : {Peer::Kind::dead, Peer::Kind::mute}) {
      const Peer peer(kind);
      ReaderOptions reader_options;
      reader_options.timeout = 200ms;
      KafkaReader reader(peer.address(), channels, reader_options);
      EXPECT_THROW(reader.open({}), Error);
      PublisherOptions publisher_options;
      publisher_options.timeout = 200ms;
      publisher_options.properties["message.timeout.ms"] = "300";
      KafkaPublisher publisher(peer.address(), channels, publisher_options);
      EXPECT_THROW(publisher.publish(make_block(base_, channels, 0)), Error);
    }
  }

  static constexpr int kBlocks = 16;
  RealBroker& broker_ = RealBroker::get();
  const GpsTime base_ = on_grid(system_clock().now()) - 60s;
};

/// Signal actions as text, so that a difference can be read.
std::vector<std::string> signal_actions() {
  std::vector<std::string> actions;
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0) continue;  // the C library's own
    std::string text = std::to_string(signal) + ":";
    std::array<unsigned char, sizeof action.sa_handler> handler{};
    std::memcpy(handler.data(), &action.sa_handler, handler.size());
    for (const unsigned char byte : handler) text += " " + std::to_string(byte);
    text += " flags " + std::to_string(action.sa_flags) + " blocks";
    for (int other = 1; other <= SIGRTMAX; ++other) {
      if (sigismember(&action.sa_mask, other) == 1) text += " " + std::to_string(other);
    }
    actions.push_back(text);
  }
  return actions;
}

std::set<int> blocked_signals() {
  sigset_t mask{};
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  std::set<int> blocked;
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (sigismember(&mask, signal) == 1) blocked.insert(signal);
  }
  return blocked;
}

TEST_F(Process, NoSignalsActionIsChangedNorAreSignalsBlocked) {
  const std::vector<std::string> before = signal_actions();
  const std::set<int> blocked_before = blocked_signals();
  const ChannelSet channels = make_topic();
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  BlockStream stream(std::make_unique<KafkaReader>(broker_.bootstrap(), channels));
  publisher.publish(make_block(base_, channels, 0));
  stream.next(10ms);
  EXPECT_EQ(signal_actions(), before);
  EXPECT_EQ(blocked_signals(), blocked_before);
  use_library();
  EXPECT_EQ(signal_actions(), before);
  EXPECT_EQ(blocked_signals(), blocked_before);
}

/// Sends this process's standard output and error into a file while it lives.
class CapturedOutput {
 public:
  CapturedOutput() : file_(std::tmpfile()) {
    std::fflush(stdout);
    std::fflush(stderr);
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const int descriptor = static_cast<int>(i) + STDOUT_FILENO;
      kept_[i] = dup(descriptor);
      dup2(fileno(file_.get()), descriptor);
    }
  }
  ~CapturedOutput() {
    if (!stopped_) stop();
  }
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

  /// What was written.
  std::string stop() {
    std::fflush(stdout);
    std::fflush(stderr);
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      dup2(kept_[i], static_cast<int>(i) + STDOUT_FILENO);
      close(kept_[i]);
    }
    stopped_ = true;
    std::string text;
    std::rewind(file_.get());
    for (int c = std::fgetc(file_.get()); c != EOF; c = std::fgetc(file_.get())) {
      text.push_back(static_cast<char>(c));
    }
    return text;
  }

 private:
  struct Closer {
    void operator()(std::FILE* file) const {
      // Owned by the pointer that calls this.
      std::fclose(file);  // NOLINT(cppcoreguidelines-owning-memory)
    }
  };
  std::unique_ptr<std::FILE, Closer> file_;
  bool stopped_ = false;
  std::array<int, 2> kept_{};
};

TEST_F(Process, NothingIsPrinted) {
  CapturedOutput output;
  use_library();
  EXPECT_EQ(output.stop(), "");
}

/// Whether a child that calls `leave` ends, with status 0, while the parent lives on.
::testing::AssertionResult child_ends(void (*leave)(int)) {
  const pid_t child = fork();
  if (child == 0) {
#if defined(__SANITIZE_ADDRESS__)
    is_child = true;
#endif
    leave(0);
  }
  int status = 0;
  if (!eventually([&] { return waitpid(child, &status, WNOHANG) == child; })) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return ::testing::AssertionFailure() << "the child hangs";
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return ::testing::AssertionFailure() << "the child's status is " << status;
  }
  return ::testing::AssertionSuccess();
}

TEST_F(Process, AForkedChildExitsAndTheParentsStreamGoesOn) {
  const ChannelSet channels = make_topic();
  testing::ReaderThread reader(broker_.bootstrap(), channels, base_);
  testing::StreamThread stream(broker_.bootstrap(), channels, base_);
  testing::Writer writer(broker_.bootstrap(), channels, base_);
  const auto goes_on = [&] {
    const int before = writer.confirmed();
    return eventually([&] {
      return reader.ledger().least() > before + 8 && stream.ledger().least() > before + 8;
    });
  };
  ASSERT_TRUE(goes_on());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(child_ends(_exit));
    EXPECT_TRUE(goes_on());
    EXPECT_TRUE(child_ends(std::exit));
    EXPECT_TRUE(goes_on());
  }
  EXPECT_TRUE(writer.stop(60s));
  EXPECT_TRUE(eventually([&] { return reader.ledger().least() == writer.sent(); }));
  EXPECT_TRUE(eventually([&] { return stream.ledger().least() == writer.sent(); }));
  EXPECT_EQ(reader.ledger().faults(), "");
  EXPECT_EQ(stream.ledger().faults(), "");
}

std::size_t entries_of(const char* folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder),
                                                std::filesystem::directory_iterator()));
}

struct Usage {
  std::size_t threads = entries_of("/proc/self/task");
  std::size_t descriptors = entries_of("/proc/self/fd");
  friend bool operator==(const Usage&, const Usage&) = default;
};

/// Bytes that were allocated and not freed; 0 where a sanitizer allocates and finds leaks itself.
std::int64_t bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

std::int64_t resident_bytes() {
  std::int64_t total = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST_F(Process, AThousandReadersLeaveNoThreadNoDescriptorAndNoByteBehind) {
  constexpr int kCycles = 1000;
  // Less than any object of a reader would be, were it left behind in every cycle.
  constexpr std::int64_t kBytesACycle = 64;
  constexpr std::int64_t kResidentSlack = 8 << 20;
  const ChannelSet channels = make_topic();
  KafkaPublisher publisher(broker_.bootstrap(), channels);
  for (int i = 0; i < kBlocks; ++i) publisher.publish(make_block(base_ + i * kStride, channels, i));
  const Peer dead(Peer::Kind::dead);
  const Peer mute(Peer::Kind::mute);
  const auto without_broker = [&](const Peer& peer) {
    ReaderOptions options;
    options.timeout = 10ms;
    KafkaReader reader(peer.address(), channels, options);
    EXPECT_THROW(reader.open({}), Error);
  };
  const auto read_all = [&](bool close) {
    KafkaReader reader(broker_.bootstrap(), channels);
    reader.open({.start = GpsTime()});
    Collector got;
    EXPECT_TRUE(got.poll_until(
        reader, [&] { return got.parts.size() == kBlocks; }, 60s));
    if (close) reader.close();
  };
  const auto stream_some = [&] {
    StreamOptions options;
    options.start = base_;
    BlockStream stream(std::make_unique<KafkaReader>(broker_.bootstrap(), channels), options);
    EXPECT_TRUE(stream.next(60s));
  };
  const auto publish_one = [&](int i) {
    KafkaPublisher once(broker_.bootstrap(), ChannelSet(make_partition("NOWHERE", 1)));
    EXPECT_THROW(once.publish(make_block(base_ + i * kStride, channels, i)), Error);
  };

  Usage usage;
  std::int64_t bytes = 0;
  std::int64_t resident = 0;
  for (int i = 0; i < kCycles; ++i) {
    switch (i % 10) {
      case 3:
        without_broker(dead);
        break;
      case 6:
        without_broker(mute);
        break;
      case 7:
        stream_some();
        break;
      case 9:
        publish_one(i);
        break;
      default:
        read_all(i % 2 == 0);
    }
    if (i == 9) usage = Usage();
    if (i == kCycles / 2) {
      bytes = bytes_in_use();
      resident = resident_bytes();
    }
  }
  EXPECT_TRUE(eventually([&] { return Usage() == usage; }))
      << Usage().threads << " threads of " << usage.threads << ", " << Usage().descriptors
      << " descriptors of " << usage.descriptors;
  EXPECT_LE(bytes_in_use() - bytes, kBytesACycle * kCycles / 2);
  EXPECT_LE(resident_bytes() - resident, kResidentSlack);
}

}
}
