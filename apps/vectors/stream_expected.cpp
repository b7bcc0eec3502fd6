#include "vectors/stream_expected.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "vectors/vector_json.hpp"

namespace arrakis::vectors {
namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::int64_t kMostBlocks = 100'000;

/// One stream of the script: its blocks by time.
struct Stream {
  std::vector<Channel> channels;
  std::int64_t stride = 1;
  std::map<std::int64_t, Json> blocks;  ///< time to data
  std::int64_t horizon = 0;             ///< end of the newest block
};

class BoundedModel {
 public:
  explicit BoundedModel(const Json& trace)
      : skips_(string_at(trace.at("mux"), "on_gap") == "skip"),
        cursor_(integer_at(trace.at("mux"), "start")) {
    read_streams(trace.at("mux"));
    for (const Json& read : trace.at("reads")) {
      for (const Json& block : read.at("blocks")) accept(block);
    }
    output_stride_ = optional_integer_at(trace.at("mux"), "stride").value_or(base_stride_);
    end_ = optional_integer_at(trace, "end_ns").value_or(greatest_horizon());
    if (output_stride_ <= 0 || (end_ - cursor_) / output_stride_ > kMostBlocks) {
      throw std::runtime_error("malformed: the request is too long for its stride");
    }
  }

  Json blocks() {
    Json blocks = Json::array();
    while (cursor_ < end_) {
      // Once the source has ended, everything up to the request's end is known.
      if (std::max(known(), end_) - cursor_ >= output_stride_) {
        serve(output_stride_, blocks);
      } else {
        serve_tail(blocks);
      }
    }
    return blocks;
  }

 private:
  void read_streams(const Json& mux) {
    for (const Json& described : mux.at("streams")) {
      Stream stream;
      for (const Channel& channel : channels_of(described.at("channels"))) {
        stream.stride = std::lcm(stream.stride, channel.stride.value().count());
        stream.channels.push_back(channel);
      }
      stream.horizon = cursor_;
      base_stride_ = std::lcm(base_stride_, stream.stride);
      streams_.emplace(string_at(described, "name"), std::move(stream));
    }
  }

  /// Takes a block unless its slot was known before.
  void accept(const Json& block) {
    Stream& stream = streams_.at(string_at(block, "stream"));
    const std::int64_t time = integer_at(block, "time_ns");
    if (time < stream.horizon) return;
    stream.blocks.emplace(time, block.at("data"));
    stream.horizon = time + stream.stride;
  }

  [[nodiscard]] std::int64_t known() const {
    std::int64_t known = streams_.begin()->second.horizon;
    for (const auto& [name, stream] : streams_) known = std::min(known, stream.horizon);
    return known;
  }
  [[nodiscard]] std::int64_t greatest_horizon() const {
    std::int64_t greatest = cursor_;
    for (const auto& [name, stream] : streams_) greatest = std::max(greatest, stream.horizon);
    return greatest;
  }
  [[nodiscard]] bool has_data(std::int64_t from, std::int64_t to) const {
    return std::ranges::any_of(streams_, [&](const auto& entry) {
      const auto first = entry.second.blocks.lower_bound(from);
      return first != entry.second.blocks.end() && first->first < to;
    });
  }

  void serve(std::int64_t length, Json& blocks) {
    if (!skips_ || has_data(cursor_, cursor_ + length)) {
      blocks.push_back(block_at(cursor_, length));
    }
    cursor_ += length;
  }

  /// The last output stride is cut short by the end: one shorter block or, where gaps are skipped,
  /// one a contiguous run of base strides with data.
  void serve_tail(Json& blocks) {
    std::int64_t length = end_ - cursor_;
    if (skips_) {
      if (!has_data(cursor_, cursor_ + base_stride_)) {
        cursor_ += base_stride_;
        return;
      }
      length = base_stride_;
      while (cursor_ + length < end_ &&
             has_data(cursor_ + length, cursor_ + length + base_stride_)) {
        length += base_stride_;
      }
    }
    serve(length, blocks);
  }

  [[nodiscard]] Json block_at(std::int64_t time, std::int64_t length) const {
    Json data = Json::object();
    for (const auto& [name, stream] : streams_) {
      for (const Channel& channel : stream.channels) {
        data[channel.name()] = samples_of(stream, channel, time, time + length);
      }
    }
    return {{"time_ns", time}, {"duration_ns", length}, {"data", std::move(data)}};
  }

  static Json samples_of(const Stream& stream, const Channel& channel, std::int64_t from,
                         std::int64_t to) {
    Json samples = Json::array();
    for (std::int64_t slot = from; slot < to; slot += stream.stride) {
      const auto found = stream.blocks.find(slot);
      if (found != stream.blocks.end() && found->second.contains(channel.name())) {
        for (const Json& sample : found->second.at(channel.name())) samples.push_back(sample);
      } else {
        const auto rate = static_cast<std::int64_t>(channel.sample_rate().hz());
        const std::int64_t gaps = rate * stream.stride / kNanosecondsPerSecond;
        for (std::int64_t i = 0; i < gaps; ++i) samples.push_back(nullptr);
      }
    }
    return samples;
  }

  bool skips_;
  std::int64_t cursor_;
  std::int64_t base_stride_ = 1;
  std::int64_t output_stride_ = 1;
  std::int64_t end_ = 0;
  std::map<std::string, Stream> streams_;
};

/// The end of what every live stream knows when the clock stands at `now`, by the deadlines alone.
std::int64_t known_by_deadlines(const Json& mux, std::int64_t now) {
  std::int64_t known = now;
  for (const Json& described : mux.at("streams")) {
    Duration stride(1);
    std::optional<Duration> latency;
    for (const Channel& channel : channels_of(described.at("channels"))) {
      stride = Duration(std::lcm(stride.count(), channel.stride.value().count()));
      if (channel.max_latency)
        latency = std::max(latency.value_or(Duration()), *channel.max_latency);
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
  if (string_at(mux, "on_gap") != "skip" || reads.empty()) return false;
  const std::int64_t output_stride = optional_integer_at(mux, "stride").value_or(0);
  return known_by_deadlines(mux, integer_at(reads.back(), "now_ns")) >= end + 2 * output_stride;
}

Json live_outcome(const Json& trace) {
  const std::optional<std::int64_t> end = optional_integer_at(trace, "end_ns");
  Json blocks = Json::array();
  for (const Json& block : trace.at("expect")) {
    if (!end || integer_at(block, "time_ns") < *end) blocks.push_back(block);
  }
  const bool is_over = end && is_over_by_deadlines(trace, *end);
  return {{"blocks", std::move(blocks)}, {"end", is_over ? Json("ended") : trace.at("expect_end")}};
}

}  // namespace

Json right_stream_outcome(const Json& trace) {
  if (trace.at("mux").at("start").is_null()) return live_outcome(trace);
  return {{"blocks", BoundedModel(trace).blocks()}, {"end", "ended"}};
}

}  // namespace arrakis::vectors
