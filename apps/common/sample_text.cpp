#include "common/sample_text.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <type_traits>

#include "arrakis/channel.hpp"

namespace arrakis::console {
namespace {

constexpr std::size_t kShownInFull = 3;
constexpr int kLeastDigits = 4;  // what the block table of every Arrakis client shows
constexpr int kMostDigits = 9;

}  // namespace

std::string sample_text(const Series& series, std::size_t i) {
  if (series.is_gap(i)) return "gap";
  return visit_type(series.channel().data_type(), [&](auto type) {
    using T = decltype(type);
    const T value = series.values<T>()[i];
    if constexpr (std::is_floating_point_v<T>) {
      return fmt::format("{:.5g}", value);
    } else {
      return fmt::format("{:d}", value);
    }
  });
}

std::string short_data(const Series& series) {
  const std::size_t size = series.size();
  if (size > 0 && series.gap_count() == size) return "gap";
  std::string text = "[";
  if (size <= kShownInFull) {
    for (std::size_t i = 0; i < size; ++i) {
      text.append(i == 0 ? "" : ", ").append(sample_text(series, i));
    }
    return text.append("]");
  }
  text.append(sample_text(series, 0)).append(", ..., ");
  text.append(sample_text(series, size - 1)).append("]");
  if (series.has_gaps()) text.append(fmt::format(" ({} of {} gaps)", series.gap_count(), size));
  return text;
}

std::string seconds_text(Duration duration, int digits) {
  return fmt::format("{:.{}f}", std::chrono::duration<double>(duration).count(), digits);
}

int exact_digits(GpsTime time, Duration duration) {
  std::int64_t unit = 100'000;  // ns in the last of four decimals
  int digits = kLeastDigits;
  while (digits < kMostDigits && (time.ns() % unit != 0 || duration.count() % unit != 0)) {
    unit /= 10;
    ++digits;
  }
  return digits;
}

}
