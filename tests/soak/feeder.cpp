#include "soak/feeder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace arrakis::soak {

namespace {

constexpr Duration kFlushLimit = std::chrono::seconds(60);

}

Feeder::Feeder(const std::string& bootstrap, const std::vector<Topic>& topics, Ledger& ledger,
               Journal& journal)
    : topics_(topics), ledger_(ledger), journal_(journal) {
  PublisherOptions options;
  options.max_in_flight = 4096;  // minutes of an outage
  for (const Topic& topic : topics) {
    publishers_.push_back(std::make_unique<KafkaPublisher>(bootstrap, topic.channels, options));
  }
  thread_ = std::jthread([this](const std::stop_token& stop) {
    try {
      run(stop);
    } catch (const std::exception& error) {
      journal_.violation(fmt::format("publishing threw: {}", error.what()));
    }
  });
}

Feeder::~Feeder() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Feeder::stall(Duration wait) {
  const std::lock_guard lock(mutex_);
  stalled_until_ = std::chrono::steady_clock::now() + wait;
}

void Feeder::run(const std::stop_token& stop) {
  for (std::int64_t number = 0; !stop.stop_requested(); ++number) {
    {
      std::unique_lock lock(mutex_);
      const auto wait = [&](Duration time) {
        changed_.wait_for(lock, stop, time, [] { return false; });
      };
      // A block can be published when its last sample was taken.
      wait(ledger_.time_of(number + 1) - system_clock().now());
      while (!stop.stop_requested() && std::chrono::steady_clock::now() < stalled_until_) {
        wait(stalled_until_ - std::chrono::steady_clock::now());
      }
    }
    if (stop.stop_requested()) return;
    send(number);
  }
}

void Feeder::send(std::int64_t number) {
  for (std::size_t t = 0; t < topics_.size(); ++t) {
    ledger_.sent(t, number);
    try {
      publishers_[t]->publish_async(
          make_block(ledger_.time_of(number), topics_[t].channels, number),
          [this, t, number](const SeriesBlock&, const std::optional<Error>& error) {
            ledger_.ended(t, number, !error);
          });
    } catch (const Error& error) {
      ledger_.ended(t, number, false);
      journal_.violation(
          fmt::format("block {} of {} was refused: {}", number, topics_[t].name, error.what()));
    }
  }
}

void Feeder::finish() {
  thread_.request_stop();
  thread_.join();
  for (std::size_t t = 0; t < topics_.size(); ++t) {
    if (publishers_[t]->flush(kFlushLimit)) continue;
    journal_.violation(fmt::format("{}: {} block(s) are not confirmed after {}", topics_[t].name,
                                   publishers_[t]->stats().in_flight,
                                   format_duration(kFlushLimit)));
  }
}

PublisherStats Feeder::stats() const {
  PublisherStats sum;
  for (const auto& publisher : publishers_) {
    const PublisherStats stats = publisher->stats();
    sum.blocks += stats.blocks;
    sum.failed_blocks += stats.failed_blocks;
    sum.new_clients += stats.new_clients;
    sum.in_flight += stats.in_flight;
  }
  return sum;
}

}
