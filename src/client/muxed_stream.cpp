#include "client/muxed_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/episode.hpp"
#include "core/logging.hpp"
#include "core/steady_time.hpp"
#include "wire/block_data.hpp"
#include "wire/part.hpp"

namespace arrakis::inline v1 {

namespace {

constexpr std::string_view kLog = "stream";

/// How long after the last deadline of a bounded request its missing data may still come, when the
/// source has nothing more.
constexpr Duration kCompletionMargin = std::chrono::seconds(2);

StreamOptions validated(StreamOptions options) {
  const auto refuse = [](const std::string& message) {
    throw Error(Errc::invalid_argument, message);
  };
  if (options.end && options.duration) refuse("end and duration are mutually exclusive");
  if (options.duration && *options.duration <= Duration::zero()) {
    refuse(
        fmt::format("the duration must be positive, not {}", format_duration(*options.duration)));
  }
  if (options.start && options.end && *options.end <= *options.start) {
    refuse(fmt::format("the end (GPS {}) must be after the start (GPS {})",
                       format_time(*options.end), format_time(*options.start)));
  }
  const auto positive = [&](const std::optional<Duration>& value, const char* name) {
    if (value && *value <= Duration::zero()) {
      refuse(fmt::format("the {} must be positive, not {}", name, format_duration(*value)));
    }
  };
  positive(options.timeout, "timeout");
  positive(options.fallback_timeout, "fallback timeout");
  if (options.clock == nullptr) refuse("no clock given");
  return options;
}

}

MuxedStream::MuxedStream(std::vector<std::unique_ptr<Source>> sources, StreamOptions options)
    : options_(validated(std::move(options))),
      sources_(std::move(sources)),
      time_(*options_.clock) {
  if (sources_.empty()) throw Error(Errc::invalid_argument, "no source to stream from");
  end_ = options_.end;
  if (options_.start && options_.duration) end_ = *options_.start + *options_.duration;

  std::vector<MuxStream> streams;
  std::vector<ChannelSet> sets;
  for (const std::unique_ptr<Source>& source : sources_) {
    first_feed_.push_back(feeds_.size());
    for (std::size_t i = 0; i < source->streams().size(); ++i) {
      const StreamInfo& info = source->streams()[i];
      MuxStream stream = mux_stream(describe(info), info.channels);
      if (stream.max_latency) *stream.max_latency += info.relay_grace;
      streams.push_back(std::move(stream));
      sets.push_back(info.channels);
      Feed feed;
      feed.source = source.get();
      feed.index = i;
      feed.armed = is_live();
      feeds_.push_back(feed);
    }
  }
  layout_ = std::make_shared<BlockLayout>(std::move(sets));
  MuxOptions mux_options;
  mux_options.start = options_.start;
  mux_options.stride = options_.stride;
  mux_options.on_gap = options_.on_gap;
  mux_options.timeout = options_.timeout.value_or(Duration::zero());
  // A timeout that the caller states holds for every stream.
  mux_options.fallback_timeout = options_.timeout ? options_.timeout : options_.fallback_timeout;
  mux_options.label = options_.label;
  deadline_time_ = time_.now();
  mux_.emplace(std::move(streams), std::move(mux_options), deadline_time_);
  for (std::size_t i = 0; i < feeds_.size(); ++i) {
    longest_timeout_ = std::max(longest_timeout_, mux_->schedule().timeout(i));
  }

  const OpenOptions open_options{options_.start, options_.clock};
  try {
    for (const std::unique_ptr<Source>& source : sources_) {
      source->set_wakeup([this] { wake(); });
      source->open(open_options);
    }
  } catch (...) {
    close();
    throw;
  }
}

BlockStream::Next MuxedStream::next(std::optional<Duration> wait) {
  using Steady = std::chrono::steady_clock;
  std::optional<Steady::time_point> limit;
  if (wait) limit = Steady::now() + std::max(*wait, Duration::zero());
  for (;;) {
    {
      const std::unique_lock lock(mutex_);
      if (cancelled_) return {BlockStream::Status::end, {}};
      wake_pending_ = false;
    }
    deliver_events();
    if (failure_) {
      Error failure = *std::exchange(failure_, std::nullopt);
      publish_stats();
      throw failure;
    }
    if (ended_) {
      publish_stats();
      return {BlockStream::Status::end, {}};
    }

    if (std::optional<SeriesBlock> block = serve()) {
      publish_stats();
      return {BlockStream::Status::block, *std::move(block)};
    }
    if (ended_ || failure_) continue;

    if (poll_sources() || !events_.empty() || failure_ || ended_) continue;
    publish_stats();
    if (limit && Steady::now() >= *limit) return {BlockStream::Status::timeout, {}};
    wait_until(limit);
  }
}

/// One round over the sources, each first in its turn, until the multiplexer has something. Whether
/// there is a reason to look again at once.
bool MuxedStream::poll_sources() {
  poll_time_ = time_.now();
  const GpsTime began = poll_time_;
  got_parts_ = false;
  bool is_drained = true;
  const std::size_t count = sources_.size();
  for (std::size_t k = 0; k < count && is_drained; ++k) {
    polling_ = (next_source_ + k) % count;
    try {
      is_drained = sources_[polling_]->poll(*this);
    } catch (const Error& error) {
      failure_ = error;
      end_stream();
      return true;
    }
  }
  if (++next_source_ >= count) next_source_ = 0;
  const bool has_armed = arm_feeds();
  balance_feeds();
  if (!is_drained) return got_parts_ || has_armed;  // the source wakes us when it has more
  // Everything that arrived before `began` has been pushed: only now do deadlines up to then mean
  // that something is missing, and not that this thread was away.
  const bool has_advanced = began > deadline_time_;
  deadline_time_ = std::max(deadline_time_, began);
  return got_parts_ || has_armed || (has_advanced && mux_->ready(deadline_time_));
}

bool MuxedStream::on_part(std::size_t stream, BlockPartPtr part) {
  const std::size_t index = first_feed_[polling_] + stream;
  Feed& feed = feeds_[index];
  got_parts_ = true;
  ++counts_.parts;
  const GpsTime time = part->time();
  if (time_.saw(time, std::max(mux_->schedule().timeout(index), options_.future_limit))) {
    poll_time_ = time_.now();
  }
  const Duration duration = part->duration();

  if (options_.start && time + duration <= *options_.start) {
    ++counts_.before_start;
    return true;
  }
  // What claims to be far ahead of now would make everything before it late.
  const Duration ahead = std::max(mux_->schedule().timeout(index), options_.future_limit);
  if (time - poll_time_ > ahead) {
    refuse(index, counts_.future, *part, "too far ahead of now");
    return true;
  }
  const std::size_t bytes = part->bytes();
  const PushResult result = mux_->push(index, time, duration, std::move(part), poll_time_);
  switch (result) {
    case PushResult::accepted:
      if (!is_live()) stored_bytes_ += bytes;
      feed.misplaced.ended();
      break;
    case PushResult::startup_trimmed:
      break;
    case PushResult::late:
      ++counts_.late;
      return report_late(index, time);
    case PushResult::misaligned:
      ++counts_.misaligned;
      if (const auto times = feed.misplaced.occurred(options_.clock->monotonic())) {
        log::warning(kLog,
                     "{}: dropped the block at GPS {}, which is off the {} grid ({} since the last "
                     "report)",
                     mux_->schedule().stream(index).name, format_time(time),
                     format_duration(mux_->schedule().stream(index).stride), *times);
      }
      break;
    case PushResult::stride_mismatched:
      ++counts_.stride_mismatched;
      break;
    case PushResult::overflowed:
      ++counts_.overflow;
      break;
  }
  // With a start nothing may be dropped: the source keeps what doesn't fit.
  if (!is_live() && is_far_ahead(index)) return false;
  return !mux_->ready(deadline_time_);
}

/// Does what the drop policy says about a late part. False: no more parts for now.
bool MuxedStream::report_late(std::size_t index, GpsTime time) {
  if (options_.on_drop == DropPolicy::ignore) return true;
  const std::string message = fmt::format(
      "{}: the block at GPS {} is too old; everything up to GPS {} was given up for lost",
      mux_->schedule().stream(index).name, format_time(time),
      format_time(mux_->schedule().state(index).horizon));
  if (options_.on_drop == DropPolicy::raise) {
    failure_ = Error(Errc::late_data, message);
    return false;
  }
  log::warning(kLog, "{}", message);
  return true;
}

void MuxedStream::refuse(std::size_t index, std::uint64_t& counter, const BlockPart& part,
                         const char* why) {
  ++counter;
  if (const auto times = feeds_[index].misplaced.occurred(options_.clock->monotonic())) {
    log::warning(kLog, "{}: dropped the block at GPS {}, which is {} ({} since the last report)",
                 mux_->schedule().stream(index).name, format_time(part.time()), why, *times);
  }
}

/// Gives a stream with a start its deadlines once its source has caught up with the present.
bool MuxedStream::arm_feeds() {
  bool has_armed = false;
  for (std::size_t i = 0; i < feeds_.size(); ++i) {
    Feed& feed = feeds_[i];
    if (feed.armed || !feed.source->caught_up(feed.index)) continue;
    feed.armed = true;
    mux_->schedule().arm(i);
    has_armed = true;
  }
  return has_armed;
}

/// Whether a stream has as much as may be held of it: only ever one that doesn't hold up the
/// others.
bool MuxedStream::is_far_ahead(std::size_t index) const {
  const QueueState state = mux_->schedule().state(index);
  if (state.stored + 1 >= state.capacity) return true;
  return stored_bytes_ > options_.buffer_bytes && state.stored > slots_in_block(index);
}

/// Whether a stream that was held back may go again.
bool MuxedStream::may_go_on(std::size_t index) const {
  const std::size_t stored = mux_->schedule().state(index).stored;
  if (stored < slots_in_block(index)) return true;  // the others may be waiting for it
  return stored <= mux_->schedule().state(index).capacity / 2 &&
         stored_bytes_ <= options_.buffer_bytes / 2;
}

std::size_t MuxedStream::slots_in_block(std::size_t index) const {
  return static_cast<std::size_t>(stride() / mux_->schedule().stream(index).stride);
}

/// Holds back streams that are far ahead of the others, and lets them go again.
void MuxedStream::balance_feeds() {
  if (is_live()) return;
  for (std::size_t i = 0; i < feeds_.size(); ++i) {
    Feed& feed = feeds_[i];
    if (!feed.paused && is_far_ahead(i)) {
      feed.paused = true;
      feed.source->pause(feed.index);
    } else if (feed.paused && may_go_on(i)) {
      feed.paused = false;
      feed.source->resume(feed.index);
    }
  }
}

/// Declares a request complete when nothing more can come for it.
void MuxedStream::finish_if_complete(GpsTime now) {
  if (completed_) return;
  const bool all_done =
      std::all_of(sources_.begin(), sources_.end(),
                  [](const std::unique_ptr<Source>& source) { return source->done(); });
  if (!all_done) {
    if (!end_ || now < *end_ + longest_timeout_ + kCompletionMargin) return;
    const bool all_exhausted =
        std::all_of(sources_.begin(), sources_.end(), [](const std::unique_ptr<Source>& source) {
          return source->done() || source->exhausted();
        });
    if (!all_exhausted) return;
  }
  completed_ = true;
  // Without an end, what some stream still holds is not lost for the others' sake.
  GpsTime end = end_.value_or(GpsTime::min());
  for (std::size_t i = 0; i < feeds_.size() && !end_; ++i) {
    const QueueState state = mux_->schedule().state(i);
    if (state.stored > 0) end = std::max(end, state.horizon);
  }
  if (end > GpsTime::min()) mux_->schedule().declare_complete(end);
}

/// The next block that is ready, if any. Ends the stream when none can come.
std::optional<SeriesBlock> MuxedStream::serve() {
  while (!ended_ && !failure_) {
    if (!mux_->ready(deadline_time_)) {
      finish_if_complete(time_.now());
      if (!completed_) return std::nullopt;
      if (!mux_->ready(deadline_time_)) return serve_tail();
    }
    if (std::optional<SeriesBlock> block = pull(std::nullopt)) return block;
  }
  return std::nullopt;
}

/// Pulls one output; nothing when it was skipped, lies past the end, or is a gap that ends the
/// stream.
std::optional<SeriesBlock> MuxedStream::pull(std::optional<Duration> length) {
  if (end_ && mux_->schedule().cursor() >= *end_) {
    end_stream();
    return std::nullopt;
  }
  switch (mux_->pull(output_, length)) {
    case PullStatus::output:
      return emit(output_);
    case PullStatus::skipped:
      counts_.skipped_strides = mux_->schedule().skipped_strides();
      return std::nullopt;
    case PullStatus::gap:
      failure_ = Error(Errc::gap, fmt::format("gap in stream at GPS {}",
                                              format_time(mux_->schedule().gap_time())));
      end_stream();
      return std::nullopt;
  }
  return std::nullopt;
}

/// After the last whole output: what every stream still knows, as a shorter block; under
/// GapPolicy::skip one for each run without a break.
std::optional<SeriesBlock> MuxedStream::serve_tail() {
  const Duration base = mux_->schedule().base_stride();
  std::optional<PartMux::Output> run;
  while (!ended_ && mux_->schedule().known_span() >= base) {
    const GpsTime cursor = mux_->schedule().cursor();
    if (end_ && cursor >= *end_) break;
    if (run && cursor != run->time + run->stride) return emit(*run);
    const PullStatus status = mux_->pull(output_, base);
    if (status == PullStatus::gap) {
      if (run) return emit(*run);
      failure_ = Error(Errc::gap, fmt::format("gap in stream at GPS {}",
                                              format_time(mux_->schedule().gap_time())));
      break;
    }
    if (status == PullStatus::skipped) {
      counts_.skipped_strides = mux_->schedule().skipped_strides();
      continue;
    }
    if (!run) {
      run = std::move(output_);
      output_ = {};
      continue;
    }
    run->stride += output_.stride;
    for (std::size_t s = 0; s < run->streams.size(); ++s) {
      std::move(output_.streams[s].begin(), output_.streams[s].end(),
                std::back_inserter(run->streams[s]));
    }
  }
  if (run) return emit(*run);
  end_stream();
  return std::nullopt;
}

/// A stream's slots of an output as parts that cover it without a break.
std::vector<PartSlot> MuxedStream::cover(const PartMux::Output& output, std::size_t stream) const {
  const Duration stride = mux_->schedule().stream(stream).stride;
  std::vector<PartSlot> parts;
  parts.reserve(output.streams[stream].size());
  GpsTime slot = output.time;
  for (const PartMux::Output::Slot& found : output.streams[stream]) {
    const GpsTime slot_end = slot + stride;
    if (found.is_gap) {
      parts.push_back({slot, stride, nullptr});
    } else {
      // The first and the last part of a request may be shorter than their slot.
      const GpsTime part_end = found.payload->time() + found.payload->duration();
      if (found.time > slot) parts.push_back({slot, found.time - slot, nullptr});
      parts.push_back({found.time, found.payload->duration(), found.payload});
      if (part_end < slot_end) parts.push_back({part_end, slot_end - part_end, nullptr});
    }
    slot = slot_end;
  }
  return parts;
}

/// Makes the block of an output, cut to what was asked for.
std::optional<SeriesBlock> MuxedStream::emit(PartMux::Output& output) {
  bool starts_inside = false;  // some part begins, or ends, inside the first or last slot
  bool ends_inside = false;
  std::vector<std::vector<PartSlot>> slots(output.streams.size());
  for (std::size_t s = 0; s < slots.size(); ++s) {
    slots[s] = cover(output, s);
    for (const PartSlot& slot : slots[s]) {
      if (slot.part == nullptr) {
        ++counts_.gap_slots;
      } else if (!is_live()) {
        stored_bytes_ -= slot.part->bytes();
      }
    }
    const auto& found = output.streams[s];
    if (found.empty()) continue;
    starts_inside |= !found.front().is_gap && found.front().time > output.time;
    ends_inside |=
        !found.back().is_gap && found.back().payload->time() + found.back().payload->duration() <
                                    output.time + output.stride;
  }
  GpsTime from = output.time;
  GpsTime to = output.time + output.stride;
  const GpsTime whole_end = to;
  if (options_.duration && !end_) end_ = from + *options_.duration;
  const bool clips = !options_.whole_blocks;
  if (options_.start && (clips || starts_inside)) from = std::max(from, *options_.start);
  if (end_ && (clips || ends_inside)) to = std::min(to, *end_);
  if (end_ && whole_end >= *end_) end_stream();
  ++counts_.blocks;
  return make_block(layout_, from, to - from, std::move(slots));
}

void MuxedStream::end_stream() {
  ended_ = true;
  for (const std::unique_ptr<Source>& source : sources_) source->close();
}

void MuxedStream::deliver_events() {
  for (const Event& event : std::exchange(events_, {})) {
    if (options_.on_event) options_.on_event(event);
  }
}

void MuxedStream::publish_stats() {
  const std::unique_lock lock(mutex_);
  stats_ = counts_;
}

/// The earliest instant at which something happens without new data.
std::optional<GpsTime> MuxedStream::wake_time() {
  std::optional<GpsTime> wake = mux_->schedule().next_deadline();
  if (end_ && !completed_) {
    const GpsTime completion = *end_ + longest_timeout_ + kCompletionMargin;
    if (completion > time_.now()) wake = wake ? std::min(*wake, completion) : completion;
  }
  return wake;
}

void MuxedStream::wait_until(std::optional<std::chrono::steady_clock::time_point> limit) {
  if (const std::optional<GpsTime> wake = wake_time()) {
    // At most an hour at a time, so that a step of the clock is noticed.
    constexpr Duration kLongest = std::chrono::hours(1);
    const Duration left = std::clamp<Duration>(*wake - time_.now(), Duration::zero(), kLongest);
    const auto at = std::chrono::steady_clock::now() + left;
    limit = limit ? std::min(*limit, at) : at;
  }
  std::unique_lock lock(mutex_);
  const auto is_woken = [this] { return wake_pending_ || cancelled_; };
  if (limit) {
    woken_.wait_until(lock, *limit, is_woken);
  } else {
    woken_.wait(lock, is_woken);
  }
}

void MuxedStream::wake() {
  const std::unique_lock lock(mutex_);
  wake_pending_ = true;
  woken_.notify_one();
}

void MuxedStream::cancel() {
  const std::unique_lock lock(mutex_);
  cancelled_ = true;
  woken_.notify_all();
}

void MuxedStream::close() {
  cancel();
  if (closed_.exchange(true)) return;
  for (const std::unique_ptr<Source>& source : sources_) {
    source->set_wakeup({});
    source->close();
  }
}

StreamStats MuxedStream::stats() const {
  const std::unique_lock lock(mutex_);
  return stats_;
}

}
