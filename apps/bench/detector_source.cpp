#include "bench/detector_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "arrakis/error.hpp"
#include "kafka/limits.hpp"
#include "wire/part.hpp"

namespace arrakis::bench {

MemorySource::MemorySource(const ChannelSet& channels) {
  std::vector<std::vector<Channel>> groups;
  for (const Channel& channel : channels) {
    if (!channel.partition_id) {
      throw Error(Errc::precondition, fmt::format("'{}' has no partition", channel.name()));
    }
    if (groups.empty() || groups.back().front().partition_id != channel.partition_id) {
      groups.emplace_back();
    }
    groups.back().push_back(channel);
  }
  for (std::vector<Channel>& group : groups) {
    StreamInfo info{fmt::format("memory/{}", *group.front().partition_id),
                    ChannelSet(std::move(group))};
    decoders_.emplace_back(info.channels);
    streams_.push_back(std::move(info));
  }
}

void MemorySource::put(std::span<const Message> messages) {
  {
    const std::unique_lock lock(mutex_);
    waiting_.insert(waiting_.end(), messages.begin(), messages.end());
  }
  const std::unique_lock lock(wake_mutex_);
  if (wake_) wake_();
}

bool MemorySource::poll(Sink& sink) {
  for (bool refilled = false;;) {
    if (next_ == batch_.size()) {
      if (refilled) break;
      refilled = true;
      const std::unique_lock lock(mutex_);
      const std::size_t count = std::min(waiting_.size(), kPollBatch);
      const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
      batch_.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
      waiting_.erase(waiting_.begin(), end);
      next_ = 0;
      if (batch_.empty()) return true;
    }
    Message message = std::move(batch_[next_++]);
    const auto began = std::chrono::steady_clock::now();
    DecodeResult result = decoders_[message.stream].decode(std::move(message.bytes));
    decode_time_ += std::chrono::steady_clock::now() - began;
    if (result.status != DecodeResult::Status::decoded) {
      throw Error(Errc::decode, "a message of our own: " + result.reason);
    }
    ++decoded_;
    if (!sink.on_part(message.stream, std::move(result.part))) break;
  }
  const std::unique_lock lock(mutex_);
  const bool is_drained = waiting_.empty() && next_ == batch_.size();
  if (!is_drained) {
    const std::unique_lock wake_lock(wake_mutex_);
    if (wake_) wake_();
  }
  return is_drained;
}

void MemorySource::set_wakeup(std::function<void()> wake) {
  const std::unique_lock lock(wake_mutex_);
  wake_ = std::move(wake);
}

bool MemorySource::exhausted() {
  const std::unique_lock lock(mutex_);
  return waiting_.empty() && next_ == batch_.size();
}

}
