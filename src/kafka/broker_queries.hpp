#pragma once

/// Questions to a Kafka broker: which topics there are, where their logs begin and end, and where
/// in them an instant lies. Every call blocks, for its whole deadline at most.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrakis/time.hpp"
#include "core/result.hpp"
#include "kafka/handle.hpp"

namespace arrakis::inline v1 {

/// The broker's clock reading for `t`: UNIX milliseconds, rounded down. Source: the CreateTime that
/// producers stamp.
std::int64_t kafka_timestamp_ms(GpsTime t);

struct TopicDescription {
  enum class Status {
    exists,
    absent,   ///< the broker says that there is no such topic
    unknown,  ///< the broker says neither, for now: an election, a missing permission
  };

  std::string name;
  std::string id;  ///< changes when a topic is deleted and made again; empty: the broker has no ids
  std::int32_t partitions = 0;
  Status status = Status::absent;
};

/// One partition of a topic, as questions name it.
struct PartitionKey {
  std::string topic;
  std::int32_t partition = 0;
  friend bool operator==(const PartitionKey&, const PartitionKey&) = default;
};

/// Where a log begins and ends: offsets [low, high).
struct Watermarks {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// Safe from several threads at once.
class BrokerQueries {
 public:
  /// Asks through `handle`; on a handle that also fetches, each answer may wait for a fetch.
  explicit BrokerQueries(std::shared_ptr<Handle> handle) : handle_(std::move(handle)) {}

  /// `stop` is looked at between attempts, each of which takes kControlQueryTimeout at most; empty:
  /// never.
  void set_stop(std::function<bool()> stop) { stop_ = std::move(stop); }

  /// One description a name, in order. Error(broker_unavailable) names the broker.
  Result<std::vector<TopicDescription>> describe(const std::vector<std::string>& names,
                                                 Duration timeout) const;
  /// One answer a partition, in order. Failures, also of a single partition, are asked again until
  /// the deadline, then Error(broker_unavailable).
  Result<std::vector<Watermarks>> watermarks(std::span<const PartitionKey> partitions,
                                             Duration timeout) const;
  /// The offset of the first message stamped at or after `t`, a partition; nothing where there is
  /// none, or where the broker can't look up by time.
  Result<std::vector<std::optional<std::int64_t>>> offsets_for_time(
      std::span<const PartitionKey> partitions, GpsTime t, Duration timeout) const;
  /// Where to begin reading so that nothing stamped at or after `t` is missed: the offset for `t`;
  /// where there is none, the end as it was before asking, if the broker can look up by time at
  /// all; else the beginning.
  struct Start {
    std::int64_t offset = 0;
    Watermarks watermarks;
  };
  Result<std::vector<Start>> start_for_time(std::span<const PartitionKey> partitions, GpsTime t,
                                            Duration timeout) const;
  /// The same for somebody who wants only what comes from now on.
  Result<std::vector<Start>> start_at_end(std::span<const PartitionKey> partitions,
                                          Duration timeout) const;

 private:
  Result<std::vector<std::int64_t>> list_offsets(std::span<const PartitionKey> partitions,
                                                 std::int64_t what, const char* purpose,
                                                 Duration timeout) const;

  std::shared_ptr<Handle> handle_;
  std::function<bool()> stop_;
};

}
