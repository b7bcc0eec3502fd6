#include "flight/flight_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/logging.hpp"
#include "flight/flight_reader_impl.hpp"
#include "wire/part.hpp"

namespace arrakis::inline v1 {

namespace {

constexpr std::string_view kLog = "flight";
// Of the two seconds that close() may take.
constexpr Duration kThreadsEnd = std::chrono::milliseconds(1800);
// How far a part of now may be from now, and data may still come, beyond latency and stride.
constexpr Duration kSettleGrace = std::chrono::seconds(2);

/// Tells sets of channels apart, whatever their order.
std::string set_key(const ChannelSet& channels) {
  std::vector<std::string_view> names;
  names.reserve(channels.size());
  for (const Channel& channel : channels) names.push_back(channel.name());
  std::sort(names.begin(), names.end());
  std::string key;
  for (const std::string_view name : names) key.append(name).push_back('\0');
  return key;
}

/// Ascending start, live last.
bool comes_before(const StreamEndpoint& a, const StreamEndpoint& b) {
  return a.start.value_or(GpsTime::max()) < b.start.value_or(GpsTime::max());
}

Duration settle_time(const ChannelSet& channels) {
  if (const auto bound = relay_stall_bound(channels.channels(), kSettleGrace)) return *bound;
  return common_stride(channels.channels()).value_or(Duration(0)) + kSettleGrace;
}

}  // namespace

FlightReader::Impl::Impl(std::shared_ptr<Connector> connector,
                         std::vector<StreamEndpoint> endpoints, FlightReaderOptions options)
    : connector_(std::move(connector)), options_(options) {
  std::map<std::string, std::size_t> lane_of;
  for (StreamEndpoint& endpoint : endpoints) {
    const auto [it, is_new] = lane_of.emplace(set_key(endpoint.channels), lanes_.size());
    if (is_new) {
      Lane& lane = lanes_.emplace_back();
      lane.index = it->second;
      infos_.push_back({fmt::format("{}#{}", endpoint.asked.text, it->second), endpoint.channels,
                        relay_grace(endpoint.channels.channels())});
      lane.label = describe(infos_.back());
      lane.stall_bound = relay_stall_bound(endpoint.channels.channels(), options_.stall_grace);
      lane.settle_time = settle_time(endpoint.channels);
    }
    lanes_[it->second].slices.push_back(std::move(endpoint));
  }
  for (Lane& lane : lanes_) {
    std::stable_sort(lane.slices.begin(), lane.slices.end(), comes_before);
  }
}

void FlightReader::Impl::open(const OpenOptions& options) {
  const std::unique_lock lock(mutex_);
  if (closing_ || opened_) return;
  opened_ = true;
  open_options_ = options;
  const GpsTime now = options.clock->now();
  const auto start = [](auto function) { return std::thread(std::move(function)); };
  threads_running_ = lanes_.size() + 1;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    const std::optional<GpsTime>& first = lane.slices.front().start;
    lane.caught_up = !first || *first >= now;
    threads_.push_back(start([self = shared_from_this(), i] { self->run(i); }));
  }
  threads_.push_back(start([self = shared_from_this()] { self->watch(); }));
}

FlightReader::Impl::Lane* FlightReader::Impl::earliest() {
  Lane* found = nullptr;
  for (Lane& lane : lanes_) {
    if (lane.is_paused || lane.queue.empty()) continue;
    if (found == nullptr || lane.queue.front()->time() < found->queue.front()->time()) {
      found = &lane;
    }
  }
  return found;
}

bool FlightReader::Impl::is_drained() const {
  return std::all_of(lanes_.begin(), lanes_.end(),
                     [](const Lane& lane) { return lane.is_paused || lane.queue.empty(); });
}

bool FlightReader::Impl::poll(Source::Sink& sink) {
  std::unique_lock lock(mutex_);
  if (!opened_ || closing_ || failed_) return true;
  std::size_t arrived = 0;
  for (const Lane& lane : lanes_) {
    if (!lane.is_paused) arrived += lane.queue.size();
  }
  bool goes_on = true;
  // The streams side by side, so that none has to be kept for long.
  for (; arrived > 0 && goes_on; --arrived) {
    Lane* lane = earliest();
    if (lane == nullptr) break;
    take_from(*lane, sink, lock, goes_on);
    if (closing_) return true;
  }
  const bool has_all = goes_on;
  const bool drained = is_drained();
  if (goes_on) throw_failure();
  wants_wake_ = drained;
  lock.unlock();
  if (!drained) wake();
  return has_all;
}

void FlightReader::Impl::take_from(Lane& lane, Source::Sink& sink,
                                   std::unique_lock<std::mutex>& lock, bool& goes_on) {
  BlockPartPtr part = std::move(lane.queue.front());
  lane.queue.pop_front();
  lane.queue_bytes -= part->bytes();
  ++stats_.parts;
  if (!lane.caught_up) lane.caught_up = is_of_now(lane, *part);
  // Not for every part: each time costs the reading thread a start.
  if (lane.waits_for_room && lane.queue.size() <= options_.queue_blocks / 2 &&
      lane.queue_bytes <= options_.queue_bytes / 2) {
    lane.waits_for_room = false;
    lane.room.notify_one();
  }
  lock.unlock();
  goes_on = sink.on_part(lane.index, std::move(part));
  lock.lock();
}

bool FlightReader::Impl::is_of_now(const Lane& lane, const BlockPart& part) const {
  // Deadlines begin with this, so none may be about to pass.
  constexpr Duration kHeadroom = std::chrono::seconds(1);
  return part.time() + part.duration() + lane.settle_time - kHeadroom >= open_options_.clock->now();
}

void FlightReader::Impl::throw_failure() {
  for (Lane& lane : lanes_) {
    if (!lane.failure || !lane.queue.empty()) continue;
    failed_ = true;
    throw Error(*lane.failure);
  }
}

void FlightReader::Impl::set_wakeup(std::function<void()> wake) {
  const std::unique_lock lock(wake_mutex_);
  wake_callback_ = std::move(wake);
}

void FlightReader::Impl::wake() {
  const std::unique_lock lock(wake_mutex_);
  if (wake_callback_) wake_callback_();
}

void FlightReader::Impl::set_paused(std::size_t stream, bool paused) {
  {
    const std::unique_lock lock(mutex_);
    Lane& lane = lanes_[stream];
    if (std::exchange(lane.is_paused, paused) == paused || paused) return;
  }
  wake();
}

bool FlightReader::Impl::caught_up(std::size_t stream) {
  const std::unique_lock lock(mutex_);
  Lane& lane = lanes_[stream];
  // One that failed has not: what it lacks may still come from elsewhere.
  const bool has_ended = lane.has_ended && !lane.failure;
  if (lane.queue.empty() && (has_ended || lane.has_live_slice_begun)) lane.caught_up = true;
  return lane.caught_up;
}

bool FlightReader::Impl::exhausted() {
  const std::unique_lock lock(mutex_);
  return closing_ || std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) {
           return lane.has_ended && !lane.failure && lane.queue.empty();
         });
}

bool FlightReader::Impl::done() {
  const bool is_exhausted = exhausted();
  const std::unique_lock lock(mutex_);
  return is_exhausted || failed_;
}

void FlightReader::Impl::close() {
  std::unique_lock lock(mutex_);
  if (std::exchange(closing_, true)) return;
  for (Lane& lane : lanes_) {
    if (lane.call != nullptr) lane.call->TryCancel();
    lane.room.notify_all();
    lane.queue.clear();
    lane.queue_bytes = 0;
  }
  watch_changed_.notify_all();
  const bool have_ended =
      thread_ended_.wait_for(lock, kThreadsEnd, [this] { return threads_running_ == 0; });
  lock.unlock();
  if (!have_ended) {
    log::warning(kLog, "a server is still being connected to; its connection ends by itself");
  }
  for (std::thread& thread : threads_) {
    if (have_ended) {
      thread.join();
    } else {
      thread.detach();
    }
  }
  wake();
}

FlightReaderStats FlightReader::Impl::stats() {
  const std::unique_lock lock(mutex_);
  return stats_;
}

FlightReader::FlightReader(std::shared_ptr<Connector> connector,
                           std::vector<StreamEndpoint> endpoints, FlightReaderOptions options)
    : impl_(std::make_shared<Impl>(std::move(connector), std::move(endpoints), options)) {}
FlightReader::~FlightReader() { impl_->close(); }

const std::vector<StreamInfo>& FlightReader::streams() const { return impl_->streams(); }
void FlightReader::open(const OpenOptions& options) { impl_->open(options); }
bool FlightReader::poll(Sink& sink) { return impl_->poll(sink); }
void FlightReader::set_wakeup(std::function<void()> wake) { impl_->set_wakeup(std::move(wake)); }
void FlightReader::pause(std::size_t stream) { impl_->set_paused(stream, true); }
void FlightReader::resume(std::size_t stream) { impl_->set_paused(stream, false); }
bool FlightReader::caught_up(std::size_t stream) { return impl_->caught_up(stream); }
bool FlightReader::exhausted() { return impl_->exhausted(); }
bool FlightReader::done() const { return impl_->done(); }
void FlightReader::close() { impl_->close(); }
FlightReaderStats FlightReader::stats() const { return impl_->stats(); }

}  // namespace arrakis::inline v1
