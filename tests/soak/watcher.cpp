#include "soak/watcher.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace arrakis::soak {

namespace {

/// How long the reader waits before it looks whether it is to stop.
constexpr Duration kTurn = std::chrono::milliseconds(200);
/// For as long as it takes.
constexpr Duration kPatience = std::chrono::hours(1);

}

ChannelSet all_channels(const std::vector<Topic>& topics) {
  std::vector<Channel> channels;
  for (const Topic& topic : topics) {
    channels.insert(channels.end(), topic.channels.begin(), topic.channels.end());
  }
  return ChannelSet(std::move(channels));
}

Watcher::Watcher(Options options, const std::string& bootstrap, const std::vector<Topic>& topics,
                 const Ledger& ledger, Journal& journal)
    : options_(std::move(options)),
      topics_(topics),
      ledger_(ledger),
      journal_(journal),
      judge_(ledger, topics),
      newest_(topics.size(), -1) {
  ReaderOptions reader_options;
  reader_options.fast_forward = options_.fast_forward;
  reader_options.policy.grace_floor = 1;  // so that a pause of seconds makes it skip
  auto reader =
      std::make_unique<KafkaReader>(bootstrap, all_channels(topics), std::move(reader_options));
  reader_ = reader.get();
  StreamOptions stream_options;
  stream_options.start = options_.start;
  stream_options.label = options_.name;
  if (options_.is_patient) stream_options.timeout = kPatience;
  stream_options.on_event = [this](const Event& event) {
    judge_.on_event(event);
    journal_.note(fmt::format("{}: {}", options_.name, to_string(event)));
  };
  stream_ = std::make_unique<BlockStream>(std::move(reader), stream_options);
  thread_ = std::jthread([this](const std::stop_token& stop) {
    try {
      run(stop);
    } catch (const std::exception& error) {
      journal_.violation(fmt::format("reader {} threw: {}", options_.name, error.what()));
    }
  });
}

Watcher::~Watcher() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Watcher::hold(Duration wait) {
  const std::lock_guard lock(mutex_);
  held_until_ = Steady::now() + wait;
}

void Watcher::slow_down(Duration pause, Duration wait) {
  const std::lock_guard lock(mutex_);
  pause_ = pause;
  slow_until_ = Steady::now() + wait;
}

bool Watcher::is_free() const {
  const std::lock_guard lock(mutex_);
  return Steady::now() >= std::max(held_until_, slow_until_);
}

bool Watcher::wait_until(Steady::time_point time, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

void Watcher::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const BlockStream::Next next = stream_->next(kTurn);
    if (next.status == BlockStream::Status::end) {
      journal_.violation(fmt::format("reader {} ended", options_.name));
      return;
    }
    if (next) take(next.block);
    Steady::time_point go_on;
    {
      const std::lock_guard lock(mutex_);
      go_on = held_until_;
      if (next && Steady::now() < slow_until_) go_on = std::max(go_on, Steady::now() + pause_);
    }
    if (go_on > Steady::now() && !wait_until(go_on, stop)) return;
  }
}

void Watcher::take(const SeriesBlock& block) {
  if (options_.reports_age) journal_.age(system_clock().now() - block.end());
  if (const auto wrong = judge_.check(block)) {
    journal_.violation(fmt::format("reader {}: {}", options_.name, *wrong));
  }
  {
    const std::lock_guard lock(mutex_);
    delivered_ = ledger_.number_at(block.time());
    for (std::size_t t = 0; t < topics_.size(); ++t) newest_[t] = judge_.newest(t);
  }
  changed_.notify_all();
}

bool Watcher::wait_for_data(std::int64_t number, Duration limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(
      lock, limit, [&] { return *std::min_element(newest_.begin(), newest_.end()) >= number; });
}

std::string Watcher::progress() const {
  const std::lock_guard lock(mutex_);
  return fmt::format("reader {} delivered block {}, and data of its topics up to {}", options_.name,
                     delivered_, fmt::join(newest_, ", "));
}

void Watcher::finish(std::int64_t end, Duration limit) {
  bool is_there = false;
  {
    std::unique_lock lock(mutex_);
    held_until_ = slow_until_ = {};
    is_there = changed_.wait_for(lock, limit, [&] { return delivered_ >= end - 1; });
  }
  thread_.request_stop();
  thread_.join();
  if (!is_there) {
    journal_.violation(fmt::format("reader {} did not come to block {} within {}: {}",
                                   options_.name, end - 1, format_duration(limit), progress()));
  }
  stream_stats_ = stream_->stats();
  reader_stats_ = reader_->stats();
  const Steady::time_point begin = Steady::now();
  stream_->close();
  if (const Duration took = Steady::now() - begin; took > std::chrono::seconds(2)) {
    journal_.violation(
        fmt::format("closing reader {} took {}", options_.name, format_duration(took)));
  }
  std::optional<std::string> wrong;
  if (options_.is_patient) wrong = judge_.settle_without_loss();
  if (!wrong) wrong = judge_.settle(*stream_stats_, *reader_stats_);
  if (wrong) journal_.violation(fmt::format("reader {}: {}", options_.name, *wrong));
}

std::string Watcher::summary() const {
  const Tally& tally = judge_.tally();
  return fmt::format(
      " {:8} {} blocks, {} slots with data, {} gaps of which {} missing; late {}, skipped {}, "
      "purged {}, bad {}, future {}, off the grid {}",
      options_.name, tally.blocks, tally.data, tally.gaps, tally.missing, stream_stats_->late,
      reader_stats_->skipped_messages, reader_stats_->purged_messages,
      reader_stats_->bad_messages + reader_stats_->no_rows, stream_stats_->future,
      stream_stats_->misaligned);
}

}
