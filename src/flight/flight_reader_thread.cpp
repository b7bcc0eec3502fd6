#include <arrow/buffer.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "core/logging.hpp"
#include "core/quote.hpp"
#include "flight/flight_error.hpp"
#include "flight/flight_reader_impl.hpp"
#include "wire/part.hpp"

namespace arrakis::inline v1 {

namespace {

constexpr std::string_view kLog = "flight";
// Of the limit for a first answer: gRPC can't be told to give up earlier, and close() waits for it.
constexpr Duration kGreeting = std::chrono::milliseconds(1500);
// A time further ahead of now than this and the stream's latency is a publisher's mistake.
constexpr Duration kFutureLimit = std::chrono::seconds(10);
// How often a server has to say that there is nothing.
constexpr int kEmptyAnswers = 2;
constexpr std::size_t kMaxNames = 20;
// A stream's status comes with its end.
constexpr Duration kStatusLimit = std::chrono::seconds(1);

std::span<const std::byte> bytes_of(const std::shared_ptr<arrow::Buffer>& buffer) {
  if (buffer == nullptr || buffer->size() <= 0) return {};
  return {reinterpret_cast<const std::byte*>(buffer->data()),
          static_cast<std::size_t>(buffer->size())};
}

std::string names_of(const ChannelSet& channels) {
  std::set<std::string_view> names;
  for (const Channel& channel : channels) names.insert(channel.name());
  std::vector<std::string_view> shown(names.begin(), names.end());
  const std::size_t rest = shown.size() > kMaxNames ? shown.size() - kMaxNames : 0;
  shown.resize(shown.size() - rest);
  return rest == 0 ? fmt::format("{}", fmt::join(shown, ", "))
                   : fmt::format("{} and {} more", fmt::join(shown, ", "), rest);
}

std::string place_of(GpsTime reached) {
  return reached == GpsTime::min() ? "before its first block" : "at GPS " + format_time(reached);
}

bool is_about_the_way(const Error& error) {
  return error.code() == Errc::unavailable || error.code() == Errc::timeout;
}

/// One error of what happened at several locations: of the kind of the last that is about more than
/// the way there.
Error combined(const std::vector<Error>& errors) {
  const Error* leader = &errors.back();
  std::string text;
  for (const Error& error : errors) {
    text += (text.empty() ? "" : "; ") + std::string(error.what());
    if (!is_about_the_way(error)) leader = &error;
  }
  return {leader->code(), text, leader->request_id()};
}

}  // namespace

void FlightReader::Impl::run(std::size_t stream) {
  Lane& lane = lanes_[stream];
  std::optional<Error> failure;
  try {
    for (const StreamEndpoint& slice : lane.slices) {
      if (is_closing()) break;
      failure = read_slice(lane, slice);
      if (failure) break;
    }
  } catch (const Error& error) {
    failure = error;
  } catch (const std::exception& error) {
    failure = Error(Errc::server, fmt::format("{}: {}", lane.label, error.what()));
  }
  {
    const std::unique_lock lock(mutex_);
    lane.has_ended = true;
    lane.failure = std::move(failure);
  }
  wake();
  const std::unique_lock lock(mutex_);
  --threads_running_;
  thread_ended_.notify_all();
}

bool FlightReader::Impl::is_closing() {
  const std::unique_lock lock(mutex_);
  return closing_;
}

/// Where a slice may be read: where it was asked for first, if that is among them.
std::vector<ServerUrl> FlightReader::Impl::locations_of(const Lane& lane,
                                                        const StreamEndpoint& slice,
                                                        std::vector<Error>& errors) {
  std::vector<ServerUrl> urls;
  if (slice.locations.empty()) urls.push_back(slice.asked);
  for (const std::string& location : slice.locations) {
    if (is_kafka_location(location)) continue;
    try {
      ServerUrl url = Connector::resolve(location, slice.asked);
      const bool is_known = std::find(urls.begin(), urls.end(), url) != urls.end();
      if (!is_known) urls.insert(url == slice.asked ? urls.begin() : urls.end(), std::move(url));
    } catch (const Error& error) {
      errors.push_back(error);
    }
  }
  if (urls.empty() && errors.empty()) {
    errors.emplace_back(Errc::not_found,
                        fmt::format("{}: {} names no Flight server for it, only {}", lane.label,
                                    slice.asked.text, fmt::join(slice.locations, ", ")));
  }
  return urls;
}

/// Reads a slice to its end. Nothing, or why that can't be done.
std::optional<Error> FlightReader::Impl::read_slice(Lane& lane, const StreamEndpoint& slice) {
  {
    const std::unique_lock lock(mutex_);
    lane.has_live_slice_begun = !slice.start.has_value();
  }
  std::vector<Error> errors;
  for (const ServerUrl& url : locations_of(lane, slice, errors)) {
    bool may_renew = true;
    for (int empty_answers = 0;;) {
      Attempt result = attempt(lane, slice, url);
      if (result.end == Attempt::End::complete || result.end == Attempt::End::closed) return {};
      if (result.end == Attempt::End::empty) {
        if (++empty_answers == kEmptyAnswers) return {};
        continue;
      }
      if (result.had_batches) return result.error;
      const bool is_refused = result.error->code() == Errc::unauthenticated;
      if (is_refused && std::exchange(may_renew, false) && connector_->renew_token()) continue;
      if (is_about_the_way(*result.error)) connector_->forget(url);
      log::debug(kLog, "{}", result.error->what());
      errors.push_back(*std::move(result.error));
      break;
    }
  }
  return combined(errors);
}

FlightReader::Impl::Attempt FlightReader::Impl::attempt(Lane& lane, const StreamEndpoint& slice,
                                                        const ServerUrl& url) {
  const std::string what = fmt::format("stream of {} at {}", lane.label, url.text);
  std::shared_ptr<StreamTransport> transport;
  try {
    transport = connector_->stream_transport(url);
  } catch (const Error& error) {
    return {Attempt::End::failed, false, error};
  }
  {
    const std::unique_lock lock(mutex_);
    ++stats_.attempts;
    lane.expired = Watch::Kind::nothing;
  }
  if (auto error = await_server(*transport, url, what)) {
    if (is_closing()) return {Attempt::End::closed, false, {}};
    return {Attempt::End::failed, false, std::move(error)};
  }

  const std::optional<GpsTime>& asked = open_options_.start;
  Reading reading{lane, slice, url, ColumnDecoder(slice.channels)};
  reading.from = std::max(slice.start.value_or(GpsTime::min()), asked.value_or(GpsTime::min()));
  arrow::Status status;
  const std::shared_ptr<Call> its_call = call(*transport, reading, status);
  if (its_call != nullptr) {
    read_messages(*its_call, reading);
    if (reading.is_complete) its_call->TryCancel();
    // After a message that is none, the server still has to be told that nobody reads on.
    set_watch(lane, Watch::Kind::status, kStatusLimit);
    status = its_call->Finish(arrow::Status::OK());
  }
  {
    const std::unique_lock lock(mutex_);
    lane.watch.kind = Watch::Kind::nothing;
    lane.call.reset();
  }
  return ended(reading, status, what);
}

/// Waits until the server answers anything at all: once it is connected to, DoGet can be cancelled,
/// and before that it can't.
std::optional<Error> FlightReader::Impl::await_server(StreamTransport& transport,
                                                      const ServerUrl& url,
                                                      const std::string& what) {
  const Steady::time_point deadline = Steady::now() + options_.connect_timeout;
  for (;;) {
    const Duration left = deadline - Steady::now();
    if (left <= Duration(0)) {
      return Error(Errc::timeout, fmt::format("{}: no answer within {}", what,
                                              format_duration(options_.connect_timeout)));
    }
    std::vector<arrow::flight::ActionType> actions;
    const arrow::Status status =
        transport.ListActions(connector_->call_options(url, std::min(left, kGreeting)), &actions);
    if (status.ok()) return std::nullopt;
    Error error = to_error(status, what);
    if (is_closing() || error.code() == Errc::unavailable) return error;
    if (error.code() != Errc::timeout) return std::nullopt;
  }
}

std::shared_ptr<FlightReader::Impl::Call> FlightReader::Impl::call(StreamTransport& transport,
                                                                   const Reading& reading,
                                                                   arrow::Status& status) {
  arrow::flight::Ticket ticket;
  ticket.ticket = reading.slice.ticket;
  std::unique_ptr<Call> made;
  set_watch(reading.lane, Watch::Kind::answer, options_.connect_timeout);
  status = transport.DoGet(connector_->call_options(reading.url, std::nullopt), ticket, &made);
  if (!status.ok()) return nullptr;
  std::shared_ptr<Call> shared = std::move(made);
  const std::unique_lock lock(mutex_);
  reading.lane.call = shared;
  if (closing_ || reading.lane.expired != Watch::Kind::nothing) shared->TryCancel();
  return shared;
}

void FlightReader::Impl::read_messages(Call& call, Reading& reading) {
  Lane& lane = reading.lane;
  arrow::flight::internal::FlightData message;
  while (!reading.is_complete && call.ReadData(&message)) {
    if (message.metadata == nullptr) continue;
    const std::span<const std::byte> body = bytes_of(message.body);
    ColumnResult result = reading.decoder.decode(bytes_of(message.metadata), {body, message.body});
    if (result.status == ColumnResult::Status::schema) {
      const bool is_watched = !reading.slice.end && lane.stall_bound;
      set_watch(lane, is_watched ? Watch::Kind::batch : Watch::Kind::nothing,
                lane.stall_bound.value_or(Duration(0)));
      continue;
    }
    {
      const std::unique_lock lock(mutex_);
      lane.watch.since = Steady::now();
      ++stats_.batches;
      stats_.bytes += body.size() + static_cast<std::size_t>(message.metadata->size());
    }
    if (result.status == ColumnResult::Status::bad) {
      report_bad(reading, result.reason);
    } else if (result.status == ColumnResult::Status::decoded) {
      lane.bad_batches.ended();
      take_batch(reading, std::move(result));
    }
  }
}

void FlightReader::Impl::take_batch(Reading& reading, ColumnResult result) {
  Lane& lane = reading.lane;
  const GpsTime time = result.part->time();
  const GpsTime end = time + result.part->duration();
  const std::optional<GpsTime>& slice_end = reading.slice.end;
  if (slice_end && time >= *slice_end &&
      time - open_options_.clock->now() > lane.settle_time + kFutureLimit) {
    report_bad(reading, fmt::format("the time GPS {} is too far ahead", format_time(time)));
    return;
  }
  reading.had_batches = true;
  reading.is_complete = slice_end && end >= *slice_end;
  const bool is_outside = end <= reading.from || (slice_end && time >= *slice_end);
  const bool is_repeat = !is_outside && time < lane.resume_at;
  if (is_outside || is_repeat) {
    const std::unique_lock lock(mutex_);
    ++(is_outside ? stats_.outside : stats_.repeats);
    return;
  }
  reading.reached = std::max(reading.reached, end);
  if (!enqueue(lane, std::move(result.part))) reading.is_complete = true;
}

/// Adds a part to the queue when there is room, however long that takes. False: closed meanwhile.
bool FlightReader::Impl::enqueue(Lane& lane, BlockPartPtr part) {
  std::unique_lock lock(mutex_);
  const auto is_full = [&] {
    return lane.queue.size() >= options_.queue_blocks ||
           lane.queue_bytes + part->bytes() > options_.queue_bytes;
  };
  if (!lane.queue.empty() && is_full()) {
    lane.waits_for_room = true;
    // The silence is ours.
    const Watch::Kind watched = std::exchange(lane.watch.kind, Watch::Kind::nothing);
    lane.room.wait(lock, [&] { return closing_ || !lane.waits_for_room; });
    lane.watch = {watched, Steady::now(), lane.watch.limit};
    watch_changed_.notify_all();
  }
  if (closing_) return false;
  lane.queue_bytes += part->bytes();
  lane.queue.push_back(std::move(part));
  if (lane.is_paused || !std::exchange(wants_wake_, false)) return true;
  lock.unlock();
  wake();
  return true;
}

/// What the end of a stream means.
FlightReader::Impl::Attempt FlightReader::Impl::ended(Reading& reading, const arrow::Status& status,
                                                      const std::string& what) {
  Lane& lane = reading.lane;
  lane.resume_at = std::max(lane.resume_at, reading.reached);
  Watch::Kind expired = Watch::Kind::nothing;
  {
    const std::unique_lock lock(mutex_);
    if (closing_) return {Attempt::End::closed, reading.had_batches, {}};
    expired = lane.expired;
  }
  if (reading.is_complete) return {Attempt::End::complete, true, {}};
  const auto failed = [&](Error error) {
    return Attempt{Attempt::End::failed, reading.had_batches, std::move(error)};
  };
  if (expired != Watch::Kind::nothing) return failed(expiry(reading, expired, what));
  if (!status.ok()) return failed(to_error(status, what));
  const std::optional<GpsTime>& end = reading.slice.end;
  if (end && !reading.had_batches && is_settled(lane, *end)) {
    return {Attempt::End::empty, false, {}};
  }
  return failed(
      {Errc::unavailable,
       fmt::format("{}: the server ended the stream {}{}", what, place_of(reading.reached),
                   end ? ", before GPS " + format_time(*end) : std::string())});
}

/// Why the call was cancelled.
Error FlightReader::Impl::expiry(const Reading& reading, Watch::Kind expired,
                                 const std::string& what) const {
  if (expired == Watch::Kind::batch) {
    return {Errc::stalled,
            fmt::format("{}: silent for more than {}, which is their greatest latency and stride "
                        "and {} more; the channels: {}",
                        what, format_duration(*reading.lane.stall_bound),
                        format_duration(options_.stall_grace), names_of(reading.slice.channels))};
  }
  if (expired == Watch::Kind::status) {
    return {Errc::protocol, fmt::format("{}: the server sent a message that is no Flight data, {}",
                                        what, place_of(reading.reached))};
  }
  return {Errc::timeout,
          fmt::format("{}: no answer within {}", what, format_duration(options_.connect_timeout))};
}

bool FlightReader::Impl::is_settled(const Lane& lane, GpsTime end) const {
  return end + lane.settle_time < open_options_.clock->now();
}

void FlightReader::Impl::report_bad(Reading& reading, const std::string& reason) {
  reading.had_batches = true;
  {
    const std::unique_lock lock(mutex_);
    ++stats_.bad_batches;
  }
  if (const auto times = reading.lane.bad_batches.occurred(Steady::now().time_since_epoch())) {
    log::warning(kLog,
                 "{} at {}: passed over a batch that can't be used: {} ({} since the last report)",
                 reading.lane.label, reading.url.text, reason, *times);
  }
}

}  // namespace arrakis::inline v1
