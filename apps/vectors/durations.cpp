#include <fmt/format.h>

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

/// The number of samples that makes up the duration, where there is one: the vector's or one more.
Json right_gap(const Json& item) {
  const double rate = item.at("rate").get<double>();
  const std::int64_t wanted = integer_at(item, "duration_ns");
  const auto fewer = item.at("samples").get<std::uint64_t>();
  const bool is_one_short = duration_by_definition(fewer, rate) != wanted &&
                            duration_by_definition(fewer + 1, rate) == wanted;
  const std::uint64_t samples = is_one_short ? fewer + 1 : fewer;
  return gap_json(samples, duration_by_definition(samples, rate));
}

Finding replay_gap(const Json& item) {
  const ChannelSet channels({Channel("X1:A-a", DataType::float32, rate_of(item.at("rate")))});
  const SeriesBlock block = full_gap(GpsTime(), duration_at(item, "duration_ns"), channels);
  const Series series = block.at(0);
  const Json actual = gap_json(series.size(), series.duration().count());
  const Json stated =
      gap_json(item.at("samples").get<std::uint64_t>(), integer_at(item, "resulting_duration_ns"));
  const Json right = right_gap(item);
  return {.difference = difference(stated, actual),
          .vector_is_right = right == stated,
          .error = difference(right, actual)};
}

/// Whether all series have one duration.
Json right_consistency(const Json& item) {
  const Json& channels = item.at("channels");
  const auto duration = [](const Json& channel) {
    return duration_by_definition(channel.at("samples").get<std::uint64_t>(),
                                  channel.at("rate").get<double>());
  };
  const std::int64_t first = duration(channels.at(0));
  for (const Json& channel : channels) {
    if (duration(channel) != first) return {{"ok", false}};
  }
  return {{"ok", true}, {"duration_ns", first}};
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
  Json stated = item;
  stated.erase("channels");
  const Json actual = build_block(item.at("channels"));
  const Json right = right_consistency(item);
  return {.difference = difference(stated, actual),
          .vector_is_right = right == stated,
          .error = difference(right, actual)};
}

}  // namespace

void replay_durations(const VectorFile& file, FileReport& report) {
  replay_section(file, report, "durations", replay_duration);
  replay_section(file, report, "gaps", replay_gap);
  replay_section(file, report, "consistency", replay_consistency);
}

}  // namespace arrakis::vectors
