#include "common/age_histogram.hpp"

#include <algorithm>
#include <cmath>

namespace arrakis::console {
namespace {

/// Bucket i holds ages in (kLeast * kRatio^(i-1), kLeast * kRatio^i], from 10 µs to hours.
constexpr double kLeastNs = 10'000;
constexpr double kRatio = 1.02;

}  // namespace

void AgeHistogram::add(Duration age) {
  const double steps = std::log(std::max(static_cast<double>(age.count()), kLeastNs) / kLeastNs);
  const auto bucket = static_cast<std::size_t>(std::ceil(steps / std::log(kRatio)));
  ++buckets_[std::min(bucket, kBuckets - 1)];
  ++count_;
}

Duration AgeHistogram::percentile(double p) const {
  if (count_ == 0) return Duration::zero();
  const double wanted = p * static_cast<double>(count_);
  std::uint64_t seen = 0;
  std::size_t bucket = 0;
  while (bucket < kBuckets - 1) {
    seen += buckets_.at(bucket);
    if (seen > 0 && static_cast<double>(seen) >= wanted) break;
    ++bucket;
  }
  return Duration(std::llround(kLeastNs * std::pow(kRatio, static_cast<double>(bucket))));
}

}
