#include "files/whole_strides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/budget.hpp"
#include "core/quote.hpp"
#include "wire/sample_grid.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr Duration kUnknownStride = std::chrono::seconds(1);

bool fills(const Series& series, const SeriesBlock& block) {
  return series.time() == block.time() && series.duration() == block.duration() && !series.empty();
}

bool is_filled(const SeriesBlock& block) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (!fills(block.at(i), block)) return false;
  }
  return true;
}

// Sets a channel's samples of the longer block that begins at `start`.
void set_around(BlockBuilder& builder, const Series& series, GpsTime start, Duration duration) {
  const Channel& channel = series.channel();
  const SampleRate rate = channel.sample_rate();
  const auto count = static_cast<std::size_t>(rate.samples_in(duration));
  const std::size_t first = first_sample_from(rate, start, series.time(), count);
  const bool is_on_grid = series.empty() || start + sample_offset(rate, first) == series.time();
  if (!is_on_grid || first + series.size() > count || rate.duration_of(count) != duration) {
    throw Error(Errc::precondition,
                fmt::format("channel {}: its {} samples from {} ns lie on no grid of {} ns",
                            arrakis::quoted(channel.name()), series.size(), series.time().ns(),
                            duration.count()));
  }
  const std::size_t width = size_of(channel.data_type());
  std::vector<std::byte> samples(count * width);
  const auto gaps = std::make_unique<bool[]>(count);
  std::fill_n(gaps.get(), count, true);
  std::copy(series.bytes().begin(), series.bytes().end(),
            samples.begin() + static_cast<std::ptrdiff_t>(first * width));
  for (std::size_t i = 0; i < series.size(); ++i) gaps[first + i] = series.is_gap(i);
  builder.set_bytes(channel.name(), channel.data_type(), samples, std::span(gaps.get(), count));
}

}  // namespace

SeriesBlock in_whole_strides(const SeriesBlock& block) {
  if (is_filled(block)) return block;
  const Duration stride = common_stride(block.channels().channels()).value_or(kUnknownStride);
  const GpsTime start = block.time().floor_to(stride);
  const Duration duration = block.end().ceil_to(stride) - start;
  BlockBuilder builder(start, block.channels());
  for (std::size_t i = 0; i < block.size(); ++i) {
    set_around(builder, block.at(i), start, duration);
  }
  return builder.build();
}

}  // namespace arrakis::inline v1
