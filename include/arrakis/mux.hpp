#pragma once

/// The multiplexer: puts the elements of many streams on one grid of time slots.
///
/// A stream's span is cut into slots of its native stride. A slot is known once an element for it
/// or for a later one arrived, or once its deadline passed; a known slot without an element is a
/// gap. An output stride is ready when every stream knows all of its slots. A hole of any length
/// costs nothing, a push costs O(1) however many streams there are.
///
/// No I/O, no threads, no clock: the caller passes "now". Not safe from several threads at once.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrakis/channel.hpp"
#include "arrakis/export.hpp"
#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

/// What to do with an output stride for which no stream has an element. (A stride for which at
/// least one has is always emitted, the others as gaps.)
enum class GapPolicy {
  fill,   ///< emit it, all gaps
  skip,   ///< leave it out
  raise,  ///< end the stream with Error(gap)
};
ARRAKIS_API std::string_view to_string(GapPolicy policy);
/// Reads "fill", "skip" or "raise" in any case; Error(invalid_argument) lists the choices.
ARRAKIS_API GapPolicy parse_gap_policy(std::string_view text);

/// What happens, besides being counted, when an element comes too late.
enum class DropPolicy {
  ignore,  ///< nothing
  warn,    ///< a warning for each
  raise,   ///< Error(late_data), once; the stream goes on after it
};
ARRAKIS_API std::string_view to_string(DropPolicy policy);
/// Reads "ignore", "warn" or "raise" in any case; Error(invalid_argument) lists the choices.
ARRAKIS_API DropPolicy parse_drop_policy(std::string_view text);

/// What the multiplexer must know of a stream.
struct MuxStream {
  std::string name;                     ///< for log lines
  Duration stride{};                    ///< native stride, > 0
  std::optional<Duration> max_latency;  ///< how late an element may come after its slot's end
};
/// The stream that carries `channels`: stride is the least common multiple of theirs, max_latency
/// the greatest that one declares. Error(precondition) names a channel without a stride, or the
/// channels whose common multiple is out of range.
ARRAKIS_API MuxStream mux_stream(std::string name, const ChannelSet& channels);

struct MuxOptions {
  /// First instant wanted. None: live, starting wherever the data starts, aligned to multiples of
  /// the output stride. With a start the grid is anchored there and never realigned.
  std::optional<GpsTime> start;
  /// Length of an output stride; none: the least common multiple of the streams' strides, else a
  /// positive multiple of it.
  std::optional<Duration> stride;
  GapPolicy on_gap = GapPolicy::fill;
  /// How long after its start a slot is waited for, for every stream; zero: each stream's
  /// max_latency + stride.
  Duration timeout{0};
  /// How long when a stream has no max_latency and `timeout` is zero. None: then a single stream
  /// without max_latency takes the deadlines away from all of them, even if `timeout` is given.
  std::optional<Duration> fallback_timeout;
  /// Put before the streams' names in log lines.
  std::string label;
};

/// What became of a pushed element.
enum class PushResult {
  accepted,  ///< stored
  /// A live stream that has served nothing yet dropped what lies before its first slot.
  startup_trimmed,
  late,               ///< older than what is known: dropped and counted
  misaligned,         ///< neither a multiple of the stride nor the start: dropped, not counted here
  stride_mismatched,  ///< its duration is not the stream's stride: dropped and counted
  overflowed,         ///< stored; the stream's oldest element was dropped and counted
};
/// Whether the pushed element itself was stored.
constexpr bool is_stored(PushResult result) {
  return result == PushResult::accepted || result == PushResult::overflowed;
}

/// How many elements of a stream were dropped, by reason.
struct DropCounts {
  std::uint64_t late = 0;
  std::uint64_t overflow = 0;
  std::uint64_t stride_mismatched = 0;
  friend bool operator==(const DropCounts&, const DropCounts&) = default;
};

/// Where a stream stands; for tests, metrics and back-pressure.
struct QueueState {
  GpsTime cursor;      ///< next slot to be served
  GpsTime horizon;     ///< exclusive end of what is known
  std::size_t stored;  ///< elements held
  bool initialized;    ///< has a start or had a first element
  std::size_t capacity;
};

/// The slots of one output stride.
template <typename Payload>
struct MuxOutput {
  struct Slot {
    GpsTime time;     ///< the element's own time, or the slot's start for a gap
    Payload payload;  ///< default-constructed for a gap
    bool is_gap;
  };
  GpsTime time;                            ///< start of the earliest slot
  Duration stride{};                       ///< length of this output
  std::vector<std::vector<Slot>> streams;  ///< by stream, in time order
};

/// What pull found instead of an output.
enum class PullStatus {
  output,   ///< an output was served
  skipped,  ///< GapPolicy::skip: moved on over strides without data; ask ready() again
  gap,      ///< GapPolicy::raise: a gap at MuxSchedule::gap_time(); nothing was moved
};

/// The multiplexer without payloads: slots, deadlines, alignment, drop counts. Mux<Payload> keeps
/// the payloads beside it.
///
/// Cost: push is O(1). ready() is O(1) but for one pass over the streams per slot of the finest
/// native stride (and after a stream's first data); pull is O(streams + slots served).
///
/// Deadlines. A stream whose deadlines are armed knows a slot, with or without an element, from
/// `timeout` after the slot's start. ready() applies this in a pass over all streams, which runs
///   - at the first ready() in a slot of the finest native stride,
///   - at the first ready() after a stream's first data or arm(),
///   - and at any ready(now) with now at or after what next_deadline() returned last.
/// So one who sleeps until next_deadline() and then calls ready() serves a block as soon as its
/// deadline has passed, and one who only calls ready() at most one finest stride later.
class ARRAKIS_API MuxSchedule {
 public:
  /// The most slots a stream may have in one output; a bound on what a pull can allocate.
  static constexpr std::int64_t kMaxSlotsPerOutput = std::int64_t{1} << 22;

  /// Error(invalid_argument): no streams, a negative timeout, an output stride that is no positive
  /// multiple (the message says "integer multiple" and both numbers) or has too many slots.
  /// Error(precondition): a stride that isn't positive, strides without a common multiple in range.
  /// `now` is where a live grid starts until data tells better.
  MuxSchedule(std::vector<MuxStream> streams, const MuxOptions& options, GpsTime now);
  ~MuxSchedule();
  MuxSchedule(MuxSchedule&&) noexcept;
  MuxSchedule& operator=(MuxSchedule&&) noexcept;

  [[nodiscard]] std::size_t size() const;
  /// The output stride.
  [[nodiscard]] Duration stride() const;
  /// The least common multiple of the streams' strides.
  [[nodiscard]] Duration base_stride() const;
  /// Whether streams can have deadlines: every one has a max_latency, or there is a
  /// `fallback_timeout`.
  [[nodiscard]] bool uses_timeouts() const;
  [[nodiscard]] const MuxStream& stream(std::size_t stream) const;
  /// How long after its start a slot of the stream is waited for; zero: nobody said.
  [[nodiscard]] Duration timeout(std::size_t stream) const;

  /// An element of the stream arrived. The caller stores its payload when is_stored(), after
  /// dropping the oldest one when overflowed.
  PushResult push(std::size_t stream, GpsTime time, Duration duration, GpsTime now);
  /// Says that the slots up to and including the one of `time` have no element that is still to
  /// come. False: that was known already.
  bool declare_gap(std::size_t stream, GpsTime time);
  /// Says of every stream that everything before `end` that is to come has come.
  void declare_complete(GpsTime end);
  /// Gives the stream its deadlines although the multiplexer has a start: call it once its source
  /// has caught up with the present. Live streams are armed from the beginning. Without effect
  /// unless uses_timeouts().
  void arm(std::size_t stream);

  /// Whether an output stride is known on every stream, after letting deadlines that have passed
  /// at `now` make gaps and, live, aligning all streams to a multiple of the output stride.
  bool ready(GpsTime now);
  /// Stored elements at the front of a stream that alignment passed over.
  struct Trimmed {
    std::size_t stream;
    std::size_t elements;
  };
  /// What the last ready() passed over; drop as many payloads from the front. Mostly empty.
  [[nodiscard]] const std::vector<Trimmed>& trimmed() const;
  /// The earliest `now` at which ready() becomes true if nothing more arrives, exactly: a call of
  /// ready(*next_deadline()) is true. GpsTime::min() when there is no need to wait: ask ready()
  /// again. Nothing when only data can make it true. Not const, because ready() keeps the
  /// appointment (see above). Amortized O(1) once live streams are aligned.
  [[nodiscard]] std::optional<GpsTime> next_deadline();

  /// A served slot: for an element its own time, for a gap the slot's start.
  struct Served {
    GpsTime time;
    bool is_gap;  ///< else take the payload at the front
  };
  /// Serves `length` (the output stride when none). `slots` receives the served slots, stream
  /// after stream: length / stream(i).stride of each. Empty unless PullStatus::output.
  /// Throws, with nothing changed: Error(invalid_argument) when `length` is no positive multiple
  /// of the base stride, Error(failed_precondition) when not all streams know that much.
  PullStatus pull(std::optional<Duration> length, std::vector<Served>& slots);
  /// Where the gap lies after PullStatus::gap.
  [[nodiscard]] GpsTime gap_time() const { return cursor(); }
  /// Start of the next output: the least of the streams' cursors.
  [[nodiscard]] GpsTime cursor() const;
  /// How much every stream knows, in whole base strides; zero or more.
  [[nodiscard]] Duration known_span() const;
  /// How many strides GapPolicy::skip has left out so far.
  [[nodiscard]] std::uint64_t skipped_strides() const;

  [[nodiscard]] QueueState state(std::size_t stream) const;
  [[nodiscard]] DropCounts drops(std::size_t stream) const;
  /// Lets every stream hold at least 2 * span.
  void ensure_capacity(Duration span);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The multiplexer with payloads. Payload: movable and default-constructible.
template <typename Payload>
class Mux {
 public:
  using Output = MuxOutput<Payload>;

  Mux(std::vector<MuxStream> streams, const MuxOptions& options, GpsTime now)
      : schedule_(std::move(streams), options, now), stored_(schedule_.size()) {}

  PushResult push(std::size_t stream, GpsTime time, Duration duration, Payload payload,
                  GpsTime now) {
    const PushResult result = schedule_.push(stream, time, duration, now);
    std::deque<Payload>& stored = stored_[stream];
    if (result == PushResult::overflowed) stored.pop_front();
    if (is_stored(result)) stored.push_back(std::move(payload));
    return result;
  }

  bool ready(GpsTime now) {
    const bool is_ready = schedule_.ready(now);
    for (const MuxSchedule::Trimmed& trimmed : schedule_.trimmed()) {
      std::deque<Payload>& stored = stored_[trimmed.stream];
      stored.erase(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(trimmed.elements));
    }
    return is_ready;
  }

  /// The next output, which must be ready; `length` and errors as in MuxSchedule::pull. The status
  /// says why there is none. When skipped, `output` has the time and length of what was left out
  /// and no slots.
  PullStatus pull(Output& output, std::optional<Duration> length = {}) {
    output.time = schedule_.cursor();
    output.stride = length.value_or(schedule_.stride());
    const PullStatus status = schedule_.pull(length, slots_);
    output.streams.resize(stored_.size());
    for (std::vector<typename Output::Slot>& slots : output.streams) slots.clear();
    if (status == PullStatus::skipped) output.stride = schedule_.cursor() - output.time;
    if (status != PullStatus::output) return status;
    auto served = slots_.begin();
    for (std::size_t stream = 0; stream < stored_.size(); ++stream) {
      std::vector<typename Output::Slot>& slots = output.streams[stream];
      const auto count = output.stride / schedule_.stream(stream).stride;
      slots.reserve(static_cast<std::size_t>(count));
      for (const auto end = served + count; served != end; ++served) {
        if (served->is_gap) {
          slots.push_back({served->time, Payload{}, true});
        } else {
          slots.push_back({served->time, std::move(stored_[stream].front()), false});
          stored_[stream].pop_front();
        }
      }
    }
    return status;
  }

  /// Slots, deadlines, counts; push, ready and pull go through this class.
  [[nodiscard]] MuxSchedule& schedule() { return schedule_; }
  [[nodiscard]] const MuxSchedule& schedule() const { return schedule_; }

 private:
  MuxSchedule schedule_;
  std::vector<std::deque<Payload>> stored_;
  std::vector<MuxSchedule::Served> slots_;
};

}  // namespace arrakis::inline v1
