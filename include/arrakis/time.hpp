#pragma once

/// GPS time, durations, clocks, and their text forms.
///
/// Every time in Arrakis is GPS time in whole nanoseconds. A bare integer never means time outside
/// this header and the wire. All functions here are pure and safe from any thread. @since 0.1

#include <chrono>
#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "arrakis/export.hpp"

namespace arrakis::inline v1 {

/// A span of time in whole nanoseconds.
using Duration = std::chrono::nanoseconds;

/// An instant: nanoseconds since 1980-01-06T00:00:00 UTC, leap seconds counted. Costs one int64.
///
/// Arithmetic saturates at min() and max() instead of overflowing, because times arrive in messages
/// that nobody has vouched for.
class GpsTime {
 public:
  constexpr GpsTime() = default;
  static constexpr GpsTime from_ns(std::int64_t ns) { return GpsTime(ns); }
  /// Whole seconds since the GPS epoch; saturates.
  template <std::integral T>
  static constexpr GpsTime from_seconds(T seconds) {
    if (std::cmp_greater(seconds, std::numeric_limits<std::int64_t>::max())) return max();
    return GpsTime() + saturated_seconds(static_cast<std::int64_t>(seconds));
  }
  /// The instant that the shortest decimal form of `seconds` names: 1400000000.1 is exactly
  /// 1400000000100000000 ns; digits below a nanosecond are rounded to nearest. Throws
  /// Error(invalid_argument) for NaN, infinities and what does not fit.
  ARRAKIS_API static GpsTime from_seconds(double seconds);

  static constexpr GpsTime min() { return GpsTime(std::numeric_limits<std::int64_t>::min()); }
  static constexpr GpsTime max() { return GpsTime(std::numeric_limits<std::int64_t>::max()); }

  [[nodiscard]] constexpr std::int64_t ns() const { return ns_; }
  [[nodiscard]] constexpr Duration since_epoch() const { return Duration(ns_); }
  /// The nearest double; for display and plots only.
  [[nodiscard]] constexpr double seconds() const {
    constexpr std::int64_t ns_a_second = 1'000'000'000;
    // Not ns_ / 1e9: today's times in ns have more bits than a double.
    const std::int64_t whole = ns_ / ns_a_second;
    return static_cast<double>(whole) + static_cast<double>(ns_ % ns_a_second) / 1e9;
  }

  /// The last multiple of `grid` at or before this instant, also before the epoch. `grid` > 0.
  [[nodiscard]] constexpr GpsTime floor_to(Duration grid) const {
    return *this - Duration(positive_remainder(grid));
  }
  /// The first multiple of `grid` at or after this instant. `grid` > 0.
  [[nodiscard]] constexpr GpsTime ceil_to(Duration grid) const {
    const std::int64_t rest = positive_remainder(grid);
    return rest == 0 ? *this : *this + (grid - Duration(rest));
  }
  /// Whether it lies on the grid that starts at the epoch. `grid` > 0.
  [[nodiscard]] constexpr bool is_multiple_of(Duration grid) const {
    return ns_ % grid.count() == 0;
  }

  constexpr auto operator<=>(const GpsTime&) const = default;

  friend constexpr GpsTime operator+(GpsTime t, Duration d) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(t.ns_, d.count(), &sum)) return d.count() < 0 ? min() : max();
    return GpsTime(sum);
  }
  friend constexpr GpsTime operator-(GpsTime t, Duration d) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(t.ns_, d.count(), &difference)) {
      return d.count() < 0 ? max() : min();
    }
    return GpsTime(difference);
  }
  friend constexpr Duration operator-(GpsTime a, GpsTime b) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a.ns_, b.ns_, &difference)) {
      return a.ns_ < b.ns_ ? Duration::min() : Duration::max();
    }
    return Duration(difference);
  }
  constexpr GpsTime& operator+=(Duration d) { return *this = *this + d; }
  constexpr GpsTime& operator-=(Duration d) { return *this = *this - d; }

 private:
  constexpr explicit GpsTime(std::int64_t ns) : ns_(ns) {}
  static constexpr Duration saturated_seconds(std::int64_t seconds) {
    std::int64_t ns = 0;
    if (__builtin_mul_overflow(seconds, std::int64_t{1'000'000'000}, &ns)) {
      return seconds < 0 ? Duration::min() : Duration::max();
    }
    return Duration(ns);
  }
  [[nodiscard]] constexpr std::int64_t positive_remainder(Duration grid) const {
    const std::int64_t rest = ns_ % grid.count();
    return rest < 0 ? rest + grid.count() : rest;
  }

  std::int64_t ns_ = 0;
};

/// UNIX time with nanoseconds, leap seconds not counted.
using UnixTime = std::chrono::sys_time<Duration>;

/// The UNIX instant shown at `t`. The UNIX second before an inserted leap second comes twice, so
/// GPS 1167264016 and 1167264017 give the same one. Source: the system's leap-second list where it
/// is present and newer, else the table compiled in; never the network. Saturates like GpsTime.
ARRAKIS_API UnixTime to_unix(GpsTime t);
/// The GPS instant of `t`; the inverse of to_unix outside leap seconds.
ARRAKIS_API GpsTime from_unix(UnixTime t);

/// Reads an instant: GPS seconds as a decimal ("1126259462.391", exact to the nanosecond, at most
/// nine digits after the point), ISO 8601 with 'T', blank or '_' between date and time and with or
/// without a zone ("2015-09-14 09:50:45", UTC when no zone is given; "…Z", "…+02:00"), "now",
/// "today", "yesterday", "tomorrow" (midnight UTC), "@UNIX", or relative to `now`: "-10m", "+2h",
/// "2 minutes ago". 23:59:60 is accepted where a leap second was inserted.
/// Throws Error(invalid_argument) that quotes the text and says why: for "", "nan", "inf", what
/// does not fit, and a signed number without a unit ("-60" may mean a minute ago as well as 1980).
ARRAKIS_API GpsTime parse_time(std::string_view text, GpsTime now);
/// Reads a span: seconds as a decimal ("0.25") or a sum of numbers with units ("10m", "1h30m",
/// "250 ms", "2 minutes"), with a sign or without. Units: ns, us, ms, s, m (minutes), h, d, w and
/// their names, in small letters. Exact; throws as parse_time does.
ARRAKIS_API Duration parse_duration(std::string_view text);
/// A count of seconds as a Duration by its shortest decimal form, as GpsTime::from_seconds.
ARRAKIS_API Duration from_seconds(double seconds);

enum class TimeFormat {
  gps,  ///< "1126259462.391000000" without trailing zeros: "1126259462.391"
  iso,  ///< "2015-09-14T09:50:45.391Z"; leap seconds as 23:59:60
};
/// The exact text of `t`; parse_time reads it back to the same instant, before the GPS epoch only
/// in the form iso.
ARRAKIS_API std::string format_time(GpsTime t, TimeFormat format = TimeFormat::gps);
/// GPS seconds with exactly `digits` (0 to 9) decimals, rounded to nearest, halves away from zero.
ARRAKIS_API std::string format_seconds(GpsTime t, int digits);
/// "62.5 ms", "1.5 s", "2 h 3 m": for people. Below a minute with at most three decimals, above
/// with two units; rounded to nearest.
ARRAKIS_API std::string format_duration(Duration d);

/// Where "now" comes from. Everything with a deadline takes one, so that tests never sleep.
/// Implementations must be safe from any thread.
class ARRAKIS_API Clock {
 public:
  virtual ~Clock() = default;
  /// The present GPS time.
  [[nodiscard]] virtual GpsTime now() const = 0;
  /// A clock that never jumps, from an arbitrary origin; for intervals.
  [[nodiscard]] virtual Duration monotonic() const = 0;
};

/// The machine's clocks.
ARRAKIS_API const Clock& system_clock();

}  // namespace arrakis::inline v1
