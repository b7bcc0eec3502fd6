#pragma once

/// Drives a Source by hand and keeps what it hands over.

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "arrakis/kafka.hpp"
#include "arrakis/source.hpp"
#include "wire/part.hpp"

namespace arrakis::testing {

struct Collector final : Source::Sink {
  struct Got {
    std::size_t stream;
    BlockPartPtr part;
  };
  std::vector<Got> parts;
  std::vector<Event> events;

  bool on_part(std::size_t stream, BlockPartPtr part) override {
    parts.push_back({stream, std::move(part)});
    return true;
  }
  void on_event(const Event& event) override { events.push_back(event); }

  template <typename E>
  [[nodiscard]] std::vector<E> events_of() const {
    std::vector<E> found;
    for (const Event& event : events) {
      if (const E* e = std::get_if<E>(&event)) found.push_back(*e);
    }
    return found;
  }
  [[nodiscard]] std::vector<GpsTime> times(std::size_t stream) const {
    std::vector<GpsTime> found;
    for (const Got& got : parts) {
      if (got.stream == stream) found.push_back(got.part->time());
    }
    return found;
  }

  /// Polls until the condition holds; false after `limit`.
  bool poll_until(KafkaReader& reader, const std::function<bool()>& condition,
                  Duration limit = std::chrono::seconds(10)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
      if (std::chrono::steady_clock::now() >= deadline) return false;
      const std::size_t before = parts.size() + events.size();
      reader.poll(*this);
      if (parts.size() + events.size() == before) reader.wait(std::chrono::milliseconds(50));
    }
    return true;
  }
};

}
