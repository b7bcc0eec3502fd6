#include "client/stream_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "client/client_impl.hpp"
#include "core/budget.hpp"

namespace arrakis::inline v1 {

namespace {

constexpr const char* kGapVariable = "ARRAKIS_ONGAP";
constexpr const char* kDropVariable = "ARRAKIS_ONDROP";

[[noreturn]] void refuse(const std::string& message) {
  throw Error(Errc::invalid_argument, message);
}

/// The policy that the environment names, else `standard`.
template <typename Policy>
Policy policy_from(const Environment& environment, const char* variable, Policy standard,
                   Policy (*parse)(std::string_view)) {
  const char* text = environment(variable);
  if (text == nullptr || *text == '\0') return standard;
  try {
    return parse(text);
  } catch (const Error& error) {
    refuse(fmt::format("{}: {}", variable, error.what()));
  }
}

void check_span(const StreamRequest& request) {
  if (request.end && request.duration) refuse("end and duration are mutually exclusive");
  if (request.duration && *request.duration <= Duration::zero()) {
    refuse(
        fmt::format("the duration must be positive, not {}", format_duration(*request.duration)));
  }
  if (request.start && request.end && *request.end <= *request.start) {
    refuse(fmt::format("the end (GPS {}) must be after the start (GPS {})",
                       format_time(*request.end), format_time(*request.start)));
  }
  if (request.stride && *request.stride <= Duration::zero()) {
    refuse(
        fmt::format("the stride must be a positive integer multiple of the channels' own, not {}",
                    format_duration(*request.stride)));
  }
}

void check_replay(const StreamRequest& request) {
  if (!request.replay_window) return;
  if (request.replay_id) refuse("replay_id and a replay window are mutually exclusive");
  const ReplayWindow& window = *request.replay_window;
  if (window.end <= window.start) {
    refuse(fmt::format("the replay window's end (GPS {}) must be after its start (GPS {})",
                       format_time(window.end), format_time(window.start)));
  }
}

/// FNV-1a: enough to tell one program's requests apart.
class Digest {
 public:
  void add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<std::uint8_t>(c));
    add_byte(0);
  }
  [[nodiscard]] std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  void add_byte(std::uint8_t byte) {
    constexpr std::uint64_t kPrime = 1099511628211U;
    hash_ = (hash_ ^ byte) * kPrime;
  }
  std::uint64_t hash_ = 14695981039346656037U;
};

}

StreamRequest checked_stream(StreamRequest request, const Environment& environment) {
  request.channels = checked_channels(request.channels);
  check_span(request);
  check_replay(request);
  if (!request.on_gap) {
    request.on_gap = policy_from(environment, kGapVariable, GapPolicy::fill, &parse_gap_policy);
  }
  if (!request.on_drop) {
    request.on_drop =
        policy_from(environment, kDropVariable, DropPolicy::ignore, &parse_drop_policy);
  }
  if (request.start && request.duration) {
    request.end = *request.start + *std::exchange(request.duration, std::nullopt);
  }
  return request;
}

StreamRequest checked_fetch(StreamRequest request, const Environment& environment) {
  if (request.end && !request.start) {
    refuse("end requires start; use duration for a span from now on");
  }
  request = checked_stream(std::move(request), environment);
  if (*request.on_gap == GapPolicy::skip) {
    refuse("one block can't have parts left out of it: the gap policy must be fill or raise");
  }
  return request;
}

std::string digest_of(const StreamRequest& request) {
  std::vector<std::string> names = request.channels;
  std::sort(names.begin(), names.end());
  Digest digest;
  for (const std::string& name : names) digest.add(name);
  if (request.replay_id) digest.add(*request.replay_id);
  if (request.replay_window) {
    digest.add(format_time(request.replay_window->start));
    digest.add(format_time(request.replay_window->end));
  }
  return digest.text();
}

GpsTime archive_time(const ReplayWindow& window, GpsTime time) {
  return time - replay_offset(window.start, window.end, time);
}

std::string span_text(const StreamRequest& request) {
  std::optional<GpsTime> end = request.end;
  if (request.start && request.duration) end = *request.start + *request.duration;
  std::string text = "live";
  if (request.start && end) {
    text = fmt::format("GPS [{}, {})", format_time(*request.start), format_time(*end));
  } else if (request.start) {
    text = fmt::format("from GPS {}", format_time(*request.start));
  } else if (end) {
    text = fmt::format("live until GPS {}", format_time(*end));
  } else if (request.duration) {
    text = fmt::format("live for {}", format_duration(*request.duration));
  }
  if (request.replay_id) text += fmt::format(", replay {}", *request.replay_id);
  if (request.replay_window) {
    text += fmt::format(", replay window [{}, {})", format_time(request.replay_window->start),
                        format_time(request.replay_window->end));
  }
  return text;
}

}
