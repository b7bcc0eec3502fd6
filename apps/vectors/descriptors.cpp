#include <arrow/flight/types.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "arrakis/error.hpp"
#include "vectors/compare.hpp"
#include "vectors/handlers.hpp"
#include "vectors/vector_json.hpp"
#include "wire/request.hpp"

namespace arrakis::vectors {
namespace {

std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

template <typename Message>
std::string hex_of_message(const Message& message) {
  return hex_of(message.SerializeToString().ValueOrDie());
}

/// The command is read, written again, and wrapped as Flight wraps it.
Finding replay_command(const Json& item) {
  const std::string command = to_command(parse_command(string_at(item, "command_utf8")).request);
  const Json ours = {
      {"name", item.at("name")},
      {"command_utf8", command},
      {"descriptor_hex", hex_of_message(arrow::flight::FlightDescriptor::Command(command))},
      {"ticket_hex", hex_of_message(arrow::flight::Ticket(command))}};
  return {.difference = difference(item, ours)};
}

constexpr std::string_view kServerFault = "INTERNAL";

/// The text that a server refuses unknown arguments with.
std::string unknown_text(const Json& request, const Json& names) {
  const std::string version =
      request.contains("version")
          ? fmt::format("request schema {}", request.at("version").get<std::string>())
          : "request predates schema versioning";
  return fmt::format(
      "unknown {} argument(s): {} ({}; server schema {})", string_at(request, "request"),
      fmt::join(names.get<std::vector<std::string>>(), ", "), version, kSchemaVersion);
}

/// What becomes of the request, as the vectors put it. An unknown argument counts as known from
/// here on only if the refusal is exactly the one that names it.
Json verdict_on(const Json& item) {
  const Json& request = item.at("request");
  try {
    (void)parse_command(request.dump());
    return {{"valid", true}, {"unknown_args", Json::array()}, {"server_outcome", "accepted"}};
  } catch (const Error& error) {
    const Json* names = &item.at("unknown_args");
    if (names->is_array() && !names->empty() && error.what() == unknown_text(request, *names)) {
      return {{"valid", true},
              {"unknown_args", *names},
              {"server_outcome", "rejected: unknown argument"}};
    }
    return {{"valid", false}, {"unknown_args", Json()}, {"server_outcome", "rejected: why"}};
  }
}

Finding replay_verdict(const Json& item) {
  Json vector = item;
  vector.erase("name");
  vector.erase("request");
  const Json ours = verdict_on(item);
  Json right = vector;
  if (vector.at("server_outcome") == kServerFault) right["server_outcome"] = "rejected: why";
  Json wrong = right;
  wrong["server_outcome"] = kServerFault;
  return {.difference = difference(vector, ours),
          .vector_is_right = right == vector,
          .error = difference(right, ours),
          .vector_error = difference(wrong, vector)};
}

Finding replay_parse_version(const Json& item) {
  const auto version = optional_string_at(item, "version");
  const auto parsed = version ? parse_schema_version(*version) : std::nullopt;
  const Json ours = parsed ? Json{parsed->major_number, parsed->minor_number} : Json();
  return {.difference = difference(item.at("parsed"), ours)};
}

Finding replay_supports(const Json& item) {
  const Json& least = item.at("minimum");
  const std::optional<bool> ours = supports(optional_string_at(item, "advertised"),
                                            {least.at(0).get<int>(), least.at(1).get<int>()});
  return {.difference = difference(item.at("supports"), ours ? Json(*ours) : Json())};
}

}  // namespace

void replay_descriptors(const VectorFile& file, FileReport& report) {
  replay_section(file, report, "descriptors", replay_command);
  replay_section(file, report, "validation", replay_verdict);
  replay_section(file, report, "parse_version", replay_parse_version);
  replay_section(file, report, "supports", replay_supports);
}

}  // namespace arrakis::vectors
