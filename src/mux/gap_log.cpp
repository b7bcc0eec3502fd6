#include "mux/gap_log.hpp"

#include <algorithm>

#include "core/logging.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr int kTimeDigits = 3;

double in_seconds(Duration span) { return static_cast<double>(span.count()) / 1e9; }

}  // namespace

GapLog::GapLog(Duration timeout) : patience_(std::max(timeout, kMinPatience)) {}

void GapLog::gap(std::string_view name, GpsTime first, GpsTime last) {
  if (state_ == State::no_data_yet) {
    state_ = State::waiting_first;
    log::debug("mux", "{}: no data at GPS {}; serving gaps until data arrives", name,
               format_seconds(first, kTimeDigits));
    return;
  }
  if (state_ == State::flowing) {
    state_ = State::short_gap;
    run_start_ = first;
  }
  if (state_ != State::short_gap || last - run_start_ < patience_) return;
  state_ = State::long_gap;
  log::warning("mux", "{}: no data since GPS {} ({:.1f} s); serving gaps until data resumes", name,
               format_seconds(run_start_, kTimeDigits), in_seconds(last - run_start_));
}

void GapLog::resume(std::string_view name, GpsTime slot) {
  const State ended = state_;
  state_ = State::flowing;
  if (ended != State::short_gap && ended != State::long_gap) return;
  const LogLevel level = ended == State::long_gap ? LogLevel::info : LogLevel::debug;
  log::line(level, "mux", "{}: data resumed at GPS {} after {:.1f} s of gap", name,
            format_seconds(slot, kTimeDigits), in_seconds(slot - run_start_));
}

}  // namespace arrakis::inline v1
