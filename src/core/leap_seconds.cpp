#include "core/leap_seconds.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <fstream>
#include <string>
#include <utility>

#include "core/immortal.hpp"
#include "core/logging.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr std::int64_t kSecondsADay = 86'400;
/// UNIX time minus NTP time, which counts from 1900.
constexpr std::int64_t kNtpEpochOffset = 2'208'988'800;
/// TAI - UTC at the GPS epoch.
constexpr std::int64_t kTaiOffsetAtGpsEpoch = 19;
/// The real files have 5 kB.
constexpr std::size_t kMaxFileBytes = 262'144;

/// UNIX seconds of the midnights after each leap second (IERS Bulletin C 70).
constexpr std::int64_t kBuiltInMidnights[] = {
    362'793'600, 394'329'600,   425'865'600,   489'024'000,   567'993'600,   631'152'000,
    662'688'000, 709'948'800,   741'484'800,   773'020'800,   820'454'400,   867'715'200,
    915'148'800, 1'136'073'600, 1'230'768'000, 1'341'100'800, 1'435'708'800, 1'483'228'800};
/// 2026-06-28T00:00:00 UTC.
constexpr std::int64_t kBuiltInExpires = 1'782'604'800;

/// Cuts the next line off `text`, without its end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Cuts the next word off `line`; empty at its end.
std::string_view take_word(std::string_view& line) {
  constexpr std::string_view blanks = " \t";
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

/// A whole number of the size of a time.
std::optional<std::int64_t> to_number(std::string_view word) {
  constexpr std::int64_t largest = 1'000'000'000'000;
  std::int64_t value = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, fault] = std::from_chars(word.data(), end, value);
  if (fault != std::errc() || stop != end || value < 0 || value > largest) return std::nullopt;
  return value;
}

std::optional<unsigned> month_number(std::string_view name) {
  constexpr std::array<std::string_view, 12> names = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto* const found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<unsigned>(found - names.begin()) + 1;
}

/// The rest of a line "Leap 2016 Dec 31 23:59:60 + S" as the midnight that follows.
std::optional<std::int64_t> parse_tzdata_leap(std::string_view line) {
  const auto year = to_number(take_word(line));
  const auto month = month_number(take_word(line));
  const auto day = to_number(take_word(line));
  if (!year || !month || !day || *year > 9999 || *day > 31) return std::nullopt;
  if (take_word(line) != "23:59:60" || take_word(line) != "+") return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return (days + 1) * kSecondsADay;
}

/// The file's beginning; empty when it can't be read.
std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxFileBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

void report_if_expired(const LeapSeconds& table) {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (now.time_since_epoch().count() < table.expires()) return;
  log::debug("time",
             "the leap second table has expired (UNIX {}): a leap second announced since is not "
             "known; update the system's tzdata",
             table.expires());
}

}  // namespace

LeapSeconds::LeapSeconds(const std::vector<std::int64_t>& midnights, std::int64_t expires)
    : expires_(expires) {
  entries_.reserve(midnights.size());
  for (const std::int64_t midnight : midnights) {
    const auto before = static_cast<std::int64_t>(entries_.size());
    entries_.push_back({midnight, midnight - kGpsEpochUnixSecond + before});
  }
}

LeapSeconds LeapSeconds::built_in() {
  return {{std::begin(kBuiltInMidnights), std::end(kBuiltInMidnights)}, kBuiltInExpires};
}

std::optional<LeapSeconds> LeapSeconds::checked(const std::vector<std::int64_t>& midnights,
                                                std::optional<std::int64_t> expires) {
  if (!expires || midnights.empty()) return std::nullopt;
  const auto not_later = [](std::int64_t a, std::int64_t b) { return a >= b; };
  if (std::adjacent_find(midnights.begin(), midnights.end(), not_later) != midnights.end()) {
    return std::nullopt;
  }
  return LeapSeconds(midnights, *expires);
}

std::optional<LeapSeconds> LeapSeconds::parse_list(std::string_view text) {
  constexpr std::string_view expiry_mark = "#@";
  std::vector<std::int64_t> midnights;
  std::optional<std::int64_t> expires;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const bool is_expiry = line.starts_with(expiry_mark);
    if (is_expiry) line.remove_prefix(expiry_mark.size());
    const std::string_view first = take_word(line);
    if (first.empty() || first.starts_with('#')) continue;
    const auto ntp_second = to_number(first);
    if (!ntp_second) return std::nullopt;
    const std::int64_t unix_second = *ntp_second - kNtpEpochOffset;
    if (is_expiry) {
      expires = unix_second;
      continue;
    }
    const auto tai_offset = to_number(take_word(line));
    if (!tai_offset) return std::nullopt;
    if (unix_second <= kGpsEpochUnixSecond) continue;
    midnights.push_back(unix_second);
    if (*tai_offset != kTaiOffsetAtGpsEpoch + static_cast<std::int64_t>(midnights.size())) {
      return std::nullopt;
    }
  }
  return checked(midnights, expires);
}

std::optional<LeapSeconds> LeapSeconds::parse_tzdata(std::string_view text) {
  std::vector<std::int64_t> midnights;
  std::optional<std::int64_t> expires;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view first = take_word(line);
    if (first == "#expires") {
      expires = to_number(take_word(line));
    } else if (first == "Leap") {
      const auto midnight = parse_tzdata_leap(line);
      if (!midnight) return std::nullopt;
      if (*midnight > kGpsEpochUnixSecond) midnights.push_back(*midnight);
    }
  }
  return checked(midnights, expires);
}

LeapSeconds LeapSeconds::newest_on_this_machine() {
  LeapSeconds newest = built_in();
  const auto offer = [&newest](std::optional<LeapSeconds> other) {
    if (other && other->supersedes(newest)) newest = *std::move(other);
  };
  offer(parse_list(read_file("/usr/share/zoneinfo/leap-seconds.list")));
  offer(parse_tzdata(read_file("/usr/share/zoneinfo/leapseconds")));
  return newest;
}

const LeapSeconds& LeapSeconds::current() {
  static const Immortal<LeapSeconds> kTable(newest_on_this_machine());
  // Outside the initialisation, because a log sink may ask for the time.
  static std::atomic<bool> reported = false;
  if (!reported.load(std::memory_order_relaxed) && !reported.exchange(true)) {
    report_if_expired(*kTable);
  }
  return *kTable;
}

std::int64_t LeapSeconds::unix_second(std::int64_t gps_second) const {
  std::size_t count = entries_.size();
  while (count > 0 && gps_second < entries_[count - 1].gps_second) --count;
  return gps_second + kGpsEpochUnixSecond - static_cast<std::int64_t>(count);
}

std::int64_t LeapSeconds::gps_second(std::int64_t unix_second) const {
  std::size_t count = entries_.size();
  while (count > 0 && unix_second < entries_[count - 1].unix_second) --count;
  return unix_second - kGpsEpochUnixSecond + static_cast<std::int64_t>(count);
}

bool LeapSeconds::is_leap_second(std::int64_t gps_second) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.gps_second == gps_second; });
}

bool LeapSeconds::supersedes(const LeapSeconds& other) const {
  if (expires_ <= other.expires_ || entries_.size() < other.entries_.size()) return false;
  return std::equal(other.entries_.begin(), other.entries_.end(), entries_.begin(),
                    [](const Entry& a, const Entry& b) { return a.unix_second == b.unix_second; });
}

}  // namespace arrakis::inline v1
