#include "arrakis/time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kafka/broker_queries.hpp"
#include "vectors/compare.hpp"
#include "vectors/handlers.hpp"
#include "vectors/vector_json.hpp"

namespace arrakis::vectors {
namespace {

using std::chrono::seconds;

constexpr std::size_t kNanosecondDigits = 9;
constexpr std::int64_t kNanosecondsPerMillisecond = 1'000'000;

/// `seconds` as text without an exponent, the fewest digits that read back to the same double.
std::string shortest_decimal(double value) {
  std::array<char, 400> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  if (error != std::errc()) throw std::runtime_error("malformed: a number out of range");
  return {buffer.data(), end};
}

double nearest_double(Duration span) {
  const std::int64_t count = span.count();
  // Through text, so that the result is the double nearest to the exact number of seconds.
  const auto magnitude =
      count < 0 ? ~static_cast<std::uint64_t>(count) + 1 : static_cast<std::uint64_t>(count);
  return std::stod(fmt::format("{}{}.{:09}", count < 0 ? "-" : "", magnitude / 1'000'000'000,
                               magnitude % 1'000'000'000));
}

/// The vectors compute with doubles of seconds, so that their last bit is not exact.
std::string difference_of_seconds(double expected, Duration actual) {
  const double got = nearest_double(actual);
  const double lowest = std::nextafter(expected, -std::numeric_limits<double>::infinity());
  const double highest = std::nextafter(expected, std::numeric_limits<double>::infinity());
  return lowest <= got && got <= highest ? std::string() : difference(expected, got);
}

Finding replay_gps_to_unix(const Json& item) {
  const GpsTime gps = GpsTime::from_seconds(item.at(0).get<double>());
  return {.difference =
              difference_of_seconds(item.at(1).get<double>(), to_unix(gps).time_since_epoch())};
}

Finding replay_unix_to_gps(const Json& item) {
  const UnixTime unix_time(from_seconds(item.at(0).get<double>()));
  return {.difference =
              difference_of_seconds(item.at(1).get<double>(), from_unix(unix_time).since_epoch())};
}

/// Whole seconds that nanoseconds can express.
std::int64_t seconds_of(const Json& item) {
  constexpr std::int64_t kMaxSeconds = 9'000'000'000;
  const std::int64_t value = integer_of(item);
  if (value < -kMaxSeconds || value > kMaxSeconds) {
    throw std::runtime_error("malformed: a time out of range");
  }
  return value;
}

/// The leap second itself shows the same UNIX second as the one before it.
Finding replay_leap_gps(const Json& item) {
  const GpsTime leap = GpsTime::from_seconds(seconds_of(item));
  const Duration step = to_unix(leap) - to_unix(leap - seconds(1));
  return {.difference = difference({{"UNIX seconds gained", 0}},
                                   {{"UNIX seconds gained", step / seconds(1)}})};
}

/// The UNIX second after a leap second is two GPS seconds after the one before.
Finding replay_leap_unix(const Json& item) {
  const UnixTime after{Duration(seconds(seconds_of(item)))};
  const Duration step = from_unix(after) - from_unix(after - seconds(1));
  return {.difference =
              difference({{"GPS seconds gained", 2}}, {{"GPS seconds gained", step / seconds(1)}})};
}

/// What the shortest decimal form of `value` says, to the nearest nanosecond.
std::int64_t exact_nanoseconds(double value) {
  const std::string text = shortest_decimal(value);
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string digits = point < text.size() ? text.substr(point + 1) : std::string();
  const bool rounds_up = digits.size() > kNanosecondDigits && digits[kNanosecondDigits] >= '5';
  digits.resize(kNanosecondDigits, '0');
  const std::int64_t cut = std::stoll(text.substr(0, point) + digits);
  if (!rounds_up) return cut;
  return text.starts_with('-') ? cut - 1 : cut + 1;
}

/// The answer of an implementation that takes the double apart in arithmetic of doubles.
std::int64_t inexact_nanoseconds(double value) {
  constexpr double kLargest = 9e9;
  if (!(std::abs(value) < kLargest)) throw std::runtime_error("malformed: a time out of range");
  const double fraction = value - std::floor(value);
  return static_cast<std::int64_t>(value) * 1'000'000'000 +
         static_cast<std::int64_t>(fraction * 1e9);
}

Finding replay_time_as_ns(const Json& item) {
  const Json& input = item.at(0);
  if (input.is_number_integer()) {
    return {.difference = difference(item.at(1), GpsTime::from_seconds(integer_of(input)).ns())};
  }
  const std::int64_t actual = GpsTime::from_seconds(input.get<double>()).ns();
  const std::int64_t stated = integer_of(item.at(1));
  const std::int64_t right = exact_nanoseconds(input.get<double>());
  return {.difference = difference(stated, actual),
          .vector_is_right = stated == right,
          .error = difference(right, actual),
          .vector_error = difference(inexact_nanoseconds(input.get<double>()), stated)};
}

/// How far UNIX seconds are ahead of GPS seconds at `time`, by the file's own leap table.
std::int64_t unix_offset(const Json& content, GpsTime time) {
  const auto passed = std::ranges::count_if(content.at("leap_gps"), [&](const Json& leap) {
    return GpsTime::from_seconds(integer_of(leap)) <= time;
  });
  return seconds_of(content.at("gps_epoch_unix")) - passed;
}

/// UNIX milliseconds, rounded down.
std::int64_t exact_lookup(const Json& content, GpsTime time) {
  const GpsTime shifted = time + seconds(unix_offset(content, time));
  return shifted.floor_to(std::chrono::milliseconds(1)).ns() / kNanosecondsPerMillisecond;
}

/// The answer of an implementation that computes with doubles of seconds.
std::int64_t inexact_lookup(const Json& content, GpsTime time) {
  const double unix_seconds = time.seconds() + static_cast<double>(unix_offset(content, time));
  return static_cast<std::int64_t>(unix_seconds * 1000);
}

Finding replay_lookup(const Json& content, const Json& item) {
  const GpsTime time = time_at(item, "start_ns");
  const GpsTime whole_second = time.floor_to(seconds(1));
  Json stated = item;
  stated.erase("start_ns");
  const auto answers = [](std::int64_t start, std::int64_t fast_forward) -> Json {
    return {{"start_lookup_unix_ms", start}, {"fast_forward_lookup_unix_ms", fast_forward}};
  };
  const Json actual = answers(kafka_timestamp_ms(whole_second), kafka_timestamp_ms(time));
  const std::int64_t right_start = exact_lookup(content, whole_second);
  const Json right = answers(right_start, exact_lookup(content, time));
  return {.difference = difference(stated, actual),
          .vector_is_right = difference(stated, right).empty(),
          .error = difference(right, actual),
          .vector_error = difference(answers(right_start, inexact_lookup(content, time)), stated)};
}

void replay_lookups(const VectorFile& file, FileReport& report) {
  constexpr std::string_view kSection = "kafka_offset_lookup";
  std::size_t number = 0;
  for (const Json& item : file.content.at(kSection)) {
    report.run(kSection, fmt::format("{}[{}]", kSection, number),
               [&] { return replay_lookup(file.content, item); });
    ++number;
  }
}

}  // namespace

void replay_time(const VectorFile& file, FileReport& report) {
  report.run("gps_epoch_unix", "gps_epoch_unix", [&]() -> Finding {
    return {.difference = difference(file.content.at("gps_epoch_unix"),
                                     to_unix(GpsTime()).time_since_epoch() / seconds(1))};
  });
  replay_section(file, report, "leap_gps", replay_leap_gps);
  replay_section(file, report, "leap_unix", replay_leap_unix);
  replay_section(file, report, "gps_to_unix", replay_gps_to_unix);
  replay_section(file, report, "unix_to_gps", replay_unix_to_gps);
  replay_section(file, report, "time_as_ns", replay_time_as_ns);
  replay_lookups(file, report);
}

}  // namespace arrakis::vectors
