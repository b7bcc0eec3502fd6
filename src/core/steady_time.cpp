#include "core/steady_time.hpp"

#include <string>
#include <utility>

#include "core/logging.hpp"

namespace arrakis::inline v1 {

namespace {

constexpr std::string_view kLog = "clock";

Duration offset_of(const Clock& clock) {
  return std::chrono::nanoseconds(clock.now().ns()) - clock.monotonic();
}

bool is_step(Duration difference) { return std::chrono::abs(difference) > SteadyTime::kStep; }

std::string signed_duration(Duration d) {
  return (d < Duration::zero() ? "-" : "+") + format_duration(std::chrono::abs(d));
}

}

SteadyTime::SteadyTime(const Clock& clock) : clock_(&clock), offset_(offset_of(clock)) {}

GpsTime SteadyTime::now() {
  const Duration monotonic = clock_->monotonic();
  const Duration offset = offset_of(*clock_);
  if (!is_step(offset - offset_)) {
    if (step_) {
      log::info(kLog, "the machine's clock agrees with the data again");
      step_.reset();
    }
    offset_ = offset;
  } else if (!step_ || is_step(offset - step_->offset)) {
    log::warning(kLog,
                 "the machine's clock was set by {}; going by the old time while the data does",
                 signed_duration(offset - offset_));
    step_ = Step{offset, monotonic};
  } else if (monotonic - step_->denied_at >= kPatience) {
    take(offset);
  }
  return GpsTime::from_ns((offset_ + monotonic).count());
}

bool SteadyTime::saw(GpsTime t, Duration window) {
  if (!step_) return false;
  const Duration monotonic = clock_->monotonic();
  const auto is_of_now = [&](Duration offset) {
    const Duration age = offset + monotonic - Duration(t.ns());
    return age >= -kStep && age <= window + kStep;
  };
  const bool by_old = is_of_now(offset_);
  const bool by_new = is_of_now(step_->offset);
  if (by_old && !by_new) step_->denied_at = monotonic;
  const bool is_proven = by_new && !by_old;
  if (is_proven) take(step_->offset);
  return is_proven;
}

void SteadyTime::take(Duration offset) {
  log::info(kLog, "following the machine's clock, which was set by {}",
            signed_duration(offset - offset_));
  offset_ = offset;
  step_.reset();
}

}
