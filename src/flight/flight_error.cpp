#include "flight/flight_error.hpp"

#include <arrow/flight/types.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace arrakis::inline v1 {
namespace {

using arrow::flight::FlightStatusCode;
using arrow::flight::FlightStatusDetail;

// What Arrow and gRPC put around a server's text.
constexpr std::string_view kDetailMark = " Detail:";
constexpr std::string_view kDebugMark = " gRPC client debug context:";
constexpr std::string_view kBasePrefix = "Flight error: ";
constexpr std::string_view kReturnedPrefix = "Flight returned ";
constexpr std::string_view kReturnedMark = " error, with message: ";
constexpr std::string_view kRequestMark = "[request: ";
// Of somebody's text in a message.
constexpr std::size_t kMaxText = 2000;

/// Cuts at the mark and takes away the full stop that was put before it.
void cut_at(std::string& text, std::string_view mark) {
  const std::size_t place = text.find(mark);
  if (place == std::string::npos) return;
  text.resize(place);
  if (text.ends_with('.')) text.pop_back();
}

void strip_prefix(std::string& text) {
  if (text.starts_with(kBasePrefix)) text.erase(0, kBasePrefix.size());
  if (!text.starts_with(kReturnedPrefix)) return;
  const std::size_t mark = text.find(kReturnedMark);
  if (mark != std::string::npos) text.erase(0, mark + kReturnedMark.size());
}

/// Takes the server's number of the request out of its text.
std::optional<std::string> take_request_id(std::string& text) {
  const std::size_t mark = text.rfind(kRequestMark);
  if (mark == std::string::npos) return std::nullopt;
  const std::size_t end = text.find(']', mark);
  if (end == std::string::npos) return std::nullopt;
  const std::size_t first = mark + kRequestMark.size();
  std::string id = text.substr(first, end - first);
  const std::size_t from = mark > 0 && text[mark - 1] == ' ' ? mark - 1 : mark;
  text.erase(from, end + 1 - from);
  return id;
}

/// One line of bounded length.
void make_presentable(std::string& text) {
  const auto is_control = [](char c) { return (c >= '\0' && c < ' ') || c == '\x7f'; };
  std::replace_if(text.begin(), text.end(), is_control, ' ');
  const std::size_t last = text.find_last_not_of(' ');
  text.resize(last == std::string::npos ? 0 : last + 1);
  if (text.size() > kMaxText) text = text.substr(0, kMaxText) + "…";
}

bool has(std::string_view text, std::string_view piece) {
  return text.find(piece) != std::string_view::npos;
}

constexpr std::string_view kTimeMark = "time range requested";

/// An answer that nothing serves what was asked is about the request, not about the moment.
bool says_not_found(std::string_view text) {
  return has(text, "channel(s) {") || has(text, "Could not serve request") ||
         (has(text, kTimeMark) && has(text, "not available on this server"));
}

Errc code_of(const arrow::Status& status, std::string_view text) {
  if (says_not_found(text)) return Errc::not_found;
  if (const auto detail = FlightStatusDetail::UnwrapStatus(status)) {
    switch (detail->code()) {
      case FlightStatusCode::Unavailable:
        return Errc::unavailable;
      case FlightStatusCode::Unauthenticated:
        return Errc::unauthenticated;
      case FlightStatusCode::Unauthorized:
        return Errc::permission_denied;
      case FlightStatusCode::Cancelled:
        return Errc::cancelled;
      case FlightStatusCode::TimedOut:
        return Errc::timeout;
      case FlightStatusCode::Internal:
      case FlightStatusCode::Failed:
        return Errc::server;
    }
  }
  switch (status.code()) {
    case arrow::StatusCode::Invalid:
    case arrow::StatusCode::TypeError:
      return Errc::invalid_argument;
    case arrow::StatusCode::KeyError:
      return Errc::not_found;
    case arrow::StatusCode::NotImplemented:
      return Errc::unsupported;
    case arrow::StatusCode::Cancelled:
      return Errc::cancelled;
    default:
      return Errc::server;
  }
}

}  // namespace

Error to_error(const arrow::Status& status, std::string_view what) {
  std::string text = status.message();
  cut_at(text, kDebugMark);
  cut_at(text, kDetailMark);
  strip_prefix(text);
  std::optional<std::string> request_id = take_request_id(text);
  make_presentable(text);
  const Errc code = code_of(status, text);
  if (text.empty()) text = to_string(code);
  return {code, fmt::format("{}: {}", what, text), std::move(request_id)};
}

bool says_time_is_gone(const Error& error) {
  return has(error.what(), kTimeMark) || has(error.what(), "(channels + time)");
}

bool may_pass(const Error& error) {
  switch (error.code()) {
    case Errc::unavailable:
    case Errc::timeout:
    case Errc::stalled:
    case Errc::cancelled:  // by the other side
    case Errc::server:
    case Errc::broker_unavailable:
      return true;
    default:
      return false;
  }
}

}  // namespace arrakis::inline v1
