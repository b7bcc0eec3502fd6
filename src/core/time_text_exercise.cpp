#include "core/time_text_exercise.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>

#include "arrakis/time.hpp"
#include "core/exercise.hpp"
#include "core/leap_seconds.hpp"
#include "core/wide_int.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr GpsTime kNow = GpsTime::from_ns(1'400'000'000'500'000'000);

std::optional<GpsTime> time_of(std::string_view text, GpsTime now, std::string_view input) {
  try {
    return parse_time(text, now);
  } catch (const Error& error) {
    require_refusal(error, "bad time", input);
    return std::nullopt;
  }
}

std::optional<Duration> duration_of(std::string_view text, std::string_view input) {
  try {
    return parse_duration(text);
  } catch (const Error& error) {
    require_refusal(error, "bad duration", input);
    return std::nullopt;
  }
}

Int128 distance(std::int64_t a, std::int64_t b) { return a < b ? Int128{b} - a : Int128{a} - b; }

void check_time(GpsTime t, std::string_view input) {
  // Another "now": what is written must not depend on it.
  require(time_of(format_time(t, TimeFormat::iso), GpsTime(), input) == t,
          "a time's ISO form reads back equal", input);
  if (t >= GpsTime()) {
    require(time_of(format_time(t), GpsTime(), input) == t, "a time's GPS form reads back equal",
            input);
  }
  std::int64_t grain = 1'000'000'000;
  for (int digits = 0; digits <= 9; ++digits, grain /= 10) {
    // As a duration: those have negative numbers, too. The last half second may round out of range.
    const auto rounded = duration_of(format_seconds(t, digits), input);
    const bool near_limit = distance(t.ns(), 0) > GpsTime::max().ns() - grain;
    require(rounded ? distance(rounded->count(), t.ns()) <= grain / 2 : near_limit,
            "rounded seconds are the nearest", input);
  }
  const LeapSeconds& leap_seconds = LeapSeconds::current();
  const auto second = std::chrono::floor<std::chrono::seconds>(t.since_epoch()).count();
  const GpsTime again = from_unix(to_unix(t));
  const bool saturates = to_unix(t) == UnixTime::max() || to_unix(t) == UnixTime::min();
  const bool is_shown_twice = leap_seconds.is_leap_second(second);
  require(again == t || saturates || is_shown_twice, "UNIX time leads back", input);
}

void check_duration(Duration d, std::string_view input) {
  require(duration_of(format_time(GpsTime::from_ns(d.count())), input) == d,
          "a duration in seconds reads back equal", input);
  const std::string shown = format_duration(d);
  const std::optional<Duration> read = duration_of(shown, input);
  if (!read) {
    // Rounded to hours, it may be longer than any.
    require(distance(d.count(), 0) >
                Duration::max().count() - std::chrono::nanoseconds(std::chrono::hours(1)).count(),
            "a duration for people can be read", input);
    return;
  }
  // One decimal place or unit less in the worst case: 1 d 0.5 h shown as 1 d 1 h.
  constexpr int kGreatestError = 40;
  require(distance(read->count(), d.count()) <= distance(d.count(), 0) / kGreatestError,
          "a duration for people is near", input);
  require(format_duration(*read) == shown, "a duration for people stays the same", input);
}

void exercise_double(double seconds, std::string_view input) {
  std::optional<Duration> exact;
  try {
    exact = from_seconds(seconds);
    require(GpsTime::from_seconds(seconds).since_epoch() == *exact,
            "times and durations convert alike", input);
  } catch (const Error& error) {
    require_refusal(error, "bad duration", input);
    constexpr double kAlwaysFits = 9.2e9;
    require(!(std::fabs(seconds) < kAlwaysFits), "what fits is converted", input);
  }
  if (!std::isfinite(seconds)) return;
  // Its shortest text, where that has no more digits than a time may have.
  const std::optional<Duration> read = duration_of(fmt::format("{}", seconds), input);
  require(!read || read == exact, "a double is what its shortest decimal says", input);
}

void exercise_leap_seconds(const std::optional<LeapSeconds>& list, std::string_view input) {
  if (!list) return;
  constexpr std::int64_t kDay = 86'400;
  constexpr std::int64_t kFirst = kGpsEpochUnixSecond;
  constexpr std::int64_t kLast = 4'000'000'000;
  for (std::int64_t unix_second = kFirst; unix_second < kLast; unix_second += 97 * kDay) {
    require(list->unix_second(list->gps_second(unix_second)) == unix_second,
            "a list of leap seconds can be inverted", input);
  }
  require(!list->supersedes(*list), "a list does not supersede itself", input);
  (void)list->supersedes(LeapSeconds::built_in());
}

}  // namespace

void exercise_time_text(std::string_view input) {
  for (const GpsTime now : {kNow, GpsTime::min(), GpsTime::max()}) {
    if (const auto t = time_of(input, now, input)) check_time(*t, input);
  }
  if (const auto d = duration_of(input, input)) check_duration(*d, input);
  check_time(GpsTime::from_ns(leading<std::int64_t>(input)), input);
  check_duration(Duration(leading<std::int64_t>(input)), input);
  exercise_double(leading<double>(input), input);
  exercise_leap_seconds(LeapSeconds::parse_list(input), input);
  exercise_leap_seconds(LeapSeconds::parse_tzdata(input), input);
}

}  // namespace arrakis::inline v1
