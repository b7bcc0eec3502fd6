#pragma once

/// What streams deliver of a trace's script, told from the script alone.

#include <nlohmann/json.hpp>
#include <string>

namespace arrakis::vectors {

/// The outcome {"blocks", "end"} that is right for a trace of stream.json.
///
/// A bounded request is answered from its start to its end (without one, to the end of the data):
/// every output stride that has data, and under "fill" every other one, too; what is missing is
/// null. A live one gives what the trace states, but nothing that starts at its end or later, and
/// it is over once nothing before its end can come any more.
nlohmann::json right_stream_outcome(const nlohmann::json& trace);

/// How what the trace states differs from the answers that are known to be wrong: a bounded request
/// ends with the stream that ends first, blocks may start at the end, channels that a block lacks
/// are left out of it and can't be joined. Empty: it states just those.
std::string stream_vector_error(const nlohmann::json& trace);

}  // namespace arrakis::vectors
