#include "kafka/broker_queries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "kafka/limits.hpp"

namespace arrakis::inline v1 {

namespace {

using Steady = std::chrono::steady_clock;

/// Brokers take these in place of a timestamp.
constexpr std::int64_t kAskHigh = -1;
constexpr std::int64_t kAskLow = -2;

struct AdminOptionsDeleter {
  void operator()(rd_kafka_AdminOptions_t* options) const {
    rd_kafka_AdminOptions_destroy(options);
  }
};
struct TopicCollectionDeleter {
  void operator()(rd_kafka_TopicCollection_t* topics) const {
    rd_kafka_TopicCollection_destroy(topics);
  }
};
struct EventDeleter {
  void operator()(rd_kafka_event_t* event) const { rd_kafka_event_destroy(event); }
};

TopicDescription read_description(const rd_kafka_TopicDescription_t* topic) {
  TopicDescription description;
  description.name = rd_kafka_TopicDescription_name(topic);
  const rd_kafka_error_t* error = rd_kafka_TopicDescription_error(topic);
  const rd_kafka_resp_err_t code =
      error == nullptr ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_error_code(error);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    using Status = TopicDescription::Status;
    description.status =
        code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ? Status::absent : Status::unknown;
    return description;
  }
  description.status = TopicDescription::Status::exists;
  std::size_t partitions = 0;
  rd_kafka_TopicDescription_partitions(topic, &partitions);
  description.partitions = static_cast<std::int32_t>(partitions);
  if (const rd_kafka_Uuid_t* id = rd_kafka_TopicDescription_topic_id(topic)) {
    description.id = rd_kafka_Uuid_base64str(id);
  }
  return description;
}

struct MetadataDeleter {
  void operator()(const rd_kafka_metadata_t* metadata) const {
    rd_kafka_metadata_destroy(metadata);
  }
};

/// A broker of the cluster that could be asked just now; else nothing, and why.
std::optional<std::int32_t> any_broker(rd_kafka_t* handle, Duration timeout, std::string& reason) {
  const rd_kafka_metadata_t* found = nullptr;
  const rd_kafka_resp_err_t error =
      rd_kafka_metadata(handle, 0, nullptr, &found, timeout_ms(timeout));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    reason = text_of(error);
    return std::nullopt;
  }
  const std::unique_ptr<const rd_kafka_metadata_t, MetadataDeleter> metadata(found);
  if (metadata->broker_cnt == 0) return std::nullopt;
  return metadata->brokers[0].id;
}

/// One attempt, with one limit for all of it; nothing, and why, when it failed.
std::optional<std::vector<TopicDescription>> describe_once(rd_kafka_t* handle,
                                                           const std::vector<std::string>& names,
                                                           Duration timeout,
                                                           const std::function<bool()>& stop,
                                                           std::string& reason) {
  const Steady::time_point deadline = Steady::now() + timeout;
  const auto left = [&] { return std::max<Duration>(deadline - Steady::now(), Duration(1)); };
  std::vector<const char*> pointers;
  pointers.reserve(names.size());
  for (const std::string& name : names) pointers.push_back(name.c_str());
  const std::unique_ptr<rd_kafka_TopicCollection_t, TopicCollectionDeleter> topics(
      rd_kafka_TopicCollection_of_topic_names(pointers.data(), pointers.size()));
  const std::unique_ptr<rd_kafka_AdminOptions_t, AdminOptionsDeleter> options(
      rd_kafka_AdminOptions_new(handle, RD_KAFKA_ADMIN_OP_DESCRIBETOPICS));
  // Any broker knows; left to itself librdkafka waits for the controller.
  const std::optional<std::int32_t> broker = any_broker(handle, left(), reason);
  if (!broker) return std::nullopt;
  rd_kafka_AdminOptions_set_broker(options.get(), *broker, nullptr, 0);
  rd_kafka_AdminOptions_set_request_timeout(options.get(), timeout_ms(left()), nullptr, 0);

  const QueuePtr queue(rd_kafka_queue_new(handle));
  rd_kafka_DescribeTopics(handle, topics.get(), options.get(), queue.get());
  std::unique_ptr<rd_kafka_event_t, EventDeleter> event;
  while (!event && Steady::now() < deadline && !(stop && stop())) {
    event.reset(
        rd_kafka_queue_poll(queue.get(), timeout_ms(std::min<Duration>(left(), kRetryPause))));
  }
  if (!event) return std::nullopt;
  if (rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    reason = rd_kafka_event_error_string(event.get());
    return std::nullopt;
  }
  std::size_t count = 0;
  const rd_kafka_TopicDescription_t** found = rd_kafka_DescribeTopics_result_topics(
      rd_kafka_event_DescribeTopics_result(event.get()), &count);
  std::vector<TopicDescription> descriptions;
  descriptions.reserve(count);
  for (std::size_t i = 0; i < count; ++i) descriptions.push_back(read_description(found[i]));
  return descriptions;
}

/// The answer's order is the broker's.
std::vector<TopicDescription> in_order_of(const std::vector<std::string>& names,
                                          std::vector<TopicDescription> found) {
  const auto by_name = [](const TopicDescription& a, const TopicDescription& b) {
    return a.name < b.name;
  };
  std::sort(found.begin(), found.end(), by_name);
  std::vector<TopicDescription> ordered;
  ordered.reserve(names.size());
  for (const std::string& name : names) {
    const TopicDescription missing{name, {}, 0, TopicDescription::Status::unknown};
    const auto it = std::lower_bound(found.begin(), found.end(), missing, by_name);
    ordered.push_back(it != found.end() && it->name == name ? *it : missing);
  }
  return ordered;
}

Error unavailable(const std::string& bootstrap, const char* purpose, const std::string& reason) {
  return {Errc::broker_unavailable,
          fmt::format("{} failed: broker {}: {}", purpose, bootstrap, reason)};
}

}

std::int64_t kafka_timestamp_ms(GpsTime t) {
  return std::chrono::floor<std::chrono::milliseconds>(to_unix(t)).time_since_epoch().count();
}

Result<std::vector<TopicDescription>> BrokerQueries::describe(const std::vector<std::string>& names,
                                                              Duration timeout) const {
  if (names.empty()) return std::vector<TopicDescription>();
  const Steady::time_point deadline = Steady::now() + timeout;
  for (;;) {
    std::string reason = "no answer in time";
    const Duration left =
        std::clamp<Duration>(deadline - Steady::now(), Duration(1), kControlQueryTimeout);
    auto found = describe_once(handle_->get(), names, left, stop_, reason);
    if (found) return in_order_of(names, *std::move(found));
    if (Steady::now() + kRetryPause >= deadline || (stop_ && stop_())) {
      return tl::unexpected(unavailable(handle_->bootstrap(), "listing topics", reason));
    }
    std::this_thread::sleep_for(kRetryPause);
  }
}

Result<std::vector<std::int64_t>> BrokerQueries::list_offsets(
    std::span<const PartitionKey> partitions, std::int64_t what, const char* purpose,
    Duration timeout) const {
  constexpr std::int64_t kUnanswered = std::numeric_limits<std::int64_t>::min();
  std::vector<std::int64_t> offsets(partitions.size(), kUnanswered);
  std::size_t unanswered = partitions.size();
  std::string reason = "no answer in time";
  const Steady::time_point deadline = Steady::now() + timeout;
  while (unanswered > 0) {
    const PartitionList list = make_partition_list(unanswered);
    std::vector<std::size_t> asked;
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      if (offsets[i] != kUnanswered) continue;
      asked.push_back(i);
      rd_kafka_topic_partition_list_add(list.get(), partitions[i].topic.c_str(),
                                        partitions[i].partition)
          ->offset = what;
    }
    const Duration left =
        std::clamp<Duration>(deadline - Steady::now(), Duration(1), kControlQueryTimeout);
    const rd_kafka_resp_err_t error =
        rd_kafka_offsets_for_times(handle_->get(), list.get(), timeout_ms(left));
    // Each element has an error of its own, which leaves the question in place of the answer.
    for (std::size_t k = 0; k < asked.size() && error == RD_KAFKA_RESP_ERR_NO_ERROR; ++k) {
      const rd_kafka_topic_partition_t& element = elements(list)[k];
      if (element.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        offsets[asked[k]] = element.offset;
        --unanswered;
      } else {
        reason = fmt::format("{} [{}]: {}", element.topic, element.partition, text_of(element.err));
      }
    }
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) reason = text_of(error);
    if (unanswered == 0) break;
    if (Steady::now() + kRetryPause >= deadline || (stop_ && stop_())) {
      return tl::unexpected(unavailable(handle_->bootstrap(), purpose, reason));
    }
    std::this_thread::sleep_for(kRetryPause);
  }
  return offsets;
}

Result<std::vector<Watermarks>> BrokerQueries::watermarks(std::span<const PartitionKey> partitions,
                                                          Duration timeout) const {
  constexpr const char* kPurpose = "watermark lookup";
  const Steady::time_point begin = Steady::now();
  auto low = list_offsets(partitions, kAskLow, kPurpose, timeout);
  if (!low) return tl::unexpected(low.error());
  auto high = list_offsets(partitions, kAskHigh, kPurpose,
                           std::max<Duration>(timeout - (Steady::now() - begin), Duration(1)));
  if (!high) return tl::unexpected(high.error());
  std::vector<Watermarks> watermarks(partitions.size());
  for (std::size_t i = 0; i < watermarks.size(); ++i) watermarks[i] = {(*low)[i], (*high)[i]};
  return watermarks;
}

Result<std::vector<std::optional<std::int64_t>>> BrokerQueries::offsets_for_time(
    std::span<const PartitionKey> partitions, GpsTime t, Duration timeout) const {
  const std::int64_t stamp = std::max<std::int64_t>(kafka_timestamp_ms(t), 0);
  auto found = list_offsets(partitions, stamp, "offset lookup by time", timeout);
  if (!found) return tl::unexpected(found.error());
  std::vector<std::optional<std::int64_t>> offsets(partitions.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if ((*found)[i] >= 0) offsets[i] = (*found)[i];
  }
  return offsets;
}

Result<std::vector<BrokerQueries::Start>> BrokerQueries::start_at_end(
    std::span<const PartitionKey> partitions, Duration timeout) const {
  const auto marks = watermarks(partitions, timeout);
  if (!marks) return tl::unexpected(marks.error());
  std::vector<Start> starts;
  starts.reserve(marks->size());
  for (const Watermarks& mark : *marks) starts.push_back({mark.high, mark});
  return starts;
}

Result<std::vector<BrokerQueries::Start>> BrokerQueries::start_for_time(
    std::span<const PartitionKey> partitions, GpsTime t, Duration timeout) const {
  const Steady::time_point deadline = Steady::now() + timeout;
  const auto left = [&] { return std::max<Duration>(deadline - Steady::now(), Duration(1)); };

  // The end is taken before the look-up: what comes between the two is then not passed over.
  auto marks = watermarks(partitions, left());
  if (!marks) return tl::unexpected(marks.error());
  auto found = offsets_for_time(partitions, t, left());
  if (!found) return tl::unexpected(found.error());

  std::vector<Start> starts(partitions.size());
  std::vector<PartitionKey> unresolved;
  std::vector<std::size_t> unresolved_at;
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    const Watermarks& mark = (*marks)[i];
    starts[i] = {(*found)[i].value_or(mark.high), mark};
    if ((*found)[i] || mark.high <= mark.low) continue;
    unresolved.push_back(partitions[i]);
    unresolved_at.push_back(i);
  }
  if (unresolved.empty()) return starts;

  // No answer is "nothing that recent" from a broker that can look up by time, and nothing at all
  // from one that can't. A broker that can finds something from the epoch on in a log that has
  // messages.
  auto ever = list_offsets(unresolved, 0, "offset lookup by time", left());
  if (!ever) return tl::unexpected(ever.error());
  for (std::size_t k = 0; k < unresolved.size(); ++k) {
    if ((*ever)[k] < 0) starts[unresolved_at[k]].offset = starts[unresolved_at[k]].watermarks.low;
  }
  return starts;
}

}
