#include "arrakis/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrakis/error.hpp"
#include "arrakis/mux.hpp"
#include "arrakis/source.hpp"
#include "core/manual_clock.hpp"
#include "vectors/compare.hpp"
#include "vectors/exceptions.hpp"
#include "vectors/handlers.hpp"
#include "vectors/messages.hpp"
#include "vectors/stream_expected.hpp"
#include "vectors/vector_json.hpp"
#include "wire/part.hpp"
#include "wire/row_decoder.hpp"

namespace arrakis::vectors {
namespace {

constexpr std::string_view kFile = "stream.json";
constexpr const char* kWouldBlock = "would-block";
/// As many blocks more than expected are enough to see a difference.
constexpr std::size_t kMoreBlocks = 100;

/// The channels of a stream of the script, with what it takes to encode them as messages.
ChannelSet messaged_channels(const Json& stream) {
  std::vector<Channel> channels;
  for (Channel channel : channels_of(stream.at("channels"))) {
    channel.partition_id = string_at(stream, "name");
    channel.partition_index = static_cast<std::uint32_t>(channels.size());
    channels.push_back(std::move(channel));
  }
  return ChannelSet(std::move(channels));
}

/// A source that follows a trace. Each turn of the script sets the clock and lets its blocks arrive
/// one after the other: a poll hands over one and has then nothing more.
class ScriptedSource final : public Source {
 public:
  ScriptedSource(const Json& trace, ManualClock& clock)
      : reads_(trace.at("reads")), ends_(bool_at(trace, "done_at_end")), clock_(&clock) {
    for (const Json& stream : trace.at("mux").at("streams")) {
      streams_.push_back({string_at(stream, "name"), messaged_channels(stream)});
    }
  }

  /// Goes on to the next turn, if there is one.
  bool take_turn() {
    if (turn_ == reads_.size()) return false;
    const Json& read = reads_[turn_++];
    clock_->advance(time_at(read, "now_ns") - clock_->now());
    for (const Json& block : read.at("blocks")) waiting_.push_back(arrival_of(block));
    return true;
  }
  /// Whether any part is still to come.
  [[nodiscard]] bool has_parts() const {
    return !waiting_.empty() ||
           std::any_of(reads_.begin() + static_cast<std::ptrdiff_t>(turn_), reads_.end(),
                       [](const Json& read) { return !read.at("blocks").empty(); });
  }

  [[nodiscard]] const std::vector<StreamInfo>& streams() const override { return streams_; }
  void open(const OpenOptions& /*options*/) override {}
  bool poll(Sink& sink) override {
    if (waiting_.empty()) return true;
    const Arrival arrival = std::move(waiting_.front());
    waiting_.pop_front();
    sink.on_part(arrival.stream, arrival.part);
    return true;
  }
  void set_wakeup(std::function<void()> /*wake*/) override {}
  void pause(std::size_t /*stream*/) override {}
  void resume(std::size_t /*stream*/) override {}
  // The scripts of bounded requests know no deadlines.
  [[nodiscard]] bool caught_up(std::size_t /*stream*/) override { return false; }
  [[nodiscard]] bool exhausted() override { return false; }
  [[nodiscard]] bool done() const override {
    return ends_ && turn_ == reads_.size() && waiting_.empty();
  }
  void close() override {}

 private:
  struct Arrival {
    std::size_t stream;
    BlockPartPtr part;
  };

  [[nodiscard]] Arrival arrival_of(const Json& block) const {
    const std::string name = string_at(block, "stream");
    const auto found = std::ranges::find(streams_, name, &StreamInfo::id);
    if (found == streams_.end()) throw std::runtime_error("malformed: a block of no stream");
    return {static_cast<std::size_t>(found - streams_.begin()), part_of(block, found->channels)};
  }

  /// A block with all channels as a part; one that lacks some by way of a message, as only messages
  /// can lack channels.
  static BlockPartPtr part_of(const Json& block, const ChannelSet& channels) {
    const GpsTime time = time_at(block, "time_ns");
    const Json& data = block.at("data");
    if (data.size() == channels.size()) {
      BlockBuilder builder(time, channels);
      for (const Channel& channel : channels) {
        set_samples(builder, channel, data.at(channel.name()));
      }
      return to_part(builder.build(), channels);
    }
    Json rows = Json::array();
    for (const auto& [name, samples] : data.items()) {
      rows.push_back({{"id", *channels.at(name).partition_index}, {"values", samples}});
    }
    RowDecoder decoder(channels);
    return decode_message(decoder, encode_rows(rows, channels, time));
  }

  const Json& reads_;
  bool ends_;
  ManualClock* clock_;
  std::size_t turn_ = 0;
  std::vector<StreamInfo> streams_;
  std::deque<Arrival> waiting_;
};

/// Whether the trace delivers blocks that reach beyond the span asked for.
bool shows_whole_blocks(const Json& trace) {
  const std::optional<std::int64_t> start = optional_integer_at(trace.at("mux"), "start");
  const std::optional<std::int64_t> end = optional_integer_at(trace, "end_ns");
  return std::ranges::any_of(trace.at("expect"), [&](const Json& block) {
    const std::int64_t from = integer_at(block, "time_ns");
    const std::int64_t to = from + integer_at(block, "duration_ns");
    return (start && from < *start) || (end && from < *end && to > *end);
  });
}

StreamOptions options_of(const Json& trace, const Clock& clock) {
  const Json& mux = trace.at("mux");
  StreamOptions options;
  options.start = optional_time_at(mux, "start");
  options.end = optional_time_at(trace, "end_ns");
  options.on_gap = parse_gap_policy(string_at(mux, "on_gap"));
  options.stride = optional_duration_at(mux, "stride");
  if (const Duration timeout = duration_at(mux, "timeout"); timeout != Duration::zero()) {
    options.timeout = timeout;
  }
  options.whole_blocks = shows_whole_blocks(trace);
  options.clock = &clock;
  return options;
}

/// Whether the trace stops in the middle: after a turn without data its reader serves one block
/// only, so that with the last turn the rest is left unserved.
bool is_cut_short(const Json& trace) {
  const Json& reads = trace.at("reads");
  return string_at(trace, "expect_end") == kWouldBlock && !reads.empty() &&
         reads.back().at("blocks").empty();
}

/// Plays a script to a stream and takes everything that comes without waiting.
class Run {
 public:
  Run(const Json& trace, ScriptedSource& source)
      : source_(&source),
        expected_(trace.at("expect").size()),
        is_cut_short_(is_cut_short(trace)) {}

  Json outcome(BlockStream& stream) {
    const char* end = nullptr;
    try {
      end = run_to_end(stream);
    } catch (const Error& error) {
      if (error.code() != Errc::gap) throw;
      end = "GapError";
    }
    if (is_cut_short_ && blocks_.size() > expected_) {
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(expected_), blocks_.end());
      end = kWouldBlock;
    }
    return {{"blocks", std::move(blocks_)}, {"end", end}};
  }

 private:
  const char* run_to_end(BlockStream& stream) {
    source_->take_turn();
    while (blocks_.size() <= expected_ + kMoreBlocks) {
      const BlockStream::Next next = stream.next(Duration::zero());
      if (next.status == BlockStream::Status::end) return "ended";
      if (next) {
        blocks_.push_back(block_json(next.block));
      } else if (!source_->take_turn()) {
        return kWouldBlock;
      }
    }
    return "does not end";
  }

  ScriptedSource* source_;
  std::size_t expected_;
  bool is_cut_short_;
  Json blocks_ = Json::array();
};

/// Drops by kind, summed over the streams.
Json stated_drops(const Json& trace) {
  Json sums = {{"late", 0}, {"overflow", 0}, {"stride-mismatched", 0}};
  for (const auto& [stream, drops] : trace.at("drops").items()) {
    for (const auto& [kind, count] : drops.items()) {
      sums[kind] = sums.value(kind, 0) + integer_of(count);
    }
  }
  return sums;
}

Json drops_of(const StreamStats& stats) {
  return {{"late", stats.late + stats.before_start},
          {"overflow", stats.overflow},
          {"stride-mismatched", stats.stride_mismatched}};
}

/// A stream that reached its end before the script's did has not seen all of the drops.
std::string drops_difference(const Json& stated, const Json& actual, bool saw_all) {
  Json bound = stated;
  for (const auto& [kind, count] : actual.items()) {
    if (!saw_all && bound.contains(kind) && count < bound[kind]) bound[kind] = count;
  }
  return difference({{"drops", bound}}, {{"drops", actual}});
}

Finding replay_trace(const Json& trace) {
  ManualClock clock(time_at(trace, "now_ns"));
  auto source = std::make_unique<ScriptedSource>(trace, clock);
  ScriptedSource& script = *source;
  BlockStream stream(std::move(source), options_of(trace, clock));

  const Json actual = Run(trace, script).outcome(stream);
  const Json stated = {{"blocks", trace.at("expect")}, {"end", trace.at("expect_end")}};
  Finding finding{.difference = difference(stated, actual)};
  if (finding.difference.empty()) {
    finding.difference =
        drops_difference(stated_drops(trace), drops_of(stream.stats()), !script.has_parts());
  }
  if (find_exception(kFile, string_at(trace, "family")) != nullptr) {
    const Json right = right_stream_outcome(trace);
    finding.vector_is_right = difference(right, stated).empty();
    finding.error = difference(right, actual);
    finding.vector_error = stream_vector_error(trace);
  }
  return finding;
}

}  // namespace

void replay_stream(const VectorFile& file, FileReport& report) {
  replay_traces(file, report, replay_trace);
}

}  // namespace arrakis::vectors
