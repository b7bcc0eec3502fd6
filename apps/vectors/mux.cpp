#include <algorithm>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/error.hpp"
#include "arrakis/mux.hpp"
#include "vectors/compare.hpp"
#include "vectors/handlers.hpp"
#include "vectors/trace.hpp"
#include "vectors/vector_json.hpp"

namespace arrakis::vectors {
namespace {

using TagMux = Mux<std::string>;

std::vector<MuxStream> streams_of(const Json& mux) {
  std::vector<MuxStream> streams;
  for (const Json& stream : mux.at("streams")) {
    streams.push_back(mux_stream(string_at(stream, "name"), channels_of(stream.at("channels"))));
  }
  return streams;
}

MuxOptions options_of(const Json& mux) {
  MuxOptions options;
  options.start = optional_time_at(mux, "start");
  options.stride = optional_duration_at(mux, "stride");
  options.on_gap = parse_gap_policy(string_at(mux, "on_gap"));
  options.timeout = duration_at(mux, "timeout");
  return options;
}

Json drops_json(const DropCounts& drops) {
  Json counts = Json::object();
  if (drops.late != 0) counts["late"] = drops.late;
  if (drops.overflow != 0) counts["overflow"] = drops.overflow;
  if (drops.stride_mismatched != 0) counts["stride-mismatched"] = drops.stride_mismatched;
  return counts;
}

/// One multiplexer with tags for payloads, driven by a trace.
class Replay {
 public:
  explicit Replay(const Json& trace)
      : now_(time_at(trace, "now_ns")),
        mux_(streams_of(trace.at("mux")), options_of(trace.at("mux")), now_) {
    for (std::size_t i = 0; i < mux_.schedule().size(); ++i) {
      numbers_[mux_.schedule().stream(i).name] = i;
    }
  }

  [[nodiscard]] Json construct() const {
    const MuxSchedule& schedule = mux_.schedule();
    Json queues = Json::object();
    Duration greatest_timeout{};
    for (const auto& [name, i] : numbers_) {
      const QueueState state = schedule.state(i);
      queues[name] = {{"stride", schedule.stream(i).stride.count()},
                      {"timeout", schedule.timeout(i).count()},
                      {"cursor", state.cursor.ns()},
                      {"max_queue", state.capacity}};
      greatest_timeout = std::max(greatest_timeout, schedule.timeout(i));
    }
    return {{"stride", schedule.stride().count()},
            {"timeout", greatest_timeout.count()},
            {"queues", std::move(queues)}};
  }

  Json perform(const std::string& name, const Json& op) {
    Json outcome = Json::object();
    if (name == "now") {
      now_ = time_at(op, "now_ns");
    } else if (name == "push") {
      if (push(op) == PushResult::misaligned) outcome["expect"] = raises("AssertionError");
    } else if (name == "ready") {
      outcome["expect"] = mux_.ready(now_);
    } else if (name == "pull") {
      outcome["expect"] = pull(optional_duration_at(op, "stride_ns"));
    } else if (name == "drain") {
      outcome["expect"] = drain(op.at("expect").size());
    } else if (name == "declare_complete") {
      mux_.schedule().declare_complete(time_at(op, "time_ns"));
    } else {
      unknown_op(name);
    }
    outcome["state"] = state();
    return outcome;
  }

  [[nodiscard]] Json drops() const {
    Json drops = Json::object();
    for (const auto& [name, i] : numbers_) drops[name] = drops_json(mux_.schedule().drops(i));
    return drops;
  }

 private:
  PushResult push(const Json& op) {
    return mux_.push(numbers_.at(string_at(op, "stream")), time_at(op, "time_ns"),
                     duration_at(op, "duration_ns"), string_at(op, "tag"), now_);
  }

  Json pull(std::optional<Duration> stride) {
    if (mux_.schedule().known_span() < stride.value_or(mux_.schedule().stride())) {
      throw std::runtime_error("the trace pulls what is not known on every stream");
    }
    TagMux::Output output;
    switch (mux_.pull(output, stride)) {
      case PullStatus::skipped:
        return {};
      case PullStatus::gap:
        return raises("GapError");
      case PullStatus::output:
        break;
    }
    return output_json(output);
  }

  /// What pulling while ready gives; stops once it is more than `expected`.
  Json drain(std::size_t expected) {
    Json pulls = Json::array();
    while (pulls.size() <= expected && mux_.ready(now_)) {
      pulls.push_back(pull({}));
      if (expects_failure(pulls.back())) break;
    }
    return pulls;
  }

  [[nodiscard]] Json output_json(const TagMux::Output& output) const {
    Json streams = Json::object();
    for (const auto& [name, i] : numbers_) {
      Json slots = Json::array();
      for (const TagMux::Output::Slot& slot : output.streams[i]) {
        slots.push_back({slot.time.ns(), slot.is_gap ? Json() : Json(slot.payload)});
      }
      streams[name] = std::move(slots);
    }
    return {{"time_ns", output.time.ns()},
            {"stride_ns", output.stride.count()},
            {"slots", std::move(streams)}};
  }

  [[nodiscard]] Json state() const {
    Json states = Json::object();
    for (const auto& [name, i] : numbers_) {
      const QueueState state = mux_.schedule().state(i);
      states[name] = {state.cursor.ns(), state.horizon.ns(), state.stored};
    }
    return states;
  }

  GpsTime now_;
  TagMux mux_;
  std::map<std::string, std::size_t> numbers_;
};

Finding replay_unconstructible(const Json& trace) {
  try {
    const Replay replay(trace);
  } catch (const Error&) {
    return {};
  }
  return {.difference = "construct: expected an error, got none"};
}

Finding replay_trace(const Json& trace) {
  const Json& expected = trace.at("construct");
  if (expects_failure(expected)) return replay_unconstructible(trace);

  Replay replay(trace);
  std::string found = difference({{"construct", expected}}, {{"construct", replay.construct()}});
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

void replay_mux(const VectorFile& file, FileReport& report) {
  replay_traces(file, report, replay_trace);
}

}  // namespace arrakis::vectors
