#include "vectors/stream_expected.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "vectors/compare.hpp"
#include "vectors/vector_json.hpp"

namespace arrakis::vectors {
namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::int64_t kMostBlocks = 100'000;

Json outcome(Json blocks, Json end) {
  return {{"blocks", std::move(blocks)}, {"end", std::move(end)}};
}

Json gaps(std::int64_t count) { return Json::array_t(static_cast<std::size_t>(count)); }

/// One stream of a script: its blocks by time.
struct ScriptedStream {
  std::vector<Channel> channels;
  std::int64_t stride = 1;
  std::map<std::int64_t, Json> blocks;  ///< time to data
  std::int64_t horizon = 0;             ///< end of the newest block
};

/// The samples of one channel over a slot; nothing when the slot's block lacks the channel.
std::optional<Json> slot_samples(const ScriptedStream& stream, const Channel& channel,
                                 std::int64_t slot) {
  const auto found = stream.blocks.find(slot);
  if (found == stream.blocks.end()) {
    const auto rate = static_cast<std::int64_t>(channel.sample_rate().hz());
    return gaps(rate * stream.stride / kNanosecondsPerSecond);
  }
  const auto samples = found->second.find(channel.name());
  if (samples == found->second.end()) return {};
  return *samples;
}

/// A bounded request and all data that its source has.
class Script {
 public:
  explicit Script(const Json& trace)
      : start_(integer_at(trace.at("mux"), "start")),
        end_(optional_integer_at(trace, "end_ns")),
        skips_(string_at(trace.at("mux"), "on_gap") == "skip") {
    for (const Json& described : trace.at("mux").at("streams")) add_stream(described);
    for (const Json& read : trace.at("reads")) {
      for (const Json& block : read.at("blocks")) add_block(block);
    }
    output_stride_ = optional_integer_at(trace.at("mux"), "stride").value_or(base_stride_);
    const std::int64_t last = std::max(end_.value_or(start_), greatest_horizon());
    if (output_stride_ <= 0 || (last - start_) / output_stride_ > kMostBlocks) {
      throw std::runtime_error("malformed: the request is too long for its stride");
    }
  }

  [[nodiscard]] std::int64_t start() const { return start_; }
  [[nodiscard]] std::optional<std::int64_t> end() const { return end_; }
  [[nodiscard]] bool skips() const { return skips_; }
  [[nodiscard]] std::int64_t base_stride() const { return base_stride_; }
  [[nodiscard]] std::int64_t output_stride() const { return output_stride_; }

  /// The end of what every stream has, and of what any has.
  [[nodiscard]] std::int64_t known() const {
    std::int64_t known = std::numeric_limits<std::int64_t>::max();
    for (const auto& [name, stream] : streams_) known = std::min(known, stream.horizon);
    return known;
  }
  [[nodiscard]] std::int64_t greatest_horizon() const {
    std::int64_t greatest = start_;
    for (const auto& [name, stream] : streams_) greatest = std::max(greatest, stream.horizon);
    return greatest;
  }

  /// Whether the output of that span is left out because no stream has anything in it.
  [[nodiscard]] bool is_skipped(std::int64_t from, std::int64_t length) const {
    return skips_ && std::ranges::none_of(streams_, [&](const auto& entry) {
             const auto first = entry.second.blocks.lower_bound(from);
             return first != entry.second.blocks.end() && first->first < from + length;
           });
  }

  /// The block of a span; channels that a part of it lacks are gaps there.
  [[nodiscard]] Json block(std::int64_t time, std::int64_t length) const {
    Json data = Json::object();
    for (const auto& [name, stream] : streams_) {
      for (const Channel& channel : stream.channels) {
        const auto rate = static_cast<std::int64_t>(channel.sample_rate().hz());
        Json& samples = data[channel.name()] = Json::array();
        for (std::int64_t slot = time; slot < time + length; slot += stream.stride) {
          append(samples, slot_samples(stream, channel, slot)
                              .value_or(gaps(rate * stream.stride / kNanosecondsPerSecond)));
        }
      }
    }
    return described(time, length, std::move(data));
  }

  /// The block of a span without the channels that its parts lack; nothing when its parts differ in
  /// what they lack.
  [[nodiscard]] std::optional<Json> block_without_absent(std::int64_t time,
                                                         std::int64_t length) const {
    Json data = Json::object();
    for (const auto& [name, stream] : streams_) {
      for (const Channel& channel : stream.channels) {
        std::int64_t lacking = 0;
        Json samples = Json::array();
        for (std::int64_t slot = time; slot < time + length; slot += stream.stride) {
          const std::optional<Json> part = slot_samples(stream, channel, slot);
          if (part) append(samples, *part);
          if (!part) ++lacking;
        }
        if (lacking != 0 && lacking != length / stream.stride) return {};
        if (lacking == 0) data[channel.name()] = std::move(samples);
      }
    }
    return described(time, length, std::move(data));
  }

 private:
  void add_stream(const Json& described) {
    ScriptedStream stream;
    for (const Channel& channel : channels_of(described.at("channels"))) {
      stream.stride = std::lcm(stream.stride, channel.stride.value().count());
      stream.channels.push_back(channel);
    }
    stream.horizon = start_;
    base_stride_ = std::lcm(base_stride_, stream.stride);
    streams_.emplace(string_at(described, "name"), std::move(stream));
  }

  /// Takes a block unless its slot was known before.
  void add_block(const Json& block) {
    ScriptedStream& stream = streams_.at(string_at(block, "stream"));
    const std::int64_t time = integer_at(block, "time_ns");
    if (time < stream.horizon) return;
    stream.blocks.emplace(time, block.at("data"));
    stream.horizon = time + stream.stride;
  }

  static void append(Json& samples, const Json& part) {
    for (const Json& sample : part) samples.push_back(sample);
  }
  static Json described(std::int64_t time, std::int64_t length, Json data) {
    return {{"time_ns", time}, {"duration_ns", length}, {"data", std::move(data)}};
  }

  std::int64_t start_;
  std::optional<std::int64_t> end_;
  bool skips_;
  std::int64_t base_stride_ = 1;
  std::int64_t output_stride_ = 1;
  std::map<std::string, ScriptedStream> streams_;
};

struct Span {
  std::int64_t time;
  std::int64_t length;
};

/// The span from `from` to `to` in base strides: one, or under "skip" the runs that have data.
std::vector<Span> tail_spans(const Script& script, std::int64_t from, std::int64_t to) {
  std::vector<Span> spans;
  const std::int64_t base = script.base_stride();
  for (std::int64_t time = from; time < to; time += base) {
    if (script.is_skipped(time, base)) continue;
    if (!spans.empty() && spans.back().time + spans.back().length == time) {
      spans.back().length += base;
    } else {
      spans.push_back({time, base});
    }
  }
  return spans;
}

Json right_bounded_outcome(const Script& script) {
  const std::int64_t end = script.end().value_or(script.greatest_horizon());
  // Once the source has ended, everything up to the request's end is known.
  const std::int64_t known = std::max(script.known(), end);
  const std::int64_t stride = script.output_stride();
  Json blocks = Json::array();
  std::int64_t cursor = script.start();
  for (; cursor < end && known - cursor >= stride; cursor += stride) {
    if (!script.is_skipped(cursor, stride)) blocks.push_back(script.block(cursor, stride));
  }
  for (const Span& span : tail_spans(script, cursor, end)) {
    blocks.push_back(script.block(span.time, span.length));
  }
  return outcome(std::move(blocks), "ended");
}

/// The known wrong way to answer a bounded request.
class WrongRun {
 public:
  explicit WrongRun(const Script& script) : script_(script) {}

  Json outcome_of_run() {
    const char* end = "ended";
    if (!serve_outputs() || !serve_tail()) end = "AssertionError";
    return outcome(std::move(blocks_), end);
  }

 private:
  /// Serves whole outputs while every stream has data. False: a block could not be joined.
  bool serve_outputs() {
    const std::int64_t stride = script_.output_stride();
    for (; script_.known() - cursor_ >= stride; cursor_ += stride) {
      if (script_.is_skipped(cursor_, stride)) continue;
      is_over_ = script_.end() && cursor_ > *script_.end();
      if (is_over_) return true;
      if (!serve({cursor_, stride})) return false;
      is_over_ = script_.end() && cursor_ + stride >= *script_.end();
      if (is_over_) return true;
    }
    return true;
  }

  bool serve_tail() {
    if (is_over_ || script_.output_stride() == script_.base_stride()) return true;
    const std::int64_t known = script_.known();
    const std::int64_t tail_end = std::min(known, script_.end().value_or(known));
    return std::ranges::all_of(tail_spans(script_, cursor_, tail_end),
                               [&](const Span& span) { return serve(span); });
  }

  bool serve(const Span& span) {
    std::optional<Json> block = script_.block_without_absent(span.time, span.length);
    if (!block) return false;
    blocks_.push_back(*std::move(block));
    return true;
  }

  const Script& script_;
  std::int64_t cursor_ = script_.start();
  bool is_over_ = false;
  Json blocks_ = Json::array();
};

/// The end of what every live stream knows when the clock stands at `now`, by the deadlines alone.
std::int64_t known_by_deadlines(const Json& mux, std::int64_t now) {
  const Duration timeout = duration_at(mux, "timeout");
  if (timeout != Duration::zero()) return now - timeout.count();
  std::int64_t known = now;
  for (const Json& described : mux.at("streams")) {
    Duration stride(1);
    std::optional<Duration> latency;
    for (const Channel& channel : channels_of(described.at("channels"))) {
      stride = Duration(std::lcm(stride.count(), channel.stride.value().count()));
      if (channel.max_latency) {
        latency = std::max(latency.value_or(Duration()), *channel.max_latency);
      }
    }
    if (!latency) return std::numeric_limits<std::int64_t>::min();
    known = std::min(known, now - (*latency + stride).count());
  }
  return known;
}

/// Whether the whole request has become known without anything to deliver at its end, so that a
/// stream that skips gaps is over although no block reaches the end.
bool is_over_by_deadlines(const Json& trace, std::int64_t end) {
  const Json& mux = trace.at("mux");
  const Json& reads = trace.at("reads");
  if (trace.at("expect_end") != "would-block" || string_at(mux, "on_gap") != "skip" ||
      reads.empty()) {
    return false;
  }
  const std::int64_t output_stride = optional_integer_at(mux, "stride").value_or(0);
  return known_by_deadlines(mux, integer_at(reads.back(), "now_ns")) >= end + 2 * output_stride;
}

Json right_live_outcome(const Json& trace) {
  const std::optional<std::int64_t> end = optional_integer_at(trace, "end_ns");
  Json blocks = Json::array();
  for (const Json& block : trace.at("expect")) {
    if (!end || integer_at(block, "time_ns") < *end) blocks.push_back(block);
  }
  const bool is_over = end && is_over_by_deadlines(trace, *end);
  return outcome(std::move(blocks), is_over ? Json("ended") : trace.at("expect_end"));
}

/// Nothing is known to be wrong in a live trace but one last block that starts at the end.
std::string live_vector_error(const Json& trace) {
  const std::optional<std::int64_t> end = optional_integer_at(trace, "end_ns");
  const Json& blocks = trace.at("expect");
  for (std::size_t i = 0; i < blocks.size() && end; ++i) {
    const std::int64_t time = integer_at(blocks[i], "time_ns");
    if (time > *end || (time == *end && i + 1 < blocks.size())) {
      return "a block after the end";
    }
  }
  return {};
}

bool is_live(const Json& trace) { return trace.at("mux").at("start").is_null(); }

}  // namespace

Json right_stream_outcome(const Json& trace) {
  return is_live(trace) ? right_live_outcome(trace) : right_bounded_outcome(Script(trace));
}

std::string stream_vector_error(const Json& trace) {
  if (is_live(trace)) return live_vector_error(trace);
  const Script script(trace);
  return difference(WrongRun(script).outcome_of_run(),
                    outcome(trace.at("expect"), trace.at("expect_end")));
}

}  // namespace arrakis::vectors
