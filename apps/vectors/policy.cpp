#include <string>

#include "arrakis/kafka.hpp"
#include "vectors/handlers.hpp"
#include "vectors/trace.hpp"
#include "vectors/vector_json.hpp"

namespace arrakis::vectors {
namespace {

const char* vector_name(LagAction action) {
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

Json observed(FastForwardPolicy& policy, const Json& op) {
  const Duration budget = duration_at(op, "budget_ns");
  const LagAction action =
      policy.observe(string_at(op, "stream"), duration_at(op, "lag_ns"), budget);
  return {{"expect", vector_name(action)}, {"grace_s", policy.grace(budget)}};
}

Finding replay_trace(const Json& trace) {
  double now = 0;
  FastForwardPolicy::Options options;
  options.grace_budgets = trace.at("grace_budgets").get<double>();
  options.grace_floor = trace.at("grace_floor").get<double>();
  options.clock = [&now] { return now; };
  FastForwardPolicy policy(options);

  return {.difference =
              replay_ops(trace.at("ops"), [&](const std::string& name, const Json& op) -> Json {
                if (name == "clock") {
                  now = op.at("now_s").get<double>();
                } else if (name == "observe") {
                  return observed(policy, op);
                } else if (name == "forwarded") {
                  policy.forwarded();
                } else {
                  unknown_op(name);
                }
                return Json::object();
              })};
}

}  // namespace

void replay_policy(const VectorFile& file, FileReport& report) {
  replay_traces(file, report, replay_trace);
}

}  // namespace arrakis::vectors
