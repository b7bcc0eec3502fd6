#pragma once

/// Opens the stream that a command's options ask for.

#include <optional>
#include <string>

#include "arrakis/stream.hpp"
#include "command.hpp"

namespace arrakis::cli {

/// A stream of the request, whose channels are as they were written: from Kafka alone where there
/// is a file of metadata, else by way of the servers. Says in the log what is streamed.
BlockStream open_stream(Session& session, StreamRequest request,
                        const std::optional<std::string>& metadata);

}
