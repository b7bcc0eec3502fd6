#pragma once

/// Numbers that follow from channels' strides and latencies: common strides, deadlines, budgets.
/// Formulas: docs/protocol.md. Pure functions.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "arrakis/channel.hpp"
#include "arrakis/time.hpp"
#include "core/result.hpp"

namespace arrakis::inline v1 {

/// Least common multiple of the channels' strides. Error(precondition) names a channel without a
/// stride (> 0), or the first channel whose stride no longer fits and one that it clashes with.
Result<Duration> common_stride(std::span<const Channel> channels);
/// Least common multiple, or nothing when it does not fit. Both > 0.
std::optional<Duration> checked_lcm(Duration a, Duration b);

/// The greatest max_latency that any channel declares (zero counts).
std::optional<Duration> greatest_latency(std::span<const Channel> channels);

/// How old a block of these channels (one partition's) may be before its reader counts as behind:
/// the greatest latency above zero + the common stride, where a channel without a stride makes the
/// latter zero; zero (never behind) when no channel has a latency above zero. Saturates.
Duration latency_budget(std::span<const Channel> channels);

/// How much later than its latency a part may come because a server relays it: two of the greatest
/// stride, at least two seconds.
Duration relay_grace(std::span<const Channel> channels);
/// The multiplexer's timeout for channels relayed by a server: greatest latency + greatest stride
/// + max(2 * greatest stride, 2 s); zero when there is no latency above zero or no stride at all.
Duration relay_timeout(std::span<const Channel> channels);

/// What a live relayed stream may be silent for beyond its latency and stride.
inline constexpr Duration kStallGrace = std::chrono::seconds(30);
/// How long a live relayed stream may be silent before it counts as stalled: greatest latency +
/// greatest stride + grace; nothing when no channel has a latency above zero.
std::optional<Duration> relay_stall_bound(std::span<const Channel> channels,
                                          Duration grace = kStallGrace);

/// How many batches a server keeps for a live client: what two latency contracts (greatest latency
/// + common stride of those that have one) hold, at least 16; 2048 when no channel has a latency,
/// zero included, or none has a stride.
std::size_t live_queue_batches(std::span<const Channel> channels);

/// librdkafka's prefetch cap in kB: 1024 a partition, between 4096 and 65536.
std::size_t prefetch_kbytes(std::size_t partitions);

/// When [start, end) is replayed cyclically, `t` falls on t - replay_offset(start, end, t), also
/// before the start. end > start, else zero; saturates.
Duration replay_offset(GpsTime start, GpsTime end, GpsTime t);

}  // namespace arrakis::inline v1
