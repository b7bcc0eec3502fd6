#include "common/sparkline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "arrakis/channel.hpp"

namespace arrakis::console {
namespace {

constexpr std::array<std::string_view, 8> kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::size_t kHalfHeight = 3;
constexpr std::string_view kNoValue = "·";

std::size_t bar_of(double value, double least, double greatest) {
  // Halves, because the difference of two finite doubles may not be finite.
  const double span = greatest / 2 - least / 2;
  if (!(span > 0)) return kHalfHeight;
  const double height = (value / 2 - least / 2) / span;
  return std::min(kBars.size() - 1,
                  static_cast<std::size_t>(height * static_cast<double>(kBars.size())));
}

}  // namespace

std::string sparkline(std::span<const double> values) {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -least;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  std::string line;
  for (const double value : values) {
    line += std::isfinite(value) ? kBars.at(bar_of(value, least, greatest)) : kNoValue;
  }
  return line;
}

SampleHistory::SampleHistory(Duration step, std::size_t steps)
    : step_(step), ring_(std::max<std::size_t>(steps, 1)) {}

const SampleHistory::Step& SampleHistory::step_at(std::int64_t number) const {
  const auto size = static_cast<std::int64_t>(ring_.size());
  const std::int64_t rest = number % size;
  return ring_[static_cast<std::size_t>(rest < 0 ? rest + size : rest)];
}

SampleHistory::Step& SampleHistory::step_at(std::int64_t number) {
  return const_cast<Step&>(std::as_const(*this).step_at(number));
}

void SampleHistory::add(const Series& series) {
  const std::int64_t number = series.time().floor_to(step_).ns() / step_.count();
  const auto size = static_cast<std::int64_t>(ring_.size());
  if (known_ == 0 || number - newest_ >= size) {
    std::fill(ring_.begin(), ring_.end(), Step{});
    known_ = known_ == 0 ? 1 : ring_.size();
    newest_ = number;
  }
  if (number < newest_) return;
  for (; newest_ < number; known_ = std::min(known_ + 1, ring_.size())) step_at(++newest_) = Step{};

  Step& step = step_at(number);
  visit_type(series.channel().data_type(), [&](auto type) {
    const auto values = series.values<decltype(type)>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (series.is_gap(i)) continue;
      const auto value = static_cast<double>(values[i]);
      if (!std::isfinite(value)) continue;
      step.least = std::min(step.least, value);
      step.greatest = std::max(step.greatest, value);
      step.sum += value;
      ++step.count;
    }
  });
}

std::string SampleHistory::draw(std::size_t width) const {
  const std::size_t shown = std::min(known_, width);
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> means(shown, kNone);
  std::vector<double> swings(shown, kNone);
  double sum_of_swings = 0;
  double count = 0;
  double least_mean = std::numeric_limits<double>::infinity();
  double greatest_mean = -least_mean;
  for (std::size_t i = 0; i < shown; ++i) {
    const Step& step = step_at(newest_ - static_cast<std::int64_t>(shown - 1 - i));
    if (step.count == 0) continue;
    means[i] = step.sum / static_cast<double>(step.count);
    swings[i] = step.greatest - step.least;
    sum_of_swings += swings[i];
    ++count;
    least_mean = std::min(least_mean, means[i]);
    greatest_mean = std::max(greatest_mean, means[i]);
  }
  const bool is_fast = count > 0 && sum_of_swings / count > greatest_mean - least_mean;
  return std::string(width - shown, ' ').append(sparkline(is_fast ? swings : means));
}

}
