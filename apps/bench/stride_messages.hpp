#pragma once

/// The messages of one stride, made once and sent again and again with another time.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "arrakis/channel.hpp"
#include "arrakis/time.hpp"
#include "wire/row_encoder.hpp"

namespace arrakis::bench {

class StrideMessages {
 public:
  /// One message a partition, in order of first appearance.
  explicit StrideMessages(const ChannelSet& channels);

  [[nodiscard]] std::size_t size() const { return messages_.size(); }
  [[nodiscard]] const std::string& topic(std::size_t i) const { return messages_[i].topic; }
  [[nodiscard]] std::span<std::byte> bytes(std::size_t i) {
    return std::as_writable_bytes(std::span(messages_[i].bytes));
  }
  /// Writes the rows' times into message `i`, or into a copy of it anywhere in memory.
  void set_time(std::size_t i, GpsTime time, std::span<std::byte> message) const;
  void set_time(std::size_t i, GpsTime time) { set_time(i, time, bytes(i)); }

 private:
  struct Times {
    std::size_t offset = 0;
    std::size_t rows = 0;
  };
  std::vector<EncodedMessage> messages_;
  std::vector<Times> times_;  // by message
};

}
