#include "mux/drop_log.hpp"

#include <algorithm>

#include "core/logging.hpp"

namespace arrakis::inline v1 {

std::string_view to_string(DropKind kind) {
  switch (kind) {
    case DropKind::late:
      return "late";
    case DropKind::overflow:
      return "overflow";
    case DropKind::stride_mismatched:
      break;
  }
  return "stride-mismatched";
}

void DropLog::drop(DropKind kind, std::string_view name, GpsTime time, GpsTime now) {
  const std::optional<std::uint64_t> count = episode(kind).occurred(elapsed_at(now));
  if (!count) return;
  log::warning("mux", "{}: dropped {} {} element(s) since last report; latest: GPS {}", name,
               *count, to_string(kind), format_time(time));
}

std::optional<std::uint64_t> DropLog::finish(DropKind kind) {
  const std::optional<Episode::Ended> ended = episode(kind).ended();
  if (!ended) return std::nullopt;
  return ended->unreported;
}

// Only steps forward count: a clock that was set back must not silence the log until it has caught
// up.
Duration DropLog::elapsed_at(GpsTime now) {
  const Duration step = std::max(now - last_now_.value_or(now), Duration::zero());
  elapsed_ = (GpsTime() + elapsed_ + step).since_epoch();
  last_now_ = now;
  return elapsed_;
}

}  // namespace arrakis::inline v1
