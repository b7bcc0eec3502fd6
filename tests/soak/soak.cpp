#include "soak/soak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "arrakis/stream.hpp"

namespace arrakis::soak {

namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr Duration kStride = std::chrono::microseconds(62500);
/// What a reader gets to come to the end once nothing is published any more.
constexpr Duration kDrainLimit = 60s;

void sleep(const std::stop_token& stop, Duration time) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
}

}

Soak::Soak(const SoakOptions& options, Journal& journal)
    : options_(options),
      journal_(journal),
      random_(options.seed),
      broker_({.fast_fencing = true}),
      topics_(make_topics(kTopics)),
      ledger_(system_clock().now().floor_to(kStride), kStride, topics_.size()) {
  for (const Topic& topic : topics_) broker_.create_topic(topic.name);
  feeder_ = std::make_unique<Feeder>(broker_.bootstrap(), topics_, ledger_, journal_);
  const GpsTime begin = ledger_.time_of(0);
  for (const Watcher::Options& watcher :
       {Watcher::Options{.name = "live", .reports_age = true},
        Watcher::Options{.name = "forward", .fast_forward = true},
        Watcher::Options{.name = "past", .start = begin},
        Watcher::Options{.name = "patient", .start = begin, .is_patient = true},
        Watcher::Options{.name = "slow", .fast_forward = true}}) {
    watchers_.push_back(
        std::make_unique<Watcher>(watcher, broker_.bootstrap(), topics_, ledger_, journal_));
  }
  measuring_ = std::jthread([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      sleep(stop, 1s);
      journal_.measure();
    }
  });
}

Soak::~Soak() = default;

std::int64_t Soak::pick(std::int64_t low, std::int64_t high) {
  if (high <= low) return low;
  // Not std::uniform_int_distribution, which is another one in every library.
  return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
}

Duration Soak::pick_time(Duration low, Duration high) {
  constexpr Duration kStep = 1ms;
  return kStep * pick(low / kStep, high / kStep);
}

void Soak::run() {
  const Steady::time_point end = Steady::now() + options_.length;
  try {
    wait_until_it_flows("the start");
    std::int64_t weights = 0;
    for (const Weighted& each : acts()) weights += each.weight;
    while (Steady::now() < end && !journal_.has_failed()) {
      std::int64_t ticket = pick(0, weights - 1);
      const auto chosen = std::find_if(acts().begin(), acts().end(), [&](const Weighted& each) {
        ticket -= each.weight;
        return ticket < 0;
      });
      kind_ = chosen->kind;
      (this->*chosen->act)();
      wait_until_it_flows(kind_);
      pass(pick_time(0ms, 1500ms));
    }
    if (!journal_.has_failed()) finish();
  } catch (const std::exception& error) {
    journal_.violation(fmt::format("during {}: {}", kind_, error.what()));
  }
  measuring_.request_stop();
  measuring_.join();
}

void Soak::pass(Duration time) { std::this_thread::sleep_for(time); }

void Soak::wait_until_it_flows(const std::string& after) {
  const Steady::time_point begin = Steady::now();
  const std::int64_t number = ledger_.number_at(system_clock().now());
  for (const auto& watcher : watchers_) {
    if (!watcher->is_free()) continue;
    const Duration left = options_.recovery - (Steady::now() - begin);
    if (watcher->wait_for_data(number, std::max<Duration>(left, 0s))) continue;
    if (!watcher->is_free() || journal_.has_failed()) continue;
    journal_.violation(fmt::format("{} after {} not everything flows: block {} was due; {}",
                                   format_duration(options_.recovery), after, number,
                                   watcher->progress()));
    return;
  }
  journal_.recovered(after, Steady::now() - begin);
}

void Soak::finish() {
  kind_ = "the end";
  const auto is_busy = [](const auto& watcher) { return !watcher->is_free(); };
  while (std::any_of(watchers_.begin(), watchers_.end(), is_busy)) pass(100ms);
  // What was held up or slow catches up first.
  for (const auto& watcher : watchers_) {
    watcher->wait_for_data(ledger_.next(), kDrainLimit);
  }
  wait_until_it_flows("the last act");
  feeder_->finish();
  const std::int64_t end = ledger_.next();
  for (const auto& watcher : watchers_) watcher->finish(end, kDrainLimit);
  check_history(0, end);
}

std::string Soak::summary() const {
  const PublisherStats stats = feeder_->stats();
  std::string text = fmt::format(
      " sent     {} blocks of {} topics: {} confirmed, {} failed; {} bad message(s) between them\n",
      ledger_.next(), topics_.size(), ledger_.count(Fate::confirmed), stats.failed_blocks,
      bad_sent_);
  for (const auto& watcher : watchers_) text += watcher->summary() + '\n';
  return text;
}

}
