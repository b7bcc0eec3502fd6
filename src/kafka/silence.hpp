#pragma once

/// Notices a partition that is silent although its log has more to read: librdkafka has states in
/// which it fetches no more and says nothing.

#include <cstdint>
#include <utility>

namespace arrakis::inline v1 {

/// One partition, looked at now and then while its reader has taken everything that was fetched.
/// Not safe from several threads at once.
class Silence {
 public:
  /// Whether nothing was taken since the last look.
  bool is_silent(std::int64_t next_offset) {
    if (next_offset == offset_) return true;
    offset_ = next_offset;
    looks_behind_ = 0;
    return false;
  }
  /// To be told the log's end after a silent look. At how many looks in a row by now the same
  /// offset was waiting to be read.
  int looks_behind(std::int64_t log_end) {
    return looks_behind_ = log_end > offset_ ? looks_behind_ + 1 : 0;
  }
  /// The partition was assigned anew because of it. How many times in a row by now.
  int revived() {
    looks_behind_ = 0;
    return ++revivals_;
  }
  /// A message came. Whether that ends a stall.
  bool spoke() { return std::exchange(revivals_, 0) > 0; }

 private:
  std::int64_t offset_ = -1;
  int looks_behind_ = 0;
  int revivals_ = 0;
};

}
