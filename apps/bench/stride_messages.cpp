#include "bench/stride_messages.hpp"

#include <cstring>

#include "bench/synthetic.hpp"
#include "core/result.hpp"
#include "wire/row_message.hpp"

namespace arrakis::bench {

StrideMessages::StrideMessages(const ChannelSet& channels)
    : messages_(encode_messages(make_samples(channels, GpsTime(), 1))) {
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const RowMessage message = value_or_throw(parse_row_message(bytes(i)));
    const RowBatch& batch = message.batches.at(0);
    times_.push_back({batch.buffers[time_values].offset, batch.rows});
  }
}

void StrideMessages::set_time(std::size_t i, GpsTime time, std::span<std::byte> message) const {
  const std::int64_t ns = time.ns();
  std::byte* to = message.data() + times_[i].offset;
  for (std::size_t row = 0; row < times_[i].rows; ++row, to += sizeof ns) {
    std::memcpy(to, &ns, sizeof ns);
  }
}

}
