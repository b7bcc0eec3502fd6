#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/mux.hpp"
#include "core/budget.hpp"
#include "vectors/compare.hpp"
#include "vectors/handlers.hpp"
#include "vectors/vector_json.hpp"

namespace arrakis::vectors {
namespace {

/// The channels of one partition, in the order of the case.
struct Partition {
  std::string id;
  std::vector<Channel> channels;
};

std::vector<Channel> channels_of_case(const Json& item) {
  std::vector<Channel> channels;
  for (const Json& entry : item.at("channels")) {
    Channel channel(fmt::format("X1:A-{}", channels.size()), DataType::float32, SampleRate(16));
    channel.partition_id = string_at(entry, "partition_id");
    channel.stride = optional_duration_at(entry, "stride");
    channel.max_latency = optional_duration_at(entry, "max_latency");
    channels.push_back(std::move(channel));
  }
  return channels;
}

std::vector<Partition> partitions_of(const std::vector<Channel>& channels) {
  std::vector<Partition> partitions;
  for (const Channel& channel : channels) {
    auto found = std::ranges::find(partitions, *channel.partition_id, &Partition::id);
    if (found == partitions.end()) {
      found = partitions.insert(partitions.end(), Partition{*channel.partition_id, {}});
    }
    found->channels.push_back(channel);
  }
  return partitions;
}

Json mux_json(const std::vector<Partition>& partitions) {
  std::vector<MuxStream> streams;
  streams.reserve(partitions.size());
  for (const Partition& partition : partitions) {
    streams.push_back(mux_stream(partition.id, ChannelSet(partition.channels)));
  }
  const MuxSchedule schedule(std::move(streams), {}, GpsTime());
  Json queues = Json::object();
  Duration greatest_timeout{};
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    queues[schedule.stream(i).name] = {{"stride", schedule.stream(i).stride.count()},
                                       {"timeout", schedule.timeout(i).count()}};
    greatest_timeout = std::max(greatest_timeout, schedule.timeout(i));
  }
  return {{"stride", schedule.stride().count()},
          {"timeout", greatest_timeout.count()},
          {"uses_timeouts", schedule.uses_timeouts()},
          {"queues", std::move(queues)}};
}

/// The bound is stated as a real number of seconds; to the nanosecond.
Json nanoseconds(const Json& seconds) {
  return seconds.is_null() ? Json() : Json(std::llround(seconds.get<double>() * 1e9));
}

Finding replay_case(const Json& item) {
  Json expected = item;
  expected.erase("channels");
  expected["relay_stall_bound_s"] = nanoseconds(item.at("relay_stall_bound_s"));

  const std::vector<Channel> channels = channels_of_case(item);
  const std::vector<Partition> partitions = partitions_of(channels);
  Json budgets = Json::object();
  for (const Partition& partition : partitions) {
    budgets[partition.id] = latency_budget(partition.channels).count();
  }
  const std::optional<Duration> stall_bound = relay_stall_bound(channels);
  Json actual = {{"fast_forward_budget_ns", std::move(budgets)},
                 {"relay_mux_timeout_ns", relay_timeout(channels).count()},
                 {"server_live_queue_batches", live_queue_batches(channels)},
                 {"relay_stall_bound_s", stall_bound ? Json(stall_bound->count()) : Json()},
                 {"kafka_prefetch_kbytes", prefetch_kbytes(partitions.size())}};
  if (item.contains("mux")) actual["mux"] = mux_json(partitions);
  return {.difference = difference(expected, actual)};
}

}  // namespace

void replay_budgets(const VectorFile& file, FileReport& report) {
  replay_section(file, report, "cases", replay_case);
}

}  // namespace arrakis::vectors
