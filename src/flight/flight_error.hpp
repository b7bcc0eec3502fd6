#pragma once

/// What a server's refusal means.

#include <arrow/status.h>

#include <string>
#include <string_view>

#include "arrakis/error.hpp"

namespace arrakis::inline v1 {

/// The Error for a failed call: its code by the Flight status, its message `what` ("find at
/// grpc://…"), then the server's text without its " Detail: …" and "[request: …]", the id of which
/// becomes request_id(). An "Unavailable" that names channels is not_found.
Error to_error(const arrow::Status& status, std::string_view what);

/// Whether a server says that neither it nor any that it knows holds the time that was asked for.
bool says_time_is_gone(const Error& error);

/// Whether asking again, here or elsewhere, may help.
bool may_pass(const Error& error);

}  // namespace arrakis::inline v1
