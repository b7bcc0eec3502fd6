#include "wire/part.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "wire/column_part.hpp"

namespace arrakis::inline v1 {

ColumnPart::ColumnPart(GpsTime time, Duration duration, std::vector<Samples> samples,
                       std::shared_ptr<const void> owner, std::size_t bytes)
    : BlockPart(time, duration, bytes),
      samples_(std::move(samples)),
      owner_(std::move(owner)),
      has_gaps_(std::any_of(samples_.begin(), samples_.end(), [](const Samples& channel) {
        return !channel.present || channel.gap_count != 0;
      })) {}

Samples ColumnPart::samples(std::size_t channel) const {
  return channel < samples_.size() ? samples_[channel] : Samples{};
}

}  // namespace arrakis::inline v1
