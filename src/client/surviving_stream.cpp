#include "client/surviving_stream.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/logging.hpp"
#include "core/quote.hpp"
#include "flight/flight_error.hpp"

namespace arrakis::inline v1 {

namespace {

constexpr std::string_view kLog = "client";
constexpr std::string_view kTokenPrefix = "arrakis-resume:";

/// How long a server that answers may be wrong: one that has just come back may not have read yet
/// which channels it has.
constexpr Duration kSettlingTime = std::chrono::minutes(1);

/// Of a server that answers.
bool may_settle(Errc code) {
  return code == Errc::server || code == Errc::not_found || code == Errc::protocol;
}

StreamStats operator+(StreamStats a, const StreamStats& b) {
  a.blocks += b.blocks;
  a.parts += b.parts;
  a.gap_slots += b.gap_slots;
  a.skipped_strides += b.skipped_strides;
  a.late += b.late;
  a.before_start += b.before_start;
  a.overflow += b.overflow;
  a.misaligned += b.misaligned;
  a.stride_mismatched += b.stride_mismatched;
  a.future += b.future;
  a.reconnects += b.reconnects;
  return a;
}

/// Refuses channels whose samples a program could not take for those that it was given before.
void require_same_samples(const ChannelSet& before, const ChannelSet& now) {
  for (const Channel& channel : before) {
    const std::optional<std::size_t> found = now.find(channel.name());
    if (found && now[*found].data_type() == channel.data_type() &&
        now[*found].sample_rate() == channel.sample_rate()) {
      continue;
    }
    throw Error(Errc::precondition,
                fmt::format("channel {} is not what it was when the stream began ({}): {}; stream "
                            "it anew",
                            channel.name(), describe(channel),
                            found ? describe(now[*found]) : std::string("it is gone")));
  }
}

}

SurvivingStream::SurvivingStream(Settings settings) : settings_(std::move(settings)) {
  engine_ = settings_.connect(settings_.span);
  channels_ = engine_->channels();
  stride_ = engine_->stride();
}

SurvivingStream::~SurvivingStream() {
  SurvivingStream::close();
  reconnection_.reset();  // its thread uses what is destroyed next
}

BlockStream::Next SurvivingStream::next(std::optional<Duration> wait) {
  using Steady = std::chrono::steady_clock;
  std::optional<Steady::time_point> limit;
  if (wait) limit = Steady::now() + std::max(*wait, Duration::zero());
  for (;;) {
    std::shared_ptr<StreamEngine> engine;
    {
      const std::unique_lock lock(mutex_);
      if (cancelled_) return {BlockStream::Status::end, {}};
      engine = engine_;
    }
    if (!engine) {
      if (is_complete()) return {BlockStream::Status::end, {}};
      if (!await_engine(limit)) return {BlockStream::Status::timeout, {}};
      continue;
    }
    std::optional<Duration> left;
    if (limit) left = std::max<Duration>(*limit - Steady::now(), Duration::zero());
    try {
      BlockStream::Next next = engine->next(left);
      if (next) deliver(next.block);
      return next;
    } catch (const Error& error) {
      if (!may_survive(error)) throw;
      lose_engine(error);
    }
  }
}

void SurvivingStream::deliver(const SeriesBlock& block) {
  if (settings_.span.duration) {
    settings_.span.end = block.time() + *std::exchange(settings_.span.duration, std::nullopt);
  }
  {
    const std::unique_lock lock(mutex_);
    position_ = block.end();
  }
  if (!outage_) return;
  const Duration lasted = settings_.clock->monotonic() - outage_->began;
  outage_.reset();
  log::info(kLog, "{}: goes on at GPS {} after {}", settings_.name, format_time(block.time()),
            format_duration(lasted));
  report(events::OutageEnded{settings_.name, 0});
}

bool SurvivingStream::may_survive(const Error& error) const {
  if (!settings_.reconnect) return false;
  if (!may_settle(error.code())) return may_pass(error) || error.code() == Errc::broker_fatal;
  // What has never worked is not likely to.
  if (!position_) return false;
  const Duration so_far =
      outage_ ? settings_.clock->monotonic() - outage_->began : Duration::zero();
  return so_far < kSettlingTime;
}

/// Puts a failed engine away and begins to make another.
void SurvivingStream::lose_engine(const Error& error) {
  if (!outage_) {
    outage_.emplace();
    outage_->began = settings_.clock->monotonic();
    log::warning(kLog, "{}: interrupted: {}; trying to go on", settings_.name, error.what());
    report(events::OutageBegan{settings_.name, error.what()});
  } else {
    log::debug(kLog, "{}: still interrupted: {}", settings_.name, error.what());
  }
  if (settings_.give_up_after &&
      settings_.clock->monotonic() - outage_->began > *settings_.give_up_after) {
    throw Error(error.code(),
                fmt::format("{}: gave up after {}: {}", settings_.name,
                            format_duration(*settings_.give_up_after), error.what()),
                error.request_id());
  }
  std::shared_ptr<StreamEngine> lost;
  {
    const std::unique_lock lock(mutex_);
    lost = std::move(engine_);
    engine_.reset();
    woken_ = false;
    if (lost) past_ = past_ + lost->stats();
    if (position_) settings_.span.from = position_;
  }
  if (lost) lost->close();
  settings_.span.after = error;
  reconnection_ = std::make_unique<Reconnection>(
      [connect = settings_.connect, span = settings_.span] { return connect(span); },
      outage_->backoff.next(),
      [this] {
        const std::unique_lock lock(mutex_);
        woken_ = true;
        changed_.notify_all();
      });
}

/// Waits for the engine that is being made. False: the limit passed. Throws when there will be
/// none.
bool SurvivingStream::await_engine(std::optional<std::chrono::steady_clock::time_point> limit) {
  {
    std::unique_lock lock(mutex_);
    const auto is_woken = [this] { return woken_ || cancelled_; };
    if (limit) {
      if (!changed_.wait_until(lock, *limit, is_woken)) return false;
    } else {
      changed_.wait(lock, is_woken);
    }
    if (cancelled_) return true;
  }
  std::optional<Reconnection::Result> result = reconnection_->result();
  if (!result) return true;
  reconnection_.reset();
  if (result->engine) {
    adopt(std::move(result->engine));
  } else if (may_survive(*result->failure)) {
    lose_engine(*result->failure);
  } else {
    throw Error(*result->failure);
  }
  return true;
}

void SurvivingStream::adopt(std::unique_ptr<StreamEngine> engine) {
  require_same_samples(channels_, engine->channels());
  const std::unique_lock lock(mutex_);
  engine_ = std::move(engine);
  ++past_.reconnects;
  if (cancelled_) engine_->cancel();
}

void SurvivingStream::report(const Event& event) {
  if (settings_.on_event) settings_.on_event(event);
}

/// Whether everything that was asked for has been delivered.
bool SurvivingStream::is_complete() const {
  const std::unique_lock lock(mutex_);
  return settings_.span.end && position_ && *position_ >= *settings_.span.end;
}

void SurvivingStream::cancel() {
  const std::unique_lock lock(mutex_);
  cancelled_ = true;
  if (engine_) engine_->cancel();
  changed_.notify_all();
}

void SurvivingStream::close() {
  cancel();
  std::shared_ptr<StreamEngine> engine;
  {
    const std::unique_lock lock(mutex_);
    engine = engine_;
  }
  if (engine) engine->close();
}

StreamStats SurvivingStream::stats() const {
  const std::unique_lock lock(mutex_);
  return engine_ ? past_ + engine_->stats() : past_;
}

std::string SurvivingStream::resume_token() const {
  const std::unique_lock lock(mutex_);
  return position_ ? arrakis::resume_token(*position_, settings_.request) : std::string();
}

std::string resume_token(GpsTime next, const std::string& request) {
  return fmt::format("{}{}:{}", kTokenPrefix, next.ns(), request);
}

GpsTime parse_resume_token(const std::string& token, const std::string& request) {
  const auto refuse = [&](std::string_view why) {
    throw Error(Errc::invalid_argument, fmt::format("the resume token {} {}", quoted(token), why));
  };
  std::int64_t ns = 0;
  const char* end = token.data() + token.size();
  if (!token.starts_with(kTokenPrefix)) refuse("is not one");
  const auto [rest, failure] = std::from_chars(token.data() + kTokenPrefix.size(), end, ns);
  if (failure != std::errc() || rest == end || *rest != ':') refuse("is not one");
  if (std::string_view(rest + 1, end) != request) refuse("is that of another request");
  return GpsTime::from_ns(ns);
}

}
