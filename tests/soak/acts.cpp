#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "arrakis/stream.hpp"
#include "soak/soak.hpp"
#include "wire/row_encoder.hpp"
#include "wire/sample_messages.hpp"

namespace arrakis::soak {

namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

/// More than a call may take beyond its limit on a busy machine.
constexpr Duration kCallLimit = 2s;
constexpr Duration kOpenTimeout = 3s;

}

const std::vector<Soak::Weighted>& Soak::acts() {
  static const std::vector<Weighted> kActs = {
      {"kill", 2, &Soak::kill},
      {"terminate", 2, &Soak::terminate},
      {"freeze", 3, &Soak::freeze},
      {"recreate", 3, &Soak::recreate_topic},
      {"purge", 2, &Soak::purge},
      {"bad", 4, &Soak::send_bad_messages},
      {"misplace", 2, &Soak::send_misplaced_blocks},
      {"hold", 4, &Soak::hold_reader},
      {"slow", 2, &Soak::slow_reader},
      {"stall", 2, &Soak::stall_publishers},
      {"visit", 4, &Soak::visit},
      {"history", 2, &Soak::read_history},
  };
  return kActs;
}

void Soak::kill() { die_and_return("killed", &testing::RealBroker::kill); }

void Soak::terminate() { die_and_return("terminated", &testing::RealBroker::terminate); }

void Soak::die_and_return(const char* how, void (testing::RealBroker::*end)()) {
  const Duration down = pick_time(0ms, 3s);
  const bool has_visitor = pick(0, 1) == 0;
  act(fmt::format("the broker is {} for {} and its start", how, format_duration(down)));
  (broker_.*end)();
  if (has_visitor) open_without_broker();
  pass(down);
  broker_.restart();
  journal_.note("the broker is back");
}

void Soak::open_without_broker() {
  ReaderOptions options;
  options.timeout = kOpenTimeout;
  const Steady::time_point begin = Steady::now();
  try {
    const BlockStream stream(
        std::make_unique<KafkaReader>(broker_.bootstrap(), all_channels(topics_), options));
    journal_.violation("a reader was opened without a broker");
  } catch (const Error& error) {
    if (error.code() != Errc::broker_unavailable ||
        std::string_view(error.what()).find(broker_.bootstrap()) == std::string_view::npos) {
      journal_.violation(fmt::format("opening without a broker: {}", error.what()));
    }
  }
  if (const Duration took = Steady::now() - begin; took > kOpenTimeout + kCallLimit) {
    journal_.violation(fmt::format("opening without a broker took {}", format_duration(took)));
  }
}

void Soak::freeze() {
  const Duration length = pick_time(500ms, 8s);
  act(fmt::format("the broker hangs for {}", format_duration(length)));
  broker_.freeze();
  pass(length);
  broker_.thaw();
}

void Soak::recreate_topic() {
  const std::size_t t = pick_topic();
  const Duration gone = pick(0, 1) == 0 ? Duration(0) : pick_time(0ms, 3s);
  act(fmt::format("{} is deleted and made again after {}", topics_[t].name, format_duration(gone)));
  ledger_.begin_loss(t);
  broker_.delete_topic(topics_[t].name);
  pass(gone);
  broker_.create_topic(topics_[t].name);
  ledger_.end_loss(t);
}

void Soak::purge() {
  constexpr std::int64_t kEverything = -1;
  const std::size_t t = pick_topic();
  act(fmt::format("all records of {} are deleted", topics_[t].name));
  ledger_.begin_loss(t);
  broker_.delete_records(topics_[t].name, kEverything);
  ledger_.end_loss(t);
}

void Soak::send_bad_messages() {
  const std::size_t t = pick_topic();
  const std::string& topic = topics_[t].name;
  const std::int64_t next = ledger_.next();
  const std::string good =
      encode_messages(make_block(ledger_.time_of(next), topics_[t].channels, next))[0].bytes;
  std::string noise(256, '\0');
  for (char& byte : noise) byte = static_cast<char>(pick(0, 255));
  const std::int64_t time = ledger_.time_of(next).ns();
  const SampleRow row{.time_ns = time, .id = 0, .samples = {{1, 2, 3, 4}}};
  const SampleRow timeless{.time_ns = std::nullopt, .id = 0, .samples = {{1, 2, 3, 4}}};
  const SampleRow foreign{.time_ns = time, .id = 99, .samples = {{1, 2, 3, 4}}};
  MessageForm other_type;
  other_type.type = DataType::int16;

  const std::vector<std::string> kinds = {"",
                                          std::string(64, '\0'),
                                          noise,
                                          good.substr(0, good.size() / 2),
                                          good.substr(0, good.size() - 24),
                                          make_message({timeless}),
                                          make_message({foreign}),
                                          make_message({}),
                                          make_message({row}, other_type)};
  testing::RawProducer producer(broker_.bootstrap());
  const std::int64_t count = pick(1, 12);
  act(fmt::format("{} bad message(s) into {}", count, topic));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t kind = pick(0, static_cast<std::int64_t>(kinds.size()));
    if (kind == static_cast<std::int64_t>(kinds.size())) {
      producer.send_null(topic);
    } else {
      producer.send(topic, kinds[static_cast<std::size_t>(kind)]);
    }
    ++bad_sent_;
  }
}

void Soak::send_misplaced_blocks() {
  const std::size_t t = pick_topic();
  const bool is_future = pick(0, 1) == 0;
  act(fmt::format("blocks {} into {}", is_future ? "of tomorrow" : "off the grid",
                  topics_[t].name));
  PublisherOptions options;
  options.require_grid = false;
  options.future_limit.reset();
  options.timeout = 10s;
  KafkaPublisher publisher(broker_.bootstrap(), topics_[t].channels, options);
  const std::int64_t next = ledger_.next();
  const Duration offset = is_future ? Duration(24h) : Duration(ledger_.stride() / 2);
  for (std::int64_t i = 0; i < 3; ++i) {
    publisher.publish(
        make_block(ledger_.time_of(next + i) + offset, topics_[t].channels, next + i));
    ++bad_sent_;
  }
}

void Soak::hold_reader() {
  Watcher& watcher = *watchers_[static_cast<std::size_t>(
      pick(0, static_cast<std::int64_t>(watchers_.size()) - 1))];
  const Duration length = pick_time(500ms, 12s);
  act(fmt::format("reader {} takes nothing for {}", watcher.name(), format_duration(length)));
  watcher.hold(length);
}

void Soak::slow_reader() {
  const Duration pause = pick_time(70ms, 200ms);
  const Duration length = pick_time(3s, 12s);
  Watcher& watcher = *watchers_.back();
  act(fmt::format("reader {} takes {} for a block for {}", watcher.name(), format_duration(pause),
                  format_duration(length)));
  watcher.slow_down(pause, length);
}

void Soak::stall_publishers() {
  const Duration length = pick_time(200ms, 4s);
  act(fmt::format("nothing is published for {}", format_duration(length)));
  feeder_->stall(length);
  pass(length);
}

void Soak::visit() {
  const bool is_live = pick(0, 1) == 0;
  const std::int64_t back = pick(1, 320);
  const std::int64_t blocks = pick(0, 40);
  const bool cancels = pick(0, 1) == 0;
  const Duration patience = pick_time(0ms, 1s);
  act(fmt::format("a reader {} is {}", is_live ? "of now" : "of the past",
                  cancels ? fmt::format("cancelled after {}", format_duration(patience))
                          : fmt::format("closed after {} block(s)", blocks)));
  StreamOptions options;
  if (!is_live) {
    options.start = ledger_.time_of(std::max<std::int64_t>(ledger_.next() - back, 0));
  }
  Judge judge(ledger_, topics_);
  options.on_event = [&](const Event& event) { judge.on_event(event); };
  BlockStream stream(std::make_unique<KafkaReader>(broker_.bootstrap(), all_channels(topics_)),
                     options);
  Steady::time_point cancelled_at;
  std::jthread canceller;
  if (cancels) {
    canceller = std::jthread([&] {
      std::this_thread::sleep_for(patience);
      cancelled_at = Steady::now();
      stream.cancel();
    });
  }
  for (std::int64_t i = 0; cancels || i < blocks; ++i) {
    const BlockStream::Next next = stream.next(10s);
    if (next.status == BlockStream::Status::end) break;
    if (!next) {
      journal_.violation("a reader got no block within 10 s");
      break;
    }
    if (const auto wrong = judge.check(next.block)) {
      journal_.violation(fmt::format("a visiting reader: {}", *wrong));
      break;
    }
  }
  Steady::time_point begin = Steady::now();
  if (cancels) {
    canceller.join();
    if (begin - cancelled_at > kCallLimit) journal_.violation("cancelling took too long");
  }
  begin = Steady::now();
  stream.close();
  if (Steady::now() - begin > kCallLimit) journal_.violation("closing took too long");
}

void Soak::read_history() {
  // What is newer may not be confirmed yet.
  constexpr std::int64_t kRecent = 80;
  const std::int64_t end = std::max<std::int64_t>(ledger_.next() - kRecent, 1);
  const std::int64_t first = pick(0, end - 1);
  const std::int64_t last = std::min(end, first + pick(1, 1000));
  act(fmt::format("blocks {} to {} are read again", first, last - 1));
  check_history(first, last);
}

void Soak::check_history(std::int64_t first, std::int64_t end) {
  StreamOptions options;
  options.start = ledger_.time_of(first);
  options.end = ledger_.time_of(end);
  Judge judge(ledger_, topics_);
  BlockStream stream(std::make_unique<KafkaReader>(broker_.bootstrap(), all_channels(topics_)),
                     options);
  const Steady::time_point limit = Steady::now() + 60s;
  BlockStream::Next next = stream.next(60s);
  for (; next && Steady::now() < limit; next = stream.next(60s)) {
    if (const auto wrong = judge.check(next.block)) {
      journal_.violation(fmt::format("history: {}", *wrong));
      return;
    }
  }
  if (next.status != BlockStream::Status::end) {
    journal_.violation(fmt::format("history of blocks {} to {} did not end", first, end - 1));
    return;
  }
  if (judge.tally().blocks != static_cast<std::uint64_t>(end - first)) {
    journal_.violation(
        fmt::format("history of {} block(s) had {}", end - first, judge.tally().blocks));
  }
  if (const auto wrong = judge.settle_without_loss()) {
    journal_.violation(fmt::format("history: {}", *wrong));
  }
}

}
