#include "core/budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/quote.hpp"
#include "core/wide_int.hpp"

namespace arrakis::inline v1 {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLeastRelayGrace = 2s;

/// Batches kept for a client when its channels say nothing about latency or stride.
constexpr std::size_t kDefaultQueueBatches = 2048;
constexpr std::size_t kMinQueueBatches = 16;
constexpr int kQueueLatencyContracts = 2;

constexpr std::size_t kPrefetchKbytesAPartition = 1024;
constexpr std::size_t kMinPrefetchKbytes = 4096;
constexpr std::size_t kMaxPrefetchKbytes = 65536;

Duration saturating_sum(Duration a, Duration b, Duration c = {}) {
  return Duration(saturate_int64(Int128{a.count()} + b.count() + c.count()));
}

bool has_stride(const Channel& channel) { return channel.stride && *channel.stride > Duration(0); }

/// Zero when no channel has one.
Duration greatest_stride(std::span<const Channel> channels) {
  Duration greatest{};
  for (const Channel& channel : channels) {
    greatest = std::max(greatest, channel.stride.value_or(Duration(0)));
  }
  return greatest;
}

/// Of the latencies above zero; zero when there is none.
Duration greatest_positive_latency(std::span<const Channel> channels) {
  return std::max(greatest_latency(channels).value_or(Duration(0)), Duration(0));
}

/// The common multiple of the strides that are there: zero without any, max() when it does not fit.
Duration common_stride_of_present(std::span<const Channel> channels) {
  Duration common{};
  for (const Channel& channel : channels) {
    if (!has_stride(channel)) continue;
    if (common == Duration(0)) {
      common = *channel.stride;
      continue;
    }
    common = checked_lcm(common, *channel.stride).value_or(Duration::max());
    if (common == Duration::max()) break;
  }
  return common;
}

std::string stride_of(const Channel& channel) {
  return fmt::format("{} ({} ns)", channel.name(), channel.stride->count());
}

/// `overflowing` is the first channel whose stride makes the common multiple of those before it too
/// large; the partner named is the first that does so alone, else its neighbour.
tl::unexpected<Error> no_common_stride(std::span<const Channel> before,
                                       const Channel& overflowing) {
  const auto clashes = [&](const Channel& channel) {
    return !checked_lcm(*channel.stride, *overflowing.stride);
  };
  const auto found = std::find_if(before.begin(), before.end(), clashes);
  const Channel& partner = found == before.end() ? before.back() : *found;
  return failure(Errc::precondition,
                 fmt::format("the strides of channels {} and {} have no common multiple that fits "
                             "64-bit nanoseconds",
                             stride_of(partner), stride_of(overflowing)));
}

}  // namespace

std::optional<Duration> checked_lcm(Duration a, Duration b) {
  const std::int64_t factor = a.count() / std::gcd(a.count(), b.count());
  std::int64_t product = 0;
  if (__builtin_mul_overflow(factor, b.count(), &product)) return std::nullopt;
  return Duration(product);
}

Result<Duration> common_stride(std::span<const Channel> channels) {
  if (channels.empty()) return failure(Errc::precondition, "no channels, so no common stride");
  Duration common(1);
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const Channel& channel = channels[i];
    if (!has_stride(channel)) {
      return failure(Errc::precondition,
                     fmt::format("channel {} has no stride", quoted(channel.name())));
    }
    const auto multiple = checked_lcm(common, *channel.stride);
    if (!multiple) return no_common_stride(channels.first(i), channel);
    common = *multiple;
  }
  return common;
}

std::optional<Duration> greatest_latency(std::span<const Channel> channels) {
  std::optional<Duration> greatest;
  for (const Channel& channel : channels) greatest = std::max(greatest, channel.max_latency);
  return greatest;
}

Duration latency_budget(std::span<const Channel> channels) {
  const Duration latency = greatest_positive_latency(channels);
  if (latency == Duration(0)) return latency;
  if (!std::all_of(channels.begin(), channels.end(), has_stride)) return latency;
  return saturating_sum(latency, common_stride_of_present(channels));
}

Duration relay_grace(std::span<const Channel> channels) {
  const Duration stride = greatest_stride(channels);
  return std::max(saturating_sum(stride, stride), kLeastRelayGrace);
}

Duration relay_timeout(std::span<const Channel> channels) {
  const Duration latency = greatest_positive_latency(channels);
  const Duration stride = greatest_stride(channels);
  if (latency == Duration(0) || stride == Duration(0)) return Duration(0);
  return saturating_sum(latency, stride, relay_grace(channels));
}

std::optional<Duration> relay_stall_bound(std::span<const Channel> channels, Duration grace) {
  const Duration latency = greatest_positive_latency(channels);
  if (latency == Duration(0)) return std::nullopt;
  return saturating_sum(latency, greatest_stride(channels), grace);
}

std::size_t live_queue_batches(std::span<const Channel> channels) {
  const auto latency = greatest_latency(channels);
  const Duration stride = common_stride_of_present(channels);
  if (!latency || stride == Duration(0)) return kDefaultQueueBatches;
  const Int128 held = kQueueLatencyContracts * (Int128{latency->count()} + stride.count());
  const Int128 batches = (held + stride.count() - 1) / stride.count();
  const auto fits = static_cast<std::size_t>(std::max<std::int64_t>(0, saturate_int64(batches)));
  return std::max(kMinQueueBatches, fits);
}

std::size_t prefetch_kbytes(std::size_t partitions) {
  const std::size_t enough = kMaxPrefetchKbytes / kPrefetchKbytesAPartition;
  const std::size_t wanted = std::min(partitions, enough) * kPrefetchKbytesAPartition;
  return std::clamp(wanted, kMinPrefetchKbytes, kMaxPrefetchKbytes);
}

Duration replay_offset(GpsTime start, GpsTime end, GpsTime t) {
  const Int128 length = Int128{end.ns()} - start.ns();
  if (length <= 0) return Duration(0);
  const Int128 since_start = Int128{t.ns()} - start.ns();
  Int128 turns = since_start / length;
  if (since_start % length < 0) --turns;
  return Duration(saturate_int64(turns * length));
}

}  // namespace arrakis::inline v1
