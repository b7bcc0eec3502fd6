#pragma once

/// Traces: operations in order, each with the outcome it must have.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace arrakis::vectors {

/// Performs one operation, called `name`, and returns what came of it under the trace's keys:
/// "expect", "state", "grace_s"; those that it has.
using PerformOp = std::function<nlohmann::json(const std::string& name, const nlohmann::json& op)>;

/// Performs the operations up to the first whose outcome differs, and says how; empty: none does.
/// An outcome that the trace leaves out is not compared, but a failure ("raises") that it doesn't
/// expect is a difference.
std::string replay_ops(const nlohmann::json& ops, const PerformOp& perform);

/// For operations that a handler doesn't know: throws.
[[noreturn]] void unknown_op(const std::string& name);

}  // namespace arrakis::vectors
