#include <chrono>
#include <stdexcept>

#include "core/budget.hpp"
#include "vectors/compare.hpp"
#include "vectors/handlers.hpp"
#include "vectors/vector_json.hpp"

namespace arrakis::vectors {
namespace {

/// The instant to translate: the one given, else the case's "now" in whole seconds.
GpsTime instant_of(const Json& item) {
  const std::optional<GpsTime> given = optional_time_at(item, "t");
  if (given) return *given;
  return GpsTime::from_seconds(item.at("now_s").get<double>()).floor_to(std::chrono::seconds(1));
}

Finding replay_case(const Json& item) {
  const GpsTime start = time_at(item, "start");
  const GpsTime end = time_at(item, "end");
  if (end <= start) throw std::runtime_error("malformed: the replay's end is not after its start");
  const GpsTime t = instant_of(item);
  const Duration offset = replay_offset(start, end, t);

  Json expected = {{"translated", item.at("translated")}};
  Json actual = {{"translated", (t - offset).ns()}};
  if (item.contains("offset")) {
    expected["offset"] = item.at("offset");
    actual["offset"] = offset.count();
  }
  return {.difference = difference(expected, actual)};
}

}  // namespace

void replay_replay(const VectorFile& file, FileReport& report) {
  replay_section(file, report, "cases", replay_case);
}

}  // namespace arrakis::vectors
