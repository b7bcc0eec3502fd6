#pragma once

/// The one exception family of the public API.
///
/// Calls that fail throw Error. Timeout, end of stream and gaps are values; bad data that arrives
/// is counted and reported as events, never thrown. Values; safe from any thread. @since 0.1

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "arrakis/export.hpp"

namespace arrakis::inline v1 {

/// What kind of failure it was; stable, for programs. The message is for people.
enum class Errc {
  invalid_argument,     ///< the caller's value can't be used; the message names it
  not_found,            ///< an unknown channel, topic, publisher or file
  precondition,         ///< the values don't fit each other (times, strides, layouts)
  failed_precondition,  ///< the object's state doesn't allow the call (closed, not opened)
  gap,                  ///< a gap in a stream with GapPolicy::raise
  late_data,            ///< an element came too late with DropPolicy::raise
  stalled,              ///< a live source has been silent past its bound
  no_data,              ///< a stream ended before it gave what was asked
  decode,               ///< a message could not be decoded; only from direct decode calls
  protocol,             ///< the other side sent something that is no valid command or answer
  timeout,              ///< not done within the caller's deadline
  cancelled,            ///< cancelled by the other side or by the caller
  unavailable,          ///< a server that can't be reached
  unauthenticated,      ///< missing or invalid credentials
  permission_denied,    ///< valid credentials that don't allow it
  server,               ///< another failure that a server reported
  broker_unavailable,   ///< Kafka did not answer in time
  broker_fatal,         ///< Kafka reported an error that the connection can't survive
  delivery_failed,      ///< a published message was not accepted
  io,                   ///< a file could not be read or written
  unsupported,          ///< not in this build or version
};

/// The code's name: "invalid_argument".
ARRAKIS_API std::string_view to_string(Errc code);

/// A failed call. what() says what was asked, what was found and, where known, what to do.
class ARRAKIS_API Error : public std::runtime_error {
 public:
  Error(Errc code, const std::string& message, std::optional<std::string> request_id = {});
  [[nodiscard]] Errc code() const noexcept { return code_; }
  /// The server's correlation id of the request that failed, where there was one.
  [[nodiscard]] const std::optional<std::string>& request_id() const noexcept {
    return request_id_;
  }

 private:
  Errc code_;
  std::optional<std::string> request_id_;
};

}  // namespace arrakis::inline v1
