#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "core/logging.hpp"
#include "kafka/reader_impl.hpp"
#include "wire/part.hpp"

namespace arrakis::inline v1 {

KafkaReader::Impl::ForwardPlan KafkaReader::Impl::plan_forward(const BrokerQueries& queries,
                                                               std::optional<GpsTime> time,
                                                               Duration timeout,
                                                               Unresolved unresolved) {
  ForwardPlan plan;
  bool at_head = true;
  std::vector<PartitionKey> keys;
  {
    const std::unique_lock lock(mutex_);
    if (closing_) return plan;
    const std::vector<std::size_t> reading = partitions_in(Partition::State::reading);
    for (const std::size_t p : reading) {
      const Partition& partition = partitions_[p];
      plan.moves.push_back({p, partition.generation, 0});
      const std::int64_t end = fetched_end(partition);
      if (end < 0 || partition.next_offset < end) at_head = false;
    }
    keys = keys_of(reading);
  }
  // At the head there is nothing to skip but what is held here.
  if (at_head) return plan;

  const Steady::time_point deadline = Steady::now() + timeout;
  const auto left = [&] { return std::max<Duration>(deadline - Steady::now(), Duration(1)); };
  // The ends are taken before the look-up: what comes between the two is not passed over.
  const auto marks = queries.watermarks(keys, left());
  std::optional<std::vector<std::optional<std::int64_t>>> found;
  std::vector<bool> stays(keys.size(), false);
  if (time && marks) {
    auto offsets = queries.offsets_for_time(keys, *time, left());
    if (offsets) found = *std::move(offsets);
    if (found && unresolved == Unresolved::stay) {
      // From a broker that can't look up by time, no answer says nothing about the source.
      const auto ever = queries.offsets_for_time(keys, from_unix({}), left());
      for (std::size_t i = 0; ever && i < keys.size(); ++i) stays[i] = (*ever)[i].has_value();
    }
  }
  if (!marks || (time && !found)) {
    log::warning(kReaderLog, "broker {} does not say where GPS {} is: seeking to end", bootstrap_,
                 time ? format_time(*time) : "now");
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::int64_t& offset = plan.moves[i].offset;
    if (found && (*found)[i]) {
      offset = *(*found)[i];
    } else if (!stays[i]) {
      offset = marks ? (*marks)[i].high : RD_KAFKA_OFFSET_END;
    }
  }
  return plan;
}

std::size_t KafkaReader::Impl::apply_forward(const ForwardPlan& plan, std::optional<GpsTime> time) {
  const std::unique_lock lock(mutex_);
  if (closing_) return 0;
  std::size_t moved = 0;
  for (const ForwardPlan::Move& planned : plan.moves) {
    const std::size_t index = planned.partition;
    const std::int64_t offset = planned.offset;
    Partition& partition = partitions_[index];
    if (partition.generation != planned.generation) continue;
    std::deque<HeldPart>& held = streams_[partition.stream].held;
    const std::int64_t position = partition.next_offset;
    const bool skips = offset == RD_KAFKA_OFFSET_END || offset > position;
    const auto is_old = [&](const HeldPart& part) {
      return part.partition == index &&
             (!time || part.part->time() + part.part->duration() <= *time);
    };
    // What is old may only go when there is something newer: else the source itself is late.
    const bool has_newer =
        skips || std::any_of(held.begin(), held.end(), [&](const HeldPart& part) {
          return part.partition == index && !is_old(part);
        });
    std::size_t dropped = 0;
    if (has_newer) {
      dropped = std::erase_if(held, [&](const HeldPart& part) {
        const bool goes = is_old(part);
        if (goes && part.suspect) suspect_bytes_ -= part.part->bytes();
        return goes;
      });
    }
    if (!skips && dropped == 0) continue;
    ++moved;
    stats_.skipped_messages += dropped;
    if (time) partition.skip_before = *time;
    if (!skips) continue;
    if (offset > position) stats_.skipped_messages += static_cast<std::uint64_t>(offset - position);
    move(index, offset);
    // The end is not known by number: nothing older than what was read may come.
    partition.skipped_to_end = offset == RD_KAFKA_OFFSET_END;
    if (partition.skipped_to_end) partition.next_offset = position;
  }
  if (moved > 0) {
    ++stats_.fast_forwards;
    ends_known_at_ = {};
    for (Partition& partition : partitions_) partition.known_end.reset();
  }
  return moved;
}

void KafkaReader::Impl::run_forward(const BrokerQueries& queries, const Forward& forward) {
  const ForwardPlan plan =
      plan_forward(queries, forward.target, kControlQueryTimeout, Unresolved::stay);
  const std::size_t moved = apply_forward(plan, forward.target);
  const std::unique_lock lock(mutex_);
  policy_->forwarded();
  forward_.reset();
  const Duration budget = streams_[forward.stream].budget;
  if (moved == 0) {
    // The reader has all that there is: the source itself is late, and skipping would lose data.
    if (!source_was_late_) {
      log::info(kReaderLog,
                "{}: blocks are {} old (budget {}), but nothing newer exists: the source is behind",
                label(forward.stream), format_duration(forward.lag), format_duration(budget));
    }
    source_was_late_ = true;
  } else {
    source_was_late_ = false;
    log::warning(
        kReaderLog,
        "{}: behind by {} (budget {}) for more than {:.1f} s: skipped ahead {} partition(s) to "
        "GPS {}, dropping {:.1f} s",
        label(forward.stream), format_duration(forward.lag), format_duration(budget),
        policy_->grace(budget), moved, format_time(forward.target),
        in_seconds(forward.lag - budget));
    events_.emplace_back(
        events::SkippedAhead{infos_[forward.stream].id, forward.lag, forward.target, moved});
  }
  wake();
}

}
