#include "flight/flight_error.hpp"

#include <arrow/flight/types.h>
#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

namespace arrakis::inline v1 {

namespace {

namespace flight = arrow::flight;

/// `text` up to where what the transport adds to the server's words begins.
std::string_view before_additions(std::string_view text) {
  constexpr std::array<std::string_view, 3> kAdditions = {
      " Detail:", " gRPC client debug context:", " Client context:"};
  for (const std::string_view addition : kAdditions) text = text.substr(0, text.find(addition));
  while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

std::string_view after_introduction(std::string_view text) {
  constexpr std::string_view kBegin = "Flight returned ";
  constexpr std::string_view kEnd = "with message: ";
  if (!text.starts_with(kBegin)) return text;
  const std::size_t end = text.find(kEnd);
  return end == std::string_view::npos ? text : text.substr(end + kEnd.size());
}

/// Takes "[request: <id>]" off the end of a text.
std::optional<std::string> take_request_id(std::string_view& text) {
  constexpr std::string_view kBegin = "[request: ";
  const std::size_t begin = text.rfind(kBegin);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(begin + kBegin.size());
  const std::size_t end = rest.find(']');
  if (end == std::string_view::npos) return std::nullopt;
  text = text.substr(0, begin);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return std::string(rest.substr(0, end));
}

Errc code_of(const flight::FlightStatusDetail& detail, std::string_view text) {
  switch (detail.code()) {
    case flight::FlightStatusCode::Unavailable:
      return text.starts_with("channel(s) {") ? Errc::not_found : Errc::unavailable;
    case flight::FlightStatusCode::TimedOut:
      return Errc::timeout;
    case flight::FlightStatusCode::Cancelled:
      return Errc::cancelled;
    case flight::FlightStatusCode::Unauthenticated:
      return Errc::unauthenticated;
    case flight::FlightStatusCode::Unauthorized:
      return Errc::permission_denied;
    case flight::FlightStatusCode::Internal:
    case flight::FlightStatusCode::Failed:
      return Errc::server;
  }
  return Errc::server;
}

Errc code_of(const arrow::Status& status, std::string_view text) {
  if (const auto detail = flight::FlightStatusDetail::UnwrapStatus(status)) {
    return code_of(*detail, text);
  }
  if (text.find("(channels + time)") != std::string_view::npos) return Errc::not_found;
  if (status.IsInvalid()) return Errc::invalid_argument;
  if (status.IsNotImplemented()) return Errc::unsupported;
  if (status.IsCancelled()) return Errc::cancelled;
  if (status.IsKeyError()) return Errc::not_found;
  return Errc::server;
}

}

Error to_error(const arrow::Status& status, std::string_view what) {
  std::string_view text = before_additions(after_introduction(status.message()));
  std::optional<std::string> id = take_request_id(text);
  return {code_of(status, text), fmt::format("{}: {}", what, text), std::move(id)};
}

bool may_pass(const Error& error) {
  switch (error.code()) {
    case Errc::unavailable:
    case Errc::timeout:
    case Errc::cancelled:
    case Errc::stalled:
      return true;
    default:
      return false;
  }
}

}
