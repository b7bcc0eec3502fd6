#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <utility>

#include "arrakis/error.hpp"
#include "mux/timed_queue.hpp"
#include "vectors/compare.hpp"
#include "vectors/handlers.hpp"
#include "vectors/trace.hpp"
#include "vectors/vector_json.hpp"

namespace arrakis::vectors {
namespace {

/// More pushes than this in one operation are taken for a damaged file.
constexpr std::int64_t kMaxPushes = 1'000'000;

DropPolicy drop_policy_of(const Json& op) {
  return parse_drop_policy(optional_string_at(op, "on_drop").value_or("ignore"));
}

/// One queue with strings for payloads, driven by a trace.
class Replay {
 public:
  explicit Replay(const Json& trace)
      : now_(time_at(trace, "now_ns")), queue_(queue_of(trace.at("queue"), now_)) {}

  [[nodiscard]] Json initial() const {
    return {{"cursor", queue_.cursor().ns()},
            {"horizon", queue_.horizon().ns()},
            {"max_queue", queue_.capacity()},
            {"initialized", queue_.initialized()}};
  }

  Json perform(const std::string& name, const Json& op) {
    Json outcome = Json::object();
    try {
      Json answer = call(name, op);
      if (!answer.is_discarded()) outcome["expect"] = std::move(answer);
    } catch (const Error& error) {
      if (error.code() != Errc::precondition) throw;
      outcome["expect"] = raises("AssertionError");
    }
    outcome["state"] = {queue_.cursor().ns(), queue_.horizon().ns(), payloads_.size(),
                        queue_.initialized()};
    return outcome;
  }

  [[nodiscard]] Json drops() const {
    Json counts = Json::object();
    if (queue_.drops().late != 0) counts["late"] = queue_.drops().late;
    if (queue_.drops().overflow != 0) counts["overflow"] = queue_.drops().overflow;
    return counts;
  }

 private:
  static TimedQueue queue_of(const Json& queue, GpsTime now) {
    const Duration timeout = duration_at(queue, "timeout");
    if (timeout < Duration::zero()) throw std::runtime_error("malformed: negative timeout");
    return {positive_duration_at(queue, "stride"), timeout, optional_time_at(queue, "start"), now};
  }

  /// What the operation answers; a discarded value when it answers nothing.
  Json call(const std::string& name, const Json& op) {
    if (name == "push") return push(op);
    if (name == "ready") return ready(op);
    if (name == "pull") return pull(op);
    if (name == "front_time") return optional_ns(queue_.front_time());
    if (name == "next_element_time") return optional_ns(queue_.next_element_time());
    if (name == "ensure_buffer") {
      queue_.ensure_capacity(duration_at(op, "duration_ns"));
      return queue_.capacity();
    }
    if (name == "now") {
      now_ = time_at(op, "now_ns");
    } else if (name == "push_range") {
      push_range(op);
    } else if (name == "update_timeout") {
      queue_.update_timeout(now_);
    } else if (name == "drain_until") {
      drop_front(queue_.drain_until(time_at(op, "time_ns")));
    } else {
      unknown_op(name);
    }
    Json no_answer(Json::value_t::discarded);
    return no_answer;
  }

  Json push(const Json& op) {
    const DropPolicy policy = drop_policy_of(op);
    const std::optional<std::string> element = optional_string_at(op, "element");
    const GpsTime time = time_at(op, "time_ns");
    const PushResult result =
        element ? push_element(time, *element, policy) : queue_.declare_gap(time);
    if (result == PushResult::misaligned) return raises("AssertionError");
    const bool is_late = result == PushResult::late;
    if (is_late && policy == DropPolicy::raise) return raises("ValueError");
    return {{"warned", is_late && policy == DropPolicy::warn ? 1 : 0}};
  }

  PushResult push_element(GpsTime time, std::string element, DropPolicy policy) {
    const PushResult result = queue_.push(time, policy);
    if (result == PushResult::overflowed) drop_front(1);
    if (result == PushResult::accepted || result == PushResult::overflowed) {
      payloads_.push_back(std::move(element));
    }
    return result;
  }

  void push_range(const Json& op) {
    const std::int64_t count = integer_at(op, "count");
    if (count > kMaxPushes) throw std::runtime_error("malformed: too many elements in a range");
    const std::string prefix = string_at(op, "prefix");
    GpsTime time = time_at(op, "first_ns");
    for (std::int64_t i = 0; i < count; ++i) {
      push_element(time, fmt::format("{}{}", prefix, i), DropPolicy::ignore);
      time += duration_at(op, "step_ns");
    }
  }

  Json ready(const Json& op) {
    if (bool_at(op, "update_timeout")) queue_.update_timeout(now_);
    const std::optional<std::uint64_t> slots = queue_.ready(duration_at(op, "duration_ns"));
    return slots ? Json(*slots) : Json();
  }

  Json pull(const Json& op) {
    if (bool_at(op, "update_timeout")) queue_.update_timeout(now_);
    const std::uint64_t count = queue_.pull_count(optional_duration_at(op, "duration_ns"));
    const std::size_t wanted = op.at("expect").size();
    Json served = Json::array();
    // One more than wanted is enough to see the difference.
    for (std::uint64_t i = 0; i < count && i <= wanted; ++i) served.push_back(serve());
    return served;
  }

  Json serve() {
    const TimedQueue::Served slot = queue_.serve();
    Json served = Json::array({slot.time.ns(), nullptr});
    if (!slot.is_gap) {
      served[1] = payloads_.at(0);
      drop_front(1);
    }
    return served;
  }

  void drop_front(std::size_t count) {
    if (count > payloads_.size()) throw std::logic_error("more elements served than pushed");
    payloads_.erase(payloads_.begin(), payloads_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  GpsTime now_;
  TimedQueue queue_;
  std::deque<std::string> payloads_;
};

Finding replay_trace(const Json& trace) {
  Replay replay(trace);
  std::string found =
      difference({{"initial", trace.at("initial")}}, {{"initial", replay.initial()}});
  if (found.empty()) {
    found = replay_ops(trace.at("ops"), [&](const std::string& name, const Json& op) {
      return replay.perform(name, op);
    });
  }
  if (found.empty()) {
    found = difference({{"drops", trace.at("drops")}}, {{"drops", replay.drops()}});
  }
  return {.difference = found};
}

}  // namespace

void replay_queue(const VectorFile& file, FileReport& report) {
  replay_traces(file, report, replay_trace);
}

}  // namespace arrakis::vectors
