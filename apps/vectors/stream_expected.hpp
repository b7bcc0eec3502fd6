#pragma once

/// What a stream should deliver of a trace's script, told from the script alone.

#include <nlohmann/json.hpp>

namespace arrakis::vectors {

/// The outcome {"blocks", "end"} that is right for a trace of stream.json.
///
/// A bounded request is answered from its start to its end (without one, to the end of the data):
/// every output stride that has data, and under "fill" every other one, too; what is missing is
/// null. A live one gives what the trace states, but nothing that starts at its end or later.
nlohmann::json right_stream_outcome(const nlohmann::json& trace);

}  // namespace arrakis::vectors
