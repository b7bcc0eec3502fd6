#include "arrakis/time.hpp"

#include "core/immortal.hpp"
#include "core/leap_seconds.hpp"

namespace arrakis::inline v1 {
namespace {

class SystemClock final : public Clock {
 public:
  [[nodiscard]] GpsTime now() const override {
    return from_unix(std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()));
  }
  [[nodiscard]] Duration monotonic() const override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }
};

std::int64_t floor_seconds(Duration d) {
  return std::chrono::floor<std::chrono::seconds>(d).count();
}

}  // namespace

UnixTime to_unix(GpsTime t) {
  const std::int64_t second = floor_seconds(t.since_epoch());
  const std::chrono::seconds shift(LeapSeconds::current().unix_second(second) - second);
  return UnixTime((t + shift).since_epoch());
}

GpsTime from_unix(UnixTime t) {
  const std::int64_t second = floor_seconds(t.time_since_epoch());
  const std::chrono::seconds shift(LeapSeconds::current().gps_second(second) - second);
  return GpsTime() + t.time_since_epoch() + shift;
}

const Clock& system_clock() {
  static const Immortal<SystemClock> kClock;
  return *kClock;
}

}  // namespace arrakis::inline v1
