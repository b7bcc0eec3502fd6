#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "arrakis/kafka.hpp"

namespace arrakis::inline v1 {

namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}

std::string_view to_string(LagAction action) {
  switch (action) {
    case LagAction::ok:
      return "OK";
    case LagAction::recovered:
      return "RECOVERED";
    case LagAction::forward:
      break;
  }
  return "FORWARD";
}

FastForwardPolicy::FastForwardPolicy(Options options) : options_(std::move(options)) {
  if (!options_.clock) options_.clock = steady_seconds;
}

double FastForwardPolicy::grace(Duration budget) const {
  return std::max(options_.grace_floor,
                  options_.grace_budgets * (static_cast<double>(budget.count()) / 1e9));
}

LagAction FastForwardPolicy::observe(std::string_view stream, Duration lag, Duration budget) {
  if (options_.grace_budgets <= 0 || budget <= Duration::zero()) return LagAction::ok;

  const auto behind = behind_since_.find(stream);
  if (lag <= budget) {
    if (behind != behind_since_.end()) behind_since_.erase(behind);
    if (!forwarded_ || !behind_since_.empty()) return LagAction::ok;
    forwarded_ = false;
    return LagAction::recovered;
  }

  const double now = options_.clock();
  const double since = behind == behind_since_.end() ? now : behind->second;
  if (behind == behind_since_.end()) behind_since_.emplace(stream, now);
  return now - since < grace(budget) ? LagAction::ok : LagAction::forward;
}

void FastForwardPolicy::forwarded() {
  behind_since_.clear();
  forwarded_ = true;
}

}
