#pragma once

/// A Source of messages that lie in memory, as they would have been received.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "arrakis/channel.hpp"
#include "arrakis/source.hpp"
#include "wire/row_decoder.hpp"

namespace arrakis::bench {

/// put() may be called from any thread.
class MemorySource final : public Source {
 public:
  struct Message {
    std::size_t stream = 0;
    ReceivedBytes bytes;
  };

  /// A stream a partition. Throws Error(precondition) for a channel without one.
  explicit MemorySource(const ChannelSet& channels);

  void put(std::span<const Message> messages);
  /// Of the thread that polls, and read from there only.
  [[nodiscard]] std::uint64_t decoded() const { return decoded_; }
  [[nodiscard]] double decode_seconds() const {
    return std::chrono::duration<double>(decode_time_).count();
  }

  [[nodiscard]] const std::vector<StreamInfo>& streams() const override { return streams_; }
  void open(const OpenOptions& /*options*/) override {}
  bool poll(Sink& sink) override;
  void set_wakeup(std::function<void()> wake) override;
  void pause(std::size_t /*stream*/) override {}
  void resume(std::size_t /*stream*/) override {}
  [[nodiscard]] bool caught_up(std::size_t /*stream*/) override { return true; }
  [[nodiscard]] bool exhausted() override;
  [[nodiscard]] bool done() const override { return closed_; }
  void close() override { closed_ = true; }

 private:
  std::vector<StreamInfo> streams_;
  std::vector<RowDecoder> decoders_;  // by stream
  std::mutex mutex_;                  // of waiting_
  std::deque<Message> waiting_;
  std::vector<Message> batch_;
  std::size_t next_ = 0;  // in batch_
  std::uint64_t decoded_ = 0;
  std::chrono::nanoseconds decode_time_{};
  std::mutex wake_mutex_;
  std::function<void()> wake_;
  std::atomic<bool> closed_{false};
};

}
