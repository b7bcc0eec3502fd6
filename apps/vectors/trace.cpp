#include "vectors/trace.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <stdexcept>

#include "vectors/compare.hpp"
#include "vectors/vector_json.hpp"

namespace arrakis::vectors {
namespace {

constexpr std::array kOutcomeKeys = {"expect", "grace_s", "state"};

std::string outcome_difference(const Json& op, const Json& outcome) {
  Json expected = Json::object();
  Json actual = Json::object();
  for (const char* key : kOutcomeKeys) {
    const auto stated = op.find(key);
    const auto found = outcome.find(key);
    const bool is_failure = found != outcome.end() && expects_failure(*found);
    if (stated != op.end()) expected[key] = *stated;
    if (found != outcome.end() && (stated != op.end() || is_failure)) actual[key] = *found;
  }
  return difference(expected, actual);
}

}  // namespace

std::string replay_ops(const Json& ops, const PerformOp& perform) {
  std::size_t number = 0;
  for (const Json& op : ops) {
    const std::string name = string_at(op, "op");
    std::string found = outcome_difference(op, perform(name, op));
    if (!found.empty()) return fmt::format("op {} ({}): {}", number, name, found);
    ++number;
  }
  return {};
}

void unknown_op(const std::string& name) {
  throw std::runtime_error(fmt::format("malformed: no operation is called '{}'", name));
}

}  // namespace arrakis::vectors
