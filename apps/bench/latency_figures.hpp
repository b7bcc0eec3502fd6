#pragma once

/// From when strides were published and when they came out: how long they took.

#include <chrono>
#include <cstddef>
#include <span>

#include "arrakis/time.hpp"
#include "bench/percentiles.hpp"

namespace arrakis::bench {

using Instant = std::chrono::steady_clock::time_point;

/// What of a stride was sent.
enum class Sent {
  whole,
  first_without,  ///< a partition is missing, and was not before
  still_without,
};

struct Published {
  GpsTime time;  ///< of the stride
  Instant at;    ///< just before the call
  Sent sent = Sent::whole;
};

struct Arrived {
  GpsTime time;  ///< of the stride
  Instant at;
  Instant last_part;         ///< when its last part was announced to the reader
  Duration past_deadline{};  ///< when it came, from its deadline
  bool has_gaps = false;
};

/// Milliseconds. A stride that lacks a partition waits for its deadline, or until the partition
/// goes on after it; those published meanwhile wait behind it. They say nothing about speed and are
/// left out. Only the first stride without the partition tells how deadlines are kept.
struct LatencyFigures {
  Percentiles total;            ///< published to arrived
  Percentiles after_last_part;  ///< last part to arrived
  Percentiles after_deadline;   ///< deadline to arrived, of the first without a partition
  std::size_t left_out = 0;     ///< lacked a partition, or waited behind one that did
  std::size_t gaps = 0;         ///< came with gaps though everything was sent
  std::size_t lost = 0;         ///< published, never came

  /// Both in order of time.
  void add(std::span<const Published> published, std::span<const Arrived> arrived);
};

}
