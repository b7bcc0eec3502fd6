#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/error.hpp"
#include "vectors/compare.hpp"
#include "vectors/handlers.hpp"
#include "vectors/vector_json.hpp"

namespace arrakis::vectors {
namespace {

constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr double kTooLong = 9.2e18;  // nanoseconds, nearly what 64 bits hold

/// The definition of a series' duration: one division of an exact integer.
std::int64_t duration_by_definition(std::uint64_t samples, double rate) {
  const double ns = static_cast<double>(samples * kNanosecondsPerSecond) / rate;
  if (!(ns >= 0 && ns < kTooLong)) throw std::runtime_error("malformed: a duration out of range");
  return static_cast<std::int64_t>(ns);
}

Finding replay_duration(const Json& item) {
  const SampleRate rate = rate_of(item.at("rate"));
  const auto samples = item.at("samples").get<std::uint64_t>();
  return {.difference = difference(item.at("duration_ns"), rate.duration_of(samples).count())};
}

Json gap_json(std::uint64_t samples, std::int64_t resulting_ns) {
  return {{"samples", samples}, {"resulting_duration_ns", resulting_ns}};
}

/// The answer of an implementation that rounds the number of samples down.
Json rounded_down_gap(double rate, std::int64_t wanted) {
  const double samples = std::floor(std::trunc(rate * static_cast<double>(wanted)) / 1e9);
  if (!(samples >= 0 && samples < kTooLong)) {
    throw std::runtime_error("malformed: a duration out of range");
  }
  const auto count = static_cast<std::uint64_t>(samples);
  return gap_json(count, duration_by_definition(count, rate));
}

/// The number of samples that makes up the duration, where there is one: it can be one more.
Json right_gap(double rate, std::int64_t wanted) {
  const Json fewer = rounded_down_gap(rate, wanted);
  const std::uint64_t more = fewer.at("samples").get<std::uint64_t>() + 1;
  const bool is_one_short =
      fewer.at("resulting_duration_ns") != wanted && duration_by_definition(more, rate) == wanted;
  return is_one_short ? gap_json(more, wanted) : fewer;
}

Finding replay_gap(const Json& item) {
  const ChannelSet channels({Channel("X1:A-a", DataType::float32, rate_of(item.at("rate")))});
  const SeriesBlock block = full_gap(GpsTime(), duration_at(item, "duration_ns"), channels);
  const Series series = block.at(0);
  const Json actual = gap_json(series.size(), series.duration().count());
  const double rate = item.at("rate").get<double>();
  const Json right = right_gap(rate, integer_at(item, "duration_ns"));
  Json stated = item;
  stated.erase("rate");
  stated.erase("duration_ns");
  return {
      .difference = difference(stated, actual),
      .vector_is_right = difference(stated, right).empty(),
      .error = difference(right, actual),
      .vector_error = difference(rounded_down_gap(rate, integer_at(item, "duration_ns")), stated)};
}

std::int64_t duration_of_series(const Json& channel) {
  return duration_by_definition(channel.at("samples").get<std::uint64_t>(),
                                channel.at("rate").get<double>());
}

/// Whether all series have one duration; those at the start that have none at all may be passed
/// over, which is wrong.
Json consistency(const Json& channels, bool passes_over_empty) {
  std::int64_t duration = duration_of_series(channels.at(0));
  for (const Json& channel : channels) {
    const std::int64_t next = duration_of_series(channel);
    if (passes_over_empty && duration == 0) duration = next;
    if (next != duration) return {{"ok", false}};
  }
  return {{"ok", true}, {"duration_ns", duration}};
}

Json build_block(const Json& channels) {
  std::vector<Channel> described;
  for (const Json& channel : channels) {
    described.emplace_back(fmt::format("X1:A-{}", described.size()), DataType::float32,
                           rate_of(channel.at("rate")));
  }
  BlockBuilder builder(GpsTime{}, ChannelSet(described));
  for (std::size_t i = 0; i < described.size(); ++i) {
    const auto samples = channels[i].at("samples").get<std::size_t>();
    builder.set(described[i].name(), std::vector<float>(samples));
  }
  try {
    return {{"ok", true}, {"duration_ns", builder.build().duration().count()}};
  } catch (const Error& error) {
    if (error.code() != Errc::precondition) throw;
    return {{"ok", false}};
  }
}

Finding replay_consistency(const Json& item) {
  const Json& channels = item.at("channels");
  Json stated = item;
  stated.erase("channels");
  const Json actual = build_block(channels);
  const Json right = consistency(channels, /*passes_over_empty=*/false);
  return {.difference = difference(stated, actual),
          .vector_is_right = difference(stated, right).empty(),
          .error = difference(right, actual),
          .vector_error = difference(consistency(channels, /*passes_over_empty=*/true), stated)};
}

}  // namespace

void replay_durations(const VectorFile& file, FileReport& report) {
  replay_section(file, report, "durations", replay_duration);
  replay_section(file, report, "gaps", replay_gap);
  replay_section(file, report, "consistency", replay_consistency);
}

}  // namespace arrakis::vectors
