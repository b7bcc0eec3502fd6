#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/error.hpp"
#include "arrakis/mux.hpp"
#include "core/budget.hpp"
#include "core/logging.hpp"
#include "core/quote.hpp"
#include "mux/drop_log.hpp"
#include "mux/gap_log.hpp"
#include "mux/timed_queue.hpp"

namespace arrakis::inline v1 {
namespace {

Duration saturated_sum(Duration a, Duration b) { return (GpsTime() + a + b).since_epoch(); }

Duration timeout_of(const MuxStream& stream, const MuxOptions& options) {
  if (options.timeout > Duration::zero()) return options.timeout;
  if (stream.max_latency) {
    return saturated_sum(std::max(*stream.max_latency, Duration::zero()), stream.stride);
  }
  return options.fallback_timeout.value_or(Duration::zero());
}

template <typename... Args>
[[noreturn]] void fail(Errc code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

Duration common_stride_of(const std::vector<MuxStream>& streams) {
  if (streams.empty()) fail(Errc::invalid_argument, "a multiplexer needs at least one stream");
  Duration common(1);
  for (const MuxStream& stream : streams) {
    if (stream.stride <= Duration::zero()) {
      fail(Errc::precondition, "stream {} has a stride of {} ns; it must be positive",
           quoted(stream.name), stream.stride.count());
    }
    const std::optional<Duration> next = checked_lcm(common, stream.stride);
    if (!next) {
      fail(Errc::precondition,
           "the stride of stream {} ({} ns) has no common multiple in range with those of the "
           "streams before it ({} ns)",
           quoted(stream.name), stream.stride.count(), common.count());
    }
    common = *next;
  }
  return common;
}

Duration output_stride(std::optional<Duration> wanted, Duration base) {
  const Duration stride = wanted.value_or(base);
  if (stride <= Duration::zero() || stride % base != Duration::zero()) {
    fail(Errc::invalid_argument,
         "the output stride ({} ns) must be a positive integer multiple of the streams' common "
         "stride ({} ns)",
         stride.count(), base.count());
  }
  return stride;
}

}  // namespace

struct MuxSchedule::Impl {
  struct Stream {
    Stream(MuxStream stream, const MuxOptions& options, GpsTime now)
        : info(std::move(stream)),
          log_name(options.label.empty() ? info.name : options.label + " " + info.name),
          queue(info.stride, timeout_of(info, options), options.start, now),
          gap_log(queue.timeout()) {}

    MuxStream info;
    std::string log_name;
    TimedQueue queue;
    DropLog drop_log;
    GapLog gap_log;
    std::uint64_t stride_mismatched = 0;
    bool is_lacking = true;
  };

  Impl(std::vector<MuxStream> infos, const MuxOptions& options, GpsTime now);

  [[nodiscard]] PushResult push(std::size_t index, GpsTime time, Duration duration, GpsTime now);
  void declare_complete(GpsTime end);
  void arm(std::size_t index);
  [[nodiscard]] bool ready(GpsTime now);
  [[nodiscard]] std::optional<GpsTime> next_deadline();
  PullStatus pull(Duration length, std::vector<Served>& slots);

  // To be called after every change of a stream's queue.
  void refresh(Stream& stream);
  // To be called when cursors moved otherwise than all by the same span.
  void note_cursors_moved();
  [[nodiscard]] GpsTime first_cursor();
  [[nodiscard]] bool have_equal_cursors() const;
  [[nodiscard]] Duration least_known() const;

  [[nodiscard]] bool is_pass_due(GpsTime now) const;
  void run_pass(GpsTime now);
  [[nodiscard]] GpsTime alignment_target(GpsTime latest_cursor) const;
  void align();

  [[nodiscard]] std::optional<GpsTime> deadline_from(const Stream& stream, GpsTime from) const;
  [[nodiscard]] std::optional<GpsTime> deadline();
  [[nodiscard]] std::optional<GpsTime> deadline_before_alignment() const;
  void order_by_deadline();

  [[nodiscard]] bool has_data_within(Duration length) const;
  void skip(Duration length);
  void serve(Stream& stream, Duration length, std::vector<Served>& slots);

  bool is_live;
  GapPolicy on_gap;
  Duration base_stride;
  Duration stride;
  Duration finest_stride = Duration::max();
  bool uses_timeouts = true;
  std::vector<Stream> streams;
  std::vector<Trimmed> trimmed;
  std::uint64_t skipped_strides = 0;

  // How many streams don't know an output stride yet.
  std::size_t lacking;
  // Live: all cursors stand on one multiple of the output stride.
  bool is_aligned = false;
  // The least cursor, once asked for.
  std::optional<GpsTime> cursor;

  // The slot of the finest stride in which the last pass ran; empty before the first.
  GpsTime pass_slot_begin = GpsTime::max();
  GpsTime pass_slot_end = GpsTime::min();
  bool is_pass_wanted = false;
  // What next_deadline() answered last.
  std::optional<GpsTime> announced_deadline;

  // The streams by when a slot that is now missing times out, the last one first, and how many from
  // the beginning are not lacking. The order holds as long as all cursors move together.
  std::vector<std::size_t> by_deadline;
  std::size_t not_lacking_prefix = 0;
};

MuxSchedule::Impl::Impl(std::vector<MuxStream> infos, const MuxOptions& options, GpsTime now)
    : is_live(!options.start),
      on_gap(options.on_gap),
      base_stride(common_stride_of(infos)),
      stride(output_stride(options.stride, base_stride)),
      lacking(infos.size()) {
  const Duration fallback = options.fallback_timeout.value_or(Duration::zero());
  if (options.timeout < Duration::zero() || fallback < Duration::zero()) {
    fail(Errc::invalid_argument, "a timeout must not be negative (timeout {} ns, fallback {} ns)",
         options.timeout.count(), fallback.count());
  }
  streams.reserve(infos.size());
  for (MuxStream& info : infos) {
    uses_timeouts = uses_timeouts && (info.max_latency || options.fallback_timeout);
    finest_stride = std::min(finest_stride, info.stride);
    if (stride / info.stride > kMaxSlotsPerOutput) {
      fail(Errc::invalid_argument,
           "an output stride of {} ns has more than {} slots of stream {} ({} ns each)",
           stride.count(), kMaxSlotsPerOutput, quoted(info.name), info.stride.count());
    }
    streams.emplace_back(std::move(info), options, now);
    streams.back().queue.ensure_capacity(stride);
  }
}

void MuxSchedule::Impl::refresh(Stream& stream) {
  const bool is_lacking = stream.queue.known() < this->stride;
  if (is_lacking == stream.is_lacking) return;
  stream.is_lacking = is_lacking;
  if (is_lacking) {
    ++lacking;
    not_lacking_prefix = 0;
  } else {
    --lacking;
  }
}

void MuxSchedule::Impl::note_cursors_moved() {
  cursor.reset();
  is_aligned = false;
  by_deadline.clear();
}

GpsTime MuxSchedule::Impl::first_cursor() {
  if (!cursor) {
    cursor = GpsTime::max();
    for (const Stream& stream : streams) cursor = std::min(*cursor, stream.queue.cursor());
  }
  return *cursor;
}

bool MuxSchedule::Impl::have_equal_cursors() const {
  if (is_aligned) return true;
  const GpsTime first = streams.front().queue.cursor();
  return std::all_of(streams.begin(), streams.end(),
                     [&](const Stream& stream) { return stream.queue.cursor() == first; });
}

Duration MuxSchedule::Impl::least_known() const {
  Duration known = Duration::max();
  for (const Stream& stream : streams) known = std::min(known, stream.queue.known());
  return known;
}

PushResult MuxSchedule::Impl::push(std::size_t index, GpsTime time, Duration duration,
                                   GpsTime now) {
  Stream& stream = streams[index];
  // The first and last block of a bounded request may be cut by its edges.
  const bool is_edge = !is_live && duration > Duration::zero() && duration < stream.info.stride;
  if (duration != stream.info.stride && !is_edge) {
    ++stream.stride_mismatched;
    stream.drop_log.drop(DropKind::stride_mismatched, stream.log_name, time, now);
    return PushResult::stride_mismatched;
  }
  if (!is_edge && stream.stride_mismatched > 0) {
    if (const auto unreported = stream.drop_log.finish(DropKind::stride_mismatched)) {
      log::info("mux", "{}: stride matches again; {} element(s) dropped since last report",
                stream.log_name, *unreported);
    }
  }

  const bool was_initialized = stream.queue.initialized();
  const PushResult result = stream.queue.push(time);
  if (!was_initialized && stream.queue.initialized()) {
    is_pass_wanted = true;
    note_cursors_moved();
  }
  refresh(stream);
  if (result == PushResult::late) {
    stream.drop_log.drop(DropKind::late, stream.log_name, time, now);
  } else if (result == PushResult::overflowed) {
    stream.drop_log.drop(DropKind::overflow, stream.log_name, time, now);
  }
  return result;
}

void MuxSchedule::Impl::declare_complete(GpsTime end) {
  for (Stream& stream : streams) {
    stream.queue.declare_gap(slot_of(end - Duration(1), stream.info.stride));
    refresh(stream);
  }
}

void MuxSchedule::Impl::arm(std::size_t index) {
  Stream& stream = streams[index];
  if (!uses_timeouts || stream.queue.is_armed()) return;
  stream.queue.arm();
  is_pass_wanted = true;
  by_deadline.clear();
}

bool MuxSchedule::Impl::ready(GpsTime now) {
  trimmed.clear();
  if (uses_timeouts && is_pass_due(now)) run_pass(now);
  if (lacking > 0) return false;
  if (!is_live || have_equal_cursors()) return true;
  align();
  return lacking == 0;
}

bool MuxSchedule::Impl::is_pass_due(GpsTime now) const {
  if (is_pass_wanted || now < pass_slot_begin || now >= pass_slot_end) return true;
  return announced_deadline && now >= *announced_deadline;
}

void MuxSchedule::Impl::run_pass(GpsTime now) {
  is_pass_wanted = false;
  if (announced_deadline && now >= *announced_deadline) announced_deadline.reset();
  pass_slot_begin = slot_of(now, finest_stride);
  pass_slot_end = pass_slot_begin + finest_stride;
  for (Stream& stream : streams) {
    stream.queue.update_timeout(now);
    refresh(stream);
  }
  if (is_live) align();
}

GpsTime MuxSchedule::Impl::alignment_target(GpsTime latest_cursor) const {
  return latest_cursor.ceil_to(stride);
}

// Moves every stream, also one of which nothing is known, to the first multiple of the output
// stride at which each stream that has something can begin.
void MuxSchedule::Impl::align() {
  std::optional<GpsTime> latest;
  for (const Stream& stream : streams) {
    if (const auto front = stream.queue.front_time()) {
      latest = std::max(latest.value_or(*front), *front);
    }
  }
  if (!latest) return;
  const GpsTime target = alignment_target(*latest);
  bool has_moved = false;
  bool all_there = true;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    Stream& stream = streams[i];
    if (stream.queue.cursor() < target) {
      const std::size_t passed = stream.queue.drain_until(target);
      refresh(stream);
      has_moved = true;
      if (passed > 0) {
        trimmed.push_back({i, passed});
        log::debug("mux", "{}: passed over {} element(s) to begin at GPS {}", stream.log_name,
                   passed, format_time(target));
      }
    }
    all_there = all_there && stream.queue.cursor() == target;
  }
  if (has_moved) note_cursors_moved();
  is_aligned = all_there;
}

// When the output stride that begins at `from` becomes known on the stream by timeout.
std::optional<GpsTime> MuxSchedule::Impl::deadline_from(const Stream& stream, GpsTime from) const {
  if (!stream.queue.is_armed()) return std::nullopt;
  return from + (stride - stream.info.stride) + stream.queue.timeout();
}

std::optional<GpsTime> MuxSchedule::Impl::deadline() {
  if (is_live && !is_aligned) return deadline_before_alignment();
  if (by_deadline.empty()) order_by_deadline();
  while (not_lacking_prefix < by_deadline.size() &&
         !streams[by_deadline[not_lacking_prefix]].is_lacking) {
    ++not_lacking_prefix;
  }
  if (not_lacking_prefix == by_deadline.size()) return GpsTime::min();
  const Stream& last = streams[by_deadline[not_lacking_prefix]];
  return deadline_from(last, last.queue.cursor());
}

// When every stream has something, all of them are moved to the multiple of the output stride at or
// after the latest cursor; that output must then be known on each.
std::optional<GpsTime> MuxSchedule::Impl::deadline_before_alignment() const {
  GpsTime latest = GpsTime::min();
  for (const Stream& stream : streams) latest = std::max(latest, stream.queue.cursor());
  const GpsTime target = alignment_target(latest);
  std::optional<GpsTime> deadline = GpsTime::min();
  for (const Stream& stream : streams) {
    if (stream.queue.horizon() >= target + stride) continue;
    deadline = std::max(*deadline, *deadline_from(stream, target));
  }
  return deadline;
}

void MuxSchedule::Impl::order_by_deadline() {
  by_deadline.resize(streams.size());
  for (std::size_t i = 0; i < streams.size(); ++i) by_deadline[i] = i;
  const auto key = [this](std::size_t i) {
    return deadline_from(streams[i], streams[i].queue.cursor()).value_or(GpsTime::max());
  };
  std::sort(by_deadline.begin(), by_deadline.end(),
            [&](std::size_t a, std::size_t b) { return key(a) > key(b); });
  not_lacking_prefix = 0;
}

std::optional<GpsTime> MuxSchedule::Impl::next_deadline() {
  announced_deadline.reset();
  if (!uses_timeouts) return lacking == 0 ? std::optional(GpsTime::min()) : std::nullopt;
  const std::optional<GpsTime> next = deadline();
  if (next != GpsTime::min()) announced_deadline = next;
  return next;
}

bool MuxSchedule::Impl::has_data_within(Duration length) const {
  return std::any_of(streams.begin(), streams.end(), [&](const Stream& stream) {
    const std::optional<GpsTime> next = stream.queue.next_element_time();
    return next && *next < stream.queue.cursor() + length;
  });
}

PullStatus MuxSchedule::Impl::pull(Duration length, std::vector<Served>& slots) {
  slots.clear();
  if (length <= Duration::zero() || length % base_stride != Duration::zero()) {
    fail(Errc::invalid_argument,
         "a pull of {} ns is no positive integer multiple of the streams' common stride ({} ns)",
         length.count(), base_stride.count());
  }
  const bool is_known = length == stride ? lacking == 0 : least_known() >= length;
  if (!is_known) {
    fail(Errc::failed_precondition, "a pull of {} ns: not all streams know that much",
         length.count());
  }

  if (on_gap != GapPolicy::fill && !has_data_within(length)) {
    if (on_gap == GapPolicy::raise) return PullStatus::gap;
    skip(length);
    return PullStatus::skipped;
  }

  std::size_t count = 0;
  for (const Stream& stream : streams) {
    count += static_cast<std::size_t>(length / stream.info.stride);
  }
  slots.reserve(count);
  for (Stream& stream : streams) serve(stream, length, slots);
  if (cursor) *cursor += length;
  is_aligned = is_aligned && length % stride == Duration::zero();
  return PullStatus::output;
}

// Moves on, by whole lengths, to the earliest element or to the end of what all streams know.
void MuxSchedule::Impl::skip(Duration length) {
  const GpsTime anchor = first_cursor();
  GpsTime target = GpsTime::max();
  for (const Stream& stream : streams) {
    target = std::min({target, stream.queue.horizon(),
                       stream.queue.next_element_time().value_or(GpsTime::max())});
  }
  const std::int64_t strides = (target - anchor) / length;
  skipped_strides += static_cast<std::uint64_t>(strides);
  target = anchor + strides * length;
  for (Stream& stream : streams) {
    const GpsTime first = stream.queue.cursor();
    if (first >= target) continue;
    stream.queue.drain_until(target);
    stream.gap_log.gap(stream.log_name, first, stream.queue.cursor() - stream.info.stride);
    refresh(stream);
  }
  const bool was_aligned = is_aligned;
  note_cursors_moved();
  is_aligned = was_aligned && length % stride == Duration::zero();
}

void MuxSchedule::Impl::serve(Stream& stream, Duration length, std::vector<Served>& slots) {
  for (Duration done{0}; done < length; done += stream.info.stride) {
    const GpsTime slot = stream.queue.cursor();
    const Served served = stream.queue.serve();
    if (served.is_gap) {
      stream.gap_log.gap(stream.log_name, slot, slot);
    } else {
      stream.gap_log.data(stream.log_name, slot);
    }
    slots.push_back(served);
  }
  refresh(stream);
}

MuxSchedule::MuxSchedule(std::vector<MuxStream> streams, const MuxOptions& options, GpsTime now)
    : impl_(std::make_unique<Impl>(std::move(streams), options, now)) {}
MuxSchedule::~MuxSchedule() = default;
MuxSchedule::MuxSchedule(MuxSchedule&&) noexcept = default;
MuxSchedule& MuxSchedule::operator=(MuxSchedule&&) noexcept = default;

std::size_t MuxSchedule::size() const { return impl_->streams.size(); }
Duration MuxSchedule::stride() const { return impl_->stride; }
Duration MuxSchedule::base_stride() const { return impl_->base_stride; }
bool MuxSchedule::uses_timeouts() const { return impl_->uses_timeouts; }
const MuxStream& MuxSchedule::stream(std::size_t stream) const {
  return impl_->streams[stream].info;
}
Duration MuxSchedule::timeout(std::size_t stream) const {
  return impl_->streams[stream].queue.timeout();
}

PushResult MuxSchedule::push(std::size_t stream, GpsTime time, Duration duration, GpsTime now) {
  return impl_->push(stream, time, duration, now);
}

bool MuxSchedule::declare_gap(std::size_t stream, GpsTime time) {
  Impl::Stream& state = impl_->streams[stream];
  const PushResult result = state.queue.declare_gap(slot_of(time, state.info.stride));
  impl_->refresh(state);
  return result == PushResult::accepted;
}

void MuxSchedule::declare_complete(GpsTime end) { impl_->declare_complete(end); }
void MuxSchedule::arm(std::size_t stream) { impl_->arm(stream); }
bool MuxSchedule::ready(GpsTime now) { return impl_->ready(now); }
const std::vector<MuxSchedule::Trimmed>& MuxSchedule::trimmed() const { return impl_->trimmed; }
std::optional<GpsTime> MuxSchedule::next_deadline() { return impl_->next_deadline(); }
PullStatus MuxSchedule::pull(std::optional<Duration> length, std::vector<Served>& slots) {
  return impl_->pull(length.value_or(impl_->stride), slots);
}
GpsTime MuxSchedule::cursor() const { return impl_->first_cursor(); }
Duration MuxSchedule::known_span() const {
  return impl_->least_known() / impl_->base_stride * impl_->base_stride;
}
std::uint64_t MuxSchedule::skipped_strides() const { return impl_->skipped_strides; }

QueueState MuxSchedule::state(std::size_t stream) const {
  const TimedQueue& queue = impl_->streams[stream].queue;
  return {.cursor = queue.cursor(),
          .horizon = queue.horizon(),
          .stored = queue.stored(),
          .initialized = queue.initialized(),
          .capacity = queue.capacity()};
}

DropCounts MuxSchedule::drops(std::size_t stream) const {
  const Impl::Stream& state = impl_->streams[stream];
  DropCounts counts = state.queue.drops();
  counts.stride_mismatched = state.stride_mismatched;
  return counts;
}

void MuxSchedule::ensure_capacity(Duration span) {
  for (Impl::Stream& stream : impl_->streams) stream.queue.ensure_capacity(span);
}

}  // namespace arrakis::inline v1
