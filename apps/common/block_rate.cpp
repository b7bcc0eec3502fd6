#include "common/block_rate.hpp"

namespace arrakis::console {
namespace {

constexpr Duration kWindow = std::chrono::seconds(4);
constexpr std::size_t kMostArrivals = 4096;  // bounds the memory of a stream read at full speed

}  // namespace

void BlockRate::count(Duration now) {
  arrivals_.push_back(now);
  while (arrivals_.size() > 2 &&
         (now - arrivals_.front() > kWindow || arrivals_.size() > kMostArrivals)) {
    arrivals_.pop_front();
  }
}

double BlockRate::per_second() const {
  if (arrivals_.size() < 2) return 0;
  const std::chrono::duration<double> span = arrivals_.back() - arrivals_.front();
  return span.count() > 0 ? static_cast<double>(arrivals_.size() - 1) / span.count() : 0;
}

}
