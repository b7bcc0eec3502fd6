#pragma once

/// Tells of one stream's dropped elements without flooding the log: the first of a kind at once,
/// then a summary an interval. Counting what was dropped in total is the queue's business.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "arrakis/time.hpp"
#include "core/episode.hpp"

namespace arrakis::inline v1 {

enum class DropKind { late, overflow, stride_mismatched };
/// "late", "overflow", "stride-mismatched"
[[nodiscard]] std::string_view to_string(DropKind kind);

class DropLog {
 public:
  /// An element of the stream `name`, at `time`, was dropped at `now`.
  void drop(DropKind kind, std::string_view name, GpsTime time, GpsTime now);
  /// Ends the episode of drops of this kind, so that the next drop is told at once. How many were
  /// dropped since the last line; nothing when there was no episode.
  std::optional<std::uint64_t> finish(DropKind kind);

 private:
  [[nodiscard]] Episode& episode(DropKind kind) {
    return episodes_[static_cast<std::size_t>(kind)];
  }
  Duration elapsed_at(GpsTime now);

  std::array<Episode, 3> episodes_;
  std::optional<GpsTime> last_now_;
  Duration elapsed_{0};
};

}  // namespace arrakis::inline v1
