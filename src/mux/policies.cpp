// The policies' names, and what the multiplexer must know of a stream of channels.

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "arrakis/error.hpp"
#include "arrakis/mux.hpp"
#include "core/budget.hpp"
#include "core/quote.hpp"
#include "core/result.hpp"

namespace arrakis::inline v1 {
namespace {

template <typename Policy>
using Names = std::array<std::pair<Policy, std::string_view>, 3>;

constexpr Names<GapPolicy> kGapPolicies{
    {{GapPolicy::fill, "fill"}, {GapPolicy::skip, "skip"}, {GapPolicy::raise, "raise"}}};
constexpr Names<DropPolicy> kDropPolicies{
    {{DropPolicy::ignore, "ignore"}, {DropPolicy::warn, "warn"}, {DropPolicy::raise, "raise"}}};

template <typename Policy>
std::string_view name_of(const Names<Policy>& names, Policy policy) {
  for (const auto& [value, name] : names) {
    if (value == policy) return name;
  }
  return "unknown";
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

template <typename Policy>
Policy parse(const Names<Policy>& names, std::string_view what, std::string_view text) {
  const std::string lower = lower_case(text);
  std::string choices;
  for (const auto& [value, name] : names) {
    if (name == lower) return value;
    choices += choices.empty() ? "" : ", ";
    choices += name;
  }
  throw Error(Errc::invalid_argument,
              fmt::format("unknown {} {}; choose one of {}", what, quoted(text), choices));
}

}  // namespace

std::string_view to_string(GapPolicy policy) { return name_of(kGapPolicies, policy); }
GapPolicy parse_gap_policy(std::string_view text) {
  return parse(kGapPolicies, "gap policy", text);
}

std::string_view to_string(DropPolicy policy) { return name_of(kDropPolicies, policy); }
DropPolicy parse_drop_policy(std::string_view text) {
  return parse(kDropPolicies, "drop policy", text);
}

MuxStream mux_stream(std::string name, const ChannelSet& channels) {
  return {.name = std::move(name),
          .stride = value_or_throw(common_stride(channels.channels())),
          .max_latency = greatest_latency(channels.channels())};
}

}  // namespace arrakis::inline v1
