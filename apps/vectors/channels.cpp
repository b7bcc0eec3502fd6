#include "arrakis/channel.hpp"

#include <string>

#include "arrakis/json.hpp"
#include "vectors/compare.hpp"
#include "vectors/handlers.hpp"
#include "vectors/vector_json.hpp"

namespace arrakis::vectors {
namespace {

Finding replay_name(const Json& item) {
  const std::string name = string_at(item, "name");
  const std::optional<ChannelName> parts = parse_channel_name(name);
  Json actual = {{"name", name}, {"valid", parts.has_value()}};
  if (parts) {
    actual["domain"] = parts->domain;
    actual["subsystem"] = parts->subsystem;
    actual["delimiter"] = parts->delimiter ? Json(std::string(1, *parts->delimiter)) : Json();
    actual["rest"] = parts->rest ? Json(*parts->rest) : Json();
  }
  return {.difference = difference(item, actual)};
}

Finding replay_equality(const Json& item) {
  const Channel a = channel_from_json(item.at("a").dump());
  const Channel b = channel_from_json(item.at("b").dump());
  const Json expected = {{"equal", item.at("equal")}, {"equal, sides exchanged", item.at("equal")}};
  const Json actual = {{"equal", matches(a, b)}, {"equal, sides exchanged", matches(b, a)}};
  return {.difference = difference(expected, actual)};
}

Finding replay_json_form(const Json& item) {
  const std::string text = to_json(channel_from_json(string_at(item, "text")), NullFields::written);
  const Json actual = {{"text", text}, {"value", Json::parse(text)}};
  return {.difference = difference(item, actual)};
}

}  // namespace

void replay_channels(const VectorFile& file, FileReport& report) {
  replay_section(file, report, "names", replay_name);
  replay_section(file, report, "equality", replay_equality);
  replay_section(file, report, "json_forms", replay_json_form);
  report.no_handler("metadata_topic_digests");
}

}  // namespace arrakis::vectors
