#pragma once

/// Which messages of a partition were delivered lately: for a topic that is deleted and made again
/// under a reader. librdkafka goes on at the old position, so messages of the new topic may be
/// delivered before anybody can know that it is another one; when the new topic is then read from
/// its beginning, they must not come twice.

#include <cstddef>
#include <cstdint>
#include <deque>

#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

/// Messages in the order of their offsets, the latest kMost of them. Not safe from several threads
/// at once.
class Delivered {
 public:
  /// More than a live partition delivers between two comparisons of its topic's id; 64 KiB.
  static constexpr std::size_t kMost = 4096;

  void note(std::int64_t offset, GpsTime time) {
    if (messages_.size() == kMost) forget_first(1);
    messages_.push_back({offset, time});
    ++noted_;
  }
  /// How many were ever noted: a mark for forget_until().
  [[nodiscard]] std::uint64_t noted() const { return noted_; }
  /// Forgets what was noted before the mark.
  void forget_until(std::uint64_t mark) {
    const std::uint64_t first = noted_ - messages_.size();
    if (mark > first) forget_first(static_cast<std::size_t>(mark - first));
  }
  /// Whether this message, which comes after those asked about before it, was delivered; forgets
  /// what can't be asked about any more.
  bool take(std::int64_t offset, GpsTime time) {
    while (!messages_.empty() && messages_.front().offset < offset) messages_.pop_front();
    return !messages_.empty() && messages_.front().offset == offset &&
           messages_.front().time == time;
  }
  [[nodiscard]] bool empty() const { return messages_.empty(); }

 private:
  struct Message {
    std::int64_t offset;
    GpsTime time;
  };
  void forget_first(std::size_t count) {
    for (; count > 0 && !messages_.empty(); --count) messages_.pop_front();
  }

  std::deque<Message> messages_;
  std::uint64_t noted_ = 0;
};

}
