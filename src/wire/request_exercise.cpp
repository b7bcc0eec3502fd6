#include "wire/request_exercise.hpp"

#include <algorithm>
#include <string>

#include "arrakis/error.hpp"
#include "core/exercise.hpp"
#include "wire/request.hpp"

namespace arrakis::inline v1 {
namespace {

void check_request(const Request& request, std::string_view input) {
  const std::string text = to_command(request);
  require(std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; }),
          "a command is one line of ASCII", input);
  try {
    const ReceivedRequest again = parse_command(text);
    require(again.request.index() == request.index(), "a request reads back as itself", input);
    require(to_command(again.request) == text, "a request is written the same again", input);
    require(again.version == kSchemaVersion, "a command carries our version", input);
  } catch (const Error& error) {
    require(false, error.what(), input);
  }
}

}  // namespace

void exercise_request(std::string_view input) {
  try {
    check_request(parse_command(input).request, input);
  } catch (const Error& error) {
    const bool is_protocol = error.code() == Errc::protocol;
    require_refusal(error, "", input, is_protocol ? Errc::protocol : Errc::invalid_argument);
    require(error.what()[0] != '\0', "an error has a reason", input);
  }
  (void)parse_schema_version(input);
}

}  // namespace arrakis::inline v1
