#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <tl/expected.hpp>

#include "arrakis/error.hpp"
#include "arrakis/time.hpp"
#include "core/leap_seconds.hpp"
#include "core/quote.hpp"
#include "core/wide_int.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr std::int64_t kNsASecond = 1'000'000'000;
constexpr int kNsDigits = 9;
constexpr std::int64_t kSecondsAMinute = 60;
constexpr std::int64_t kSecondsAnHour = 3'600;
constexpr std::int64_t kSecondsADay = 86'400;

/// A value, or why the text has none.
template <typename T>
using Parsed = tl::expected<T, std::string_view>;

tl::unexpected<std::string_view> refuse(std::string_view reason) {
  return tl::unexpected<std::string_view>(reason);
}

constexpr std::string_view kEmptyText = "it is empty";
constexpr std::string_view kNoNumber = "a decimal number was expected";
constexpr std::string_view kTooManyDigits = "at most nine digits may follow the decimal point";
constexpr std::string_view kTooFine = "it is no whole number of nanoseconds";
constexpr std::string_view kTimeOutOfRange =
    "out of range: times go from the year 1687 to the year 2272";
constexpr std::string_view kDurationOutOfRange = "out of range: durations go up to 292 years";
constexpr std::string_view kUnknownUnit =
    "unknown unit: there are ns, us, ms, s, m (minutes), h, d and w";
constexpr std::string_view kNumberWithoutUnit = "each number needs a unit such as s, m or h";
constexpr std::string_view kSignWithoutUnit =
    "a signed time is relative to now and needs a unit, such as '-60s'; times before the GPS epoch "
    "can be given as a date";
constexpr std::string_view kSpanWithoutSign =
    "a time relative to now needs a sign or 'ago': '-10m', '+2h', '10 minutes ago'";
constexpr std::string_view kNotATime =
    "expected GPS seconds, a date such as 2015-09-14T09:50:45, 'now', 'today', '@' and UNIX "
    "seconds, or a time relative to now such as '-10m'";
constexpr std::string_view kNotADate =
    "a date must look like 2015-09-14, 2015-09-14T09:50:45.391Z or 2015-09-14 09:50+02:00";
constexpr std::string_view kNoSuchDate = "there is no such date or time of day";
constexpr std::string_view kNoLeapSecond = "no leap second was inserted there";

[[noreturn]] void throw_bad_text(std::string_view what, std::string_view text,
                                 std::string_view reason) {
  throw Error(Errc::invalid_argument, fmt::format("bad {} {}: {}", what, quoted(text), reason));
}

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || byte >= 0x80;
}
constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return to_lower(x) == to_lower(y); });
}

/// Takes a text apart from its front.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }

  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  template <typename Predicate>
  std::string_view take_while(Predicate is_part) {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_part);
    const auto size = static_cast<std::size_t>(end - rest_.begin());
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::string_view take_digits() { return take_while(is_digit); }
  void skip_blanks() {
    take_while([](char c) { return c == ' ' || c == '\t'; });
  }
  /// Exactly `count` digits as a number; nothing (and nothing taken) when they are not there.
  std::optional<int> take_number(std::size_t count) {
    const std::string_view digits = rest_.substr(0, count);
    if (digits.size() < count || !std::all_of(digits.begin(), digits.end(), is_digit)) {
      return std::nullopt;
    }
    int value = 0;
    for (const char c : digits) value = value * 10 + (c - '0');
    rest_.remove_prefix(count);
    return value;
  }

 private:
  std::string_view rest_;
};

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// A decimal number without sign: digits / 10^scale.
struct Decimal {
  UInt128 digits = 0;
  int scale = 0;  // 0 to kNsDigits
};

constexpr UInt128 power_of_ten(int exponent) {
  UInt128 power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

/// Decimals have at most so many digits before the point (no unit is smaller than 1 ns).
constexpr int kMaxWholeDigits = 20;
constexpr int kMaxExponent = 100;

/// "12", "12.5", ".5", "12.", "1.2e3". `out_of_range` is the reason for numbers beyond all use.
Parsed<Decimal> take_decimal(Scanner& in, std::string_view out_of_range) {
  std::string_view whole = in.take_digits();
  std::string_view fraction;
  if (in.take('.')) fraction = in.take_digits();
  if (whole.empty() && fraction.empty()) return refuse(kNoNumber);

  int exponent = 0;
  if (in.peek() == 'e' || in.peek() == 'E') {
    in.take(in.peek());
    const bool is_negative = in.take('-');
    if (!is_negative) in.take('+');
    const std::string_view digits = in.take_digits();
    if (digits.empty()) return refuse(kNoNumber);
    const auto [stop, fault] =
        std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (fault != std::errc() || exponent > kMaxExponent) {
      return refuse(is_negative ? kTooManyDigits : out_of_range);
    }
    if (is_negative) exponent = -exponent;
  }

  if (fraction.size() > std::size_t{kNsDigits + kMaxExponent}) return refuse(kTooManyDigits);
  const int scale = static_cast<int>(fraction.size()) - exponent;
  if (scale > kNsDigits) return refuse(kTooManyDigits);
  whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
  if (whole.size() > std::size_t{kMaxWholeDigits}) return refuse(out_of_range);

  Decimal decimal;
  int digit_count = 0;
  for (const std::string_view part : {whole, fraction}) {
    for (const char c : part) {
      decimal.digits = decimal.digits * 10 + static_cast<unsigned>(c - '0');
      if (decimal.digits != 0) ++digit_count;
      if (digit_count > kMaxWholeDigits + kNsDigits) return refuse(out_of_range);
    }
  }
  if (scale >= 0) {
    decimal.scale = scale;
    return decimal;
  }
  if (decimal.digits == 0) return decimal;
  if (digit_count - scale > kMaxWholeDigits) return refuse(out_of_range);
  decimal.digits *= power_of_ten(-scale);
  return decimal;
}

/// The number as nanoseconds when it counts units of `unit_ns`; nothing when it is not whole.
std::optional<Int128> to_ns(const Decimal& decimal, std::int64_t unit_ns) {
  const UInt128 divisor = power_of_ten(decimal.scale);
  const auto unit = static_cast<UInt128>(unit_ns);
  const UInt128 whole = decimal.digits / divisor * unit;
  const UInt128 part = decimal.digits % divisor * unit;
  if (part % divisor != 0) return std::nullopt;
  return static_cast<Int128>(whole + part / divisor);
}

constexpr std::int64_t kMicrosecond = 1'000;
constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kMinute = kSecondsAMinute * kNsASecond;
constexpr std::int64_t kHour = kSecondsAnHour * kNsASecond;
constexpr std::int64_t kDay = kSecondsADay * kNsASecond;
constexpr std::int64_t kWeek = 7 * kDay;

struct UnitSpellings {
  std::int64_t ns;
  std::array<std::string_view, 5> names;  // the rest empty
};

constexpr UnitSpellings kUnits[] = {
    {1, {"ns", "nsec", "nanosecond", "nanoseconds"}},
    {kMicrosecond, {"us", "usec", "microsecond", "microseconds"}},
    {kMicrosecond, {"\u00B5s", "\u03BCs"}},  // the micro sign, the Greek letter
    {kMillisecond, {"ms", "msec", "millisecond", "milliseconds"}},
    {kNsASecond, {"s", "sec", "secs", "second", "seconds"}},
    {kMinute, {"m", "min", "mins", "minute", "minutes"}},
    {kHour, {"h", "hr", "hrs", "hour", "hours"}},
    {kDay, {"d", "day", "days"}},
    {kWeek, {"w", "week", "weeks"}},
};

/// `name` is not empty.
std::optional<std::int64_t> find_unit(std::string_view name) {
  for (const UnitSpellings& unit : kUnits) {
    if (std::find(unit.names.begin(), unit.names.end(), name) != unit.names.end()) return unit.ns;
  }
  return std::nullopt;
}

/// "0.25" or "1h30m" without sign.
Parsed<Int128> read_span(std::string_view text, bool unit_required) {
  if (text.empty()) return refuse(kNoNumber);
  constexpr Int128 limit = power_of_ten(20);
  Scanner in(text);
  Int128 sum = 0;
  bool is_first = true;
  while (!in.at_end()) {
    const auto decimal = take_decimal(in, kDurationOutOfRange);
    if (!decimal) return refuse(decimal.error());
    in.skip_blanks();
    std::int64_t unit_ns = kNsASecond;
    const std::string_view name = in.take_while(is_letter);
    if (!name.empty()) {
      const auto known = find_unit(name);
      if (!known) return refuse(kUnknownUnit);
      unit_ns = *known;
    } else if (!is_first || !in.at_end() || unit_required) {
      return refuse(kNumberWithoutUnit);
    }
    const auto ns = to_ns(*decimal, unit_ns);
    if (!ns) return refuse(kTooFine);
    sum += *ns;
    if (sum > limit) return refuse(kDurationOutOfRange);
    in.skip_blanks();
    is_first = false;
  }
  return sum;
}

Parsed<Duration> read_duration(std::string_view text) {
  if (text.empty()) return refuse(kEmptyText);
  Scanner in(text);
  const bool is_negative = in.take('-');
  if (!is_negative) in.take('+');
  const auto span = read_span(in.rest(), false);
  if (!span) return refuse(span.error());
  const auto ns = to_int64(is_negative ? -*span : *span);
  if (!ns) return refuse(kDurationOutOfRange);
  return Duration(*ns);
}

Parsed<GpsTime> to_time(Int128 ns) {
  const auto fits = to_int64(ns);
  if (!fits) return refuse(kTimeOutOfRange);
  return GpsTime::from_ns(*fits);
}

Parsed<GpsTime> to_time(std::int64_t gps_second, std::int64_t ns) {
  return to_time(Int128{gps_second} * kNsASecond + ns);
}

/// GPS seconds without sign.
Parsed<GpsTime> read_gps_seconds(std::string_view text) {
  Scanner in(text);
  const auto decimal = take_decimal(in, kTimeOutOfRange);
  if (!decimal) return refuse(decimal.error() == kNoNumber ? kNotATime : decimal.error());
  if (!in.at_end()) return refuse(read_duration(text) ? kSpanWithoutSign : kNotATime);
  const auto ns = to_ns(*decimal, kNsASecond);
  if (!ns) return refuse(kTooFine);
  return to_time(*ns);
}

/// Beyond every time that fits, on both sides.
constexpr std::int64_t kFarUnixSecond = 20'000'000'000;

/// What follows the '@'.
Parsed<GpsTime> read_unix_seconds(std::string_view text) {
  Scanner in(text);
  const bool is_negative = in.take('-');
  const auto decimal = take_decimal(in, kTimeOutOfRange);
  if (!decimal) return refuse(decimal.error());
  if (!in.at_end()) return refuse("'@' takes a plain decimal number of UNIX seconds");
  const auto magnitude = to_ns(*decimal, kNsASecond);
  if (!magnitude) return refuse(kTooFine);
  const Int128 ns = is_negative ? -*magnitude : *magnitude;
  Int128 second = ns / kNsASecond;
  if (ns % kNsASecond < 0) --second;
  if (second < -kFarUnixSecond || second > kFarUnixSecond) return refuse(kTimeOutOfRange);
  return to_time(LeapSeconds::current().gps_second(static_cast<std::int64_t>(second)),
                 static_cast<std::int64_t>(ns - second * kNsASecond));
}

struct TimeOfDay {
  std::int64_t second = 0;  // 0 to 86400; 23:59:60 counts on
  std::int64_t ns = 0;
  bool is_leap_second = false;
};

/// Digits after a decimal point as nanoseconds.
Parsed<std::int64_t> take_fraction(Scanner& in) {
  const std::string_view digits = in.take_digits();
  if (digits.empty()) return refuse(kNotADate);
  if (digits.size() > std::size_t{kNsDigits}) return refuse(kTooManyDigits);
  std::int64_t ns = 0;
  for (std::size_t i = 0; i < std::size_t{kNsDigits}; ++i) {
    ns = ns * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  }
  return ns;
}

/// "09:50", "09:50:45" or "09:50:45.391"
Parsed<TimeOfDay> take_time_of_day(Scanner& in) {
  const auto hours = in.take_number(2);
  if (!hours || !in.take(':')) return refuse(kNotADate);
  const auto minutes = in.take_number(2);
  if (!minutes) return refuse(kNotADate);
  int seconds = 0;
  TimeOfDay time;
  if (in.take(':')) {
    const auto number = in.take_number(2);
    if (!number) return refuse(kNotADate);
    seconds = *number;
    if (in.take('.')) {
      const auto fraction = take_fraction(in);
      if (!fraction) return refuse(fraction.error());
      time.ns = *fraction;
    }
  }
  if (*hours > 23 || *minutes > 59 || seconds > 60) return refuse(kNoSuchDate);
  time.second = *hours * kSecondsAnHour + *minutes * kSecondsAMinute + seconds;
  time.is_leap_second = seconds == 60;
  return time;
}

/// Seconds east of Greenwich: "", "Z", "UTC", "GMT", "+02:00", "+0200", "+02".
Parsed<std::int64_t> take_zone(Scanner& in) {
  constexpr std::string_view bad_zone =
      "a zone must be Z, UTC, GMT or an offset such as +02:00; without one it is UTC";
  in.skip_blanks();
  if (in.at_end()) return 0;
  const bool is_west = in.peek() == '-';
  if (!is_west && in.peek() != '+') {
    const std::string_view name = in.take_while(is_letter);
    for (const std::string_view utc : {"Z", "UTC", "GMT"}) {
      if (equal_ignoring_case(name, utc)) return 0;
    }
    return refuse(bad_zone);
  }
  in.take(in.peek());
  const auto hours = in.take_number(2);
  if (!hours) return refuse(bad_zone);
  const bool has_colon = in.take(':');
  const auto minutes = in.take_number(2);
  if ((has_colon && !minutes) || *hours > 23 || minutes.value_or(0) > 59) return refuse(bad_zone);
  const std::int64_t offset = *hours * kSecondsAnHour + minutes.value_or(0) * kSecondsAMinute;
  return is_west ? -offset : offset;
}

bool looks_like_date(std::string_view text) {
  Scanner in(text);
  return in.take_number(4).has_value() && in.take('-');
}

Parsed<GpsTime> read_date(std::string_view text) {
  Scanner in(text);
  const auto year = in.take_number(4);
  if (!year || !in.take('-')) return refuse(kNotADate);
  const auto month = in.take_number(2);
  if (!month || !in.take('-')) return refuse(kNotADate);
  const auto day_of_month = in.take_number(2);
  if (!day_of_month) return refuse(kNotADate);
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day_of_month)));
  if (!date.ok()) return refuse(kNoSuchDate);

  TimeOfDay time;
  std::int64_t zone = 0;
  if (!in.at_end()) {
    if (!in.take('T') && !in.take('t') && !in.take(' ') && !in.take('_')) return refuse(kNotADate);
    const auto time_read = take_time_of_day(in);
    if (!time_read) return refuse(time_read.error());
    const auto zone_read = take_zone(in);
    if (!zone_read) return refuse(zone_read.error());
    if (!in.at_end()) return refuse(kNotADate);
    time = *time_read;
    zone = *zone_read;
  }

  const std::int64_t midnight =
      std::int64_t{std::chrono::sys_days(date).time_since_epoch().count()} * kSecondsADay;
  const std::int64_t unix_second = midnight + time.second - zone;
  const LeapSeconds& leap_seconds = LeapSeconds::current();
  if (!time.is_leap_second) return to_time(leap_seconds.gps_second(unix_second), time.ns);
  const std::int64_t gps_second = leap_seconds.gps_second(unix_second - 1) + 1;
  if (!leap_seconds.is_leap_second(gps_second)) return refuse(kNoLeapSecond);
  return to_time(gps_second, time.ns);
}

/// "-10m" or "+2h"
Parsed<GpsTime> read_signed(std::string_view text, GpsTime now) {
  const bool is_past = text.front() == '-';
  const auto span = read_span(text.substr(1), true);
  if (!span) {
    const bool is_bare = span.error() == kNumberWithoutUnit;
    return refuse(is_bare ? kSignWithoutUnit : span.error());
  }
  return to_time(Int128{now.ns()} + (is_past ? -*span : *span));
}

/// The span of "2 minutes ago"; nothing for another text.
std::optional<std::string_view> span_ago(std::string_view text) {
  constexpr std::string_view word = "ago";
  if (text.size() <= word.size()) return std::nullopt;
  const std::string_view before = text.substr(0, text.size() - word.size());
  if (!equal_ignoring_case(text.substr(before.size()), word)) return std::nullopt;
  if (before.back() != ' ' && before.back() != '\t') return std::nullopt;
  return trim(before);
}

Parsed<GpsTime> midnight_of(GpsTime now, int days_later) {
  const LeapSeconds& leap_seconds = LeapSeconds::current();
  const std::int64_t now_second =
      std::chrono::floor<std::chrono::seconds>(now.since_epoch()).count();
  std::int64_t second = leap_seconds.unix_second(now_second);
  const std::int64_t since_midnight = ((second % kSecondsADay) + kSecondsADay) % kSecondsADay;
  second += days_later * kSecondsADay - since_midnight;
  return to_time(leap_seconds.gps_second(second), 0);
}

Parsed<GpsTime> read_time(std::string_view text, GpsTime now) {
  if (text.empty()) return refuse(kEmptyText);
  if (equal_ignoring_case(text, "now")) return now;
  if (equal_ignoring_case(text, "today")) return midnight_of(now, 0);
  if (equal_ignoring_case(text, "yesterday")) return midnight_of(now, -1);
  if (equal_ignoring_case(text, "tomorrow")) return midnight_of(now, 1);
  if (text.front() == '@') return read_unix_seconds(text.substr(1));
  if (text.front() == '-' || text.front() == '+') return read_signed(text, now);
  if (const auto before = span_ago(text)) {
    const auto span = read_span(*before, true);
    if (!span) return refuse(span.error());
    return to_time(now.ns() - *span);
  }
  if (looks_like_date(text)) return read_date(text);
  return read_gps_seconds(text);
}

/// Nanoseconds of the shortest decimal that names `seconds`, to nearest; nothing when it does not
/// fit.
std::optional<std::int64_t> exact_ns(double seconds) {
  constexpr double limit = 9.3e9;
  // '-', the whole part of at most ten digits, '.', and what a denormal number has.
  constexpr std::size_t max_chars = 1 + 10 + 1 + 400;
  if (!(std::fabs(seconds) < limit)) return std::nullopt;
  std::array<char, max_chars> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed);
  Scanner in(std::string_view(text.data(), static_cast<std::size_t>(end.ptr - text.data())));
  const bool is_negative = in.take('-');
  Int128 ns = 0;
  for (const char c : in.take_digits()) ns = ns * 10 + (c - '0');
  in.take('.');
  const std::string_view fraction = in.take_digits();
  for (std::size_t i = 0; i < std::size_t{kNsDigits}; ++i) {
    ns = ns * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
  }
  if (fraction.size() > std::size_t{kNsDigits} && fraction[kNsDigits] >= '5') ++ns;
  return to_int64(is_negative ? -ns : ns);
}

std::int64_t exact_ns_or_throw(double seconds, std::string_view what) {
  if (const auto ns = exact_ns(seconds)) return *ns;
  throw Error(
      Errc::invalid_argument,
      fmt::format("bad {} {} s: it must be finite and within 292 years of zero", what, seconds));
}

/// |ns|, for min() too.
constexpr std::uint64_t magnitude(std::int64_t ns) {
  const auto bits = static_cast<std::uint64_t>(ns);
  return ns < 0 ? 0 - bits : bits;
}

/// Appends ".391" for 391000000, nothing for zero. `digits` is how many a whole unit has.
void append_fraction(std::string& out, std::uint64_t fraction, int digits) {
  if (fraction == 0) return;
  fmt::format_to(std::back_inserter(out), ".{:0{}}", fraction, digits);
  out.erase(out.find_last_not_of('0') + 1);
}

std::string format_gps(GpsTime t) {
  constexpr auto second = static_cast<std::uint64_t>(kNsASecond);
  const std::uint64_t ns = magnitude(t.ns());
  std::string out = fmt::format("{}{}", t.ns() < 0 ? "-" : "", ns / second);
  append_fraction(out, ns % second, kNsDigits);
  return out;
}

std::string format_iso(GpsTime t) {
  const LeapSeconds& leap_seconds = LeapSeconds::current();
  const auto whole = std::chrono::floor<std::chrono::seconds>(t.since_epoch());
  const std::int64_t gps_second = whole.count();
  const std::chrono::sys_seconds shown(std::chrono::seconds(leap_seconds.unix_second(gps_second)));
  const auto midnight = std::chrono::floor<std::chrono::days>(shown);
  const std::chrono::year_month_day date(midnight);
  const std::chrono::hh_mm_ss time(shown - midnight);
  const int extra = leap_seconds.is_leap_second(gps_second) ? 1 : 0;
  std::string out =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  time.hours().count(), time.minutes().count(), time.seconds().count() + extra);
  // Not t - whole: the floor of min() lies below what fits.
  const std::int64_t rest = t.ns() % kNsASecond;
  append_fraction(out, static_cast<std::uint64_t>(rest < 0 ? rest + kNsASecond : rest), kNsDigits);
  out += 'Z';
  return out;
}

struct Unit {
  std::string_view name;
  std::int64_t ns;
};

/// "62.5 ms": below a minute, with at most three decimals. Nothing when rounding makes it one of
/// the next unit.
std::optional<std::string> format_small(std::uint64_t ns, const Unit& unit, std::uint64_t limit) {
  constexpr std::uint64_t thousand = 1'000;
  const auto unit_ns = static_cast<std::uint64_t>(unit.ns);
  const std::uint64_t thousandths = (ns * thousand + unit_ns / 2) / unit_ns;
  if (thousandths >= limit * thousand) return std::nullopt;
  std::string out = fmt::format("{}", thousandths / thousand);
  append_fraction(out, thousandths % thousand, 3);
  fmt::format_to(std::back_inserter(out), " {}", unit.name);
  return out;
}

/// "2 h 3 m": the two greatest units, to nearest.
std::string format_large(std::uint64_t ns) {
  constexpr std::array<Unit, 4> large = {
      Unit{"d", kDay}, {"h", kHour}, {"m", kMinute}, {"s", kNsASecond}};
  const auto size_of_unit = [&](std::size_t i) { return static_cast<std::uint64_t>(large[i].ns); };
  std::size_t first = 0;
  while (first + 2 < large.size() && ns < size_of_unit(first)) ++first;
  // Rounding may reach the next greater unit: 59 m 59.9 s is 1 h.
  const std::uint64_t grain = size_of_unit(first + 1);
  ns = (ns / grain + (ns % grain >= grain / 2 ? 1 : 0)) * grain;
  if (first > 0 && ns >= size_of_unit(first - 1)) --first;
  std::string out = fmt::format("{} {}", ns / size_of_unit(first), large[first].name);
  const std::uint64_t second = ns % size_of_unit(first) / size_of_unit(first + 1);
  if (second != 0) {
    fmt::format_to(std::back_inserter(out), " {} {}", second, large[first + 1].name);
  }
  return out;
}

std::string format_magnitude(std::uint64_t ns) {
  struct Range {
    Unit unit;
    std::uint64_t limit;  // in units, where the next one takes over
  };
  constexpr std::array<Range, 4> ranges = {Range{{"ns", 1}, 1'000},
                                           {{"us", kMicrosecond}, 1'000},
                                           {{"ms", kMillisecond}, 1'000},
                                           {{"s", kNsASecond}, 60}};
  if (ns == 0) return "0 s";
  if (ns < static_cast<std::uint64_t>(kMinute)) {
    for (const Range& range : ranges) {
      if (auto text = format_small(ns, range.unit, range.limit)) return *std::move(text);
    }
  }
  return format_large(ns);
}

}  // namespace

GpsTime GpsTime::from_seconds(double seconds) {
  return GpsTime(exact_ns_or_throw(seconds, "GPS time"));
}

Duration from_seconds(double seconds) { return Duration(exact_ns_or_throw(seconds, "duration")); }

GpsTime parse_time(std::string_view text, GpsTime now) {
  const auto time = read_time(trim(text), now);
  if (!time) throw_bad_text("time", text, time.error());
  return *time;
}

Duration parse_duration(std::string_view text) {
  const auto duration = read_duration(trim(text));
  if (!duration) throw_bad_text("duration", text, duration.error());
  return *duration;
}

std::string format_time(GpsTime t, TimeFormat format) {
  return format == TimeFormat::iso ? format_iso(t) : format_gps(t);
}

std::string format_seconds(GpsTime t, int digits) {
  digits = std::clamp(digits, 0, kNsDigits);
  const auto grain = static_cast<std::uint64_t>(power_of_ten(kNsDigits - digits));
  const auto grains_a_second = static_cast<std::uint64_t>(power_of_ten(digits));
  const std::uint64_t ns = magnitude(t.ns());
  const std::uint64_t grains = ns / grain + (ns % grain >= (grain + 1) / 2 ? 1 : 0);
  std::string out =
      fmt::format("{}{}", t.ns() < 0 && grains != 0 ? "-" : "", grains / grains_a_second);
  if (digits > 0) {
    fmt::format_to(std::back_inserter(out), ".{:0{}}", grains % grains_a_second, digits);
  }
  return out;
}

std::string format_duration(Duration d) {
  const std::string text = format_magnitude(magnitude(d.count()));
  return d < Duration(0) ? "-" + text : text;
}

}  // namespace arrakis::inline v1
