#pragma once

/// The leap seconds since the GPS epoch, and the difference of GPS and UNIX seconds that follows.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace arrakis::inline v1 {

/// UNIX second of the GPS epoch, 1980-01-06T00:00:00 UTC.
inline constexpr std::int64_t kGpsEpochUnixSecond = 315'964'800;

/// An immutable table; safe from any thread. Looking up a time after the last leap second, the case
/// of every live time, costs one comparison.
class LeapSeconds {
 public:
  /// The table compiled in.
  static LeapSeconds built_in();
  /// Reads the text of the file "leap-seconds.list" that IERS and NIST publish. Nothing when it is
  /// malformed, has no expiry date, or takes a second away (which no list ever did).
  static std::optional<LeapSeconds> parse_list(std::string_view text);
  /// Reads the text of tzdata's file "leapseconds"; as parse_list.
  static std::optional<LeapSeconds> parse_tzdata(std::string_view text);
  /// The table of this process: the newest of the one compiled in and the system's. Read once, at
  /// the first call, which also writes one debug line when it has expired.
  static const LeapSeconds& current();

  [[nodiscard]] std::int64_t unix_second(std::int64_t gps_second) const;
  [[nodiscard]] std::int64_t gps_second(std::int64_t unix_second) const;
  /// Whether UTC shows this GPS second as 23:59:60.
  [[nodiscard]] bool is_leap_second(std::int64_t gps_second) const;

  /// The UNIX second up to which the table is known to be complete.
  [[nodiscard]] std::int64_t expires() const { return expires_; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  /// Whether it is known for longer than `other` and agrees with it on the past.
  [[nodiscard]] bool supersedes(const LeapSeconds& other) const;

 private:
  struct Entry {
    std::int64_t unix_second;  // midnight after the leap second
    std::int64_t gps_second;   // of the leap second itself
  };

  LeapSeconds(const std::vector<std::int64_t>& midnights, std::int64_t expires);
  /// Checks order and expiry of what a file said.
  static std::optional<LeapSeconds> checked(const std::vector<std::int64_t>& midnights,
                                            std::optional<std::int64_t> expires);
  static LeapSeconds newest_on_this_machine();

  std::vector<Entry> entries_;
  std::int64_t expires_;
};

}  // namespace arrakis::inline v1
