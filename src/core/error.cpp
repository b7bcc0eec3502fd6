#include "arrakis/error.hpp"

#include <utility>

namespace arrakis::inline v1 {

std::string_view to_string(Errc code) {
  switch (code) {
    case Errc::invalid_argument:
      return "invalid_argument";
    case Errc::not_found:
      return "not_found";
    case Errc::precondition:
      return "precondition";
    case Errc::failed_precondition:
      return "failed_precondition";
    case Errc::gap:
      return "gap";
    case Errc::late_data:
      return "late_data";
    case Errc::stalled:
      return "stalled";
    case Errc::no_data:
      return "no_data";
    case Errc::decode:
      return "decode";
    case Errc::protocol:
      return "protocol";
    case Errc::timeout:
      return "timeout";
    case Errc::cancelled:
      return "cancelled";
    case Errc::unavailable:
      return "unavailable";
    case Errc::unauthenticated:
      return "unauthenticated";
    case Errc::permission_denied:
      return "permission_denied";
    case Errc::server:
      return "server";
    case Errc::broker_unavailable:
      return "broker_unavailable";
    case Errc::broker_fatal:
      return "broker_fatal";
    case Errc::delivery_failed:
      return "delivery_failed";
    case Errc::io:
      return "io";
    case Errc::unsupported:
      return "unsupported";
  }
  return "unknown";
}

Error::Error(Errc code, const std::string& message, std::optional<std::string> request_id)
    : std::runtime_error(message), code_(code), request_id_(std::move(request_id)) {}

}  // namespace arrakis::inline v1
