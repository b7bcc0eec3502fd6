#include "client/server_answers.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "arrakis/error.hpp"
#include "core/quote.hpp"
#include "wire/json_text.hpp"

namespace arrakis::inline v1 {
namespace {

using nlohmann::json;

constexpr std::string_view kReuseScheme = "arrow-flight-reuse-connection://";

[[noreturn]] void throw_protocol(std::string_view what, const std::string& why) {
  throw Error(Errc::protocol, fmt::format("the server's answer to {}: {}", what, why));
}

json parse_object(std::string_view what, std::string_view text) {
  json object = json::parse(text.begin(), text.end(), nullptr, false);
  if (object.is_discarded())
    throw_protocol(what, fmt::format("no JSON: {}", arrakis::quoted(text)));
  if (!object.is_object()) {
    throw_protocol(what, fmt::format("must be a JSON object, not {}", json_excerpt(object)));
  }
  return object;
}

/// nullptr where it is absent or null.
const json* find(const json& object, const std::string& key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> text_at(const json& object, const char* key) {
  const json* value = find(object, key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return value->get<std::string>();
}

std::vector<std::string> texts_at(const json& object, const char* key) {
  std::vector<std::string> texts;
  const json* list = find(object, key);
  if (list == nullptr || !list->is_array()) return texts;
  for (const json& item : *list) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

GpsTime seconds_at(const json& object, const char* key, const std::string& replay) {
  const json* value = find(object, key);
  if (value == nullptr || !value->is_number()) {
    throw_protocol("replays",
                   fmt::format("replay {} has no number '{}'", arrakis::quoted(replay), key));
  }
  if (const auto whole = json_integer(*value)) return GpsTime::from_seconds(*whole);
  return GpsTime::from_seconds(value->get<double>());
}

json endpoints_of(std::string_view scope_map) {
  const json map = parse_object("scope-map", scope_map);
  const json* endpoints = find(map, "endpoints");
  if (endpoints == nullptr) return json::object();
  if (!endpoints->is_object()) {
    throw_protocol("scope-map",
                   fmt::format("'endpoints' must be an object, not {}", json_excerpt(*endpoints)));
  }
  return *endpoints;
}

}  // namespace

ServerInfo parse_server_info(std::string_view text) {
  const json object = parse_object("server-info", text);
  const json* auth = find(object, "auth");
  return {.server_version = text_at(object, "server_version").value_or(""),
          .arrakis_version = text_at(object, "arrakis_version").value_or(""),
          .schema_version = text_at(object, "arrakis_schema_version").value_or(""),
          .backend = text_at(object, "backend"),
          .backend_version = text_at(object, "backend_version"),
          .capabilities = texts_at(object, "capabilities"),
          .domains = texts_at(object, "domains"),
          .auth = auth != nullptr && auth->is_boolean() && auth->get<bool>(),
          .auth_mode = text_at(object, "auth_mode"),
          .auth_methods = texts_at(object, "auth_methods"),
          .json = std::string(text)};
}

std::map<std::string, ReplayWindow> parse_replays(std::string_view text) {
  std::map<std::string, ReplayWindow> replays;
  const json object = parse_object("replays", text);
  for (const auto& item : object.items()) {
    if (!item.value().is_object()) {
      throw_protocol("replays",
                     fmt::format("replay {} must be an object, not {}", arrakis::quoted(item.key()),
                                 json_excerpt(item.value())));
    }
    replays[item.key()] = {.start = seconds_at(item.value(), "start", item.key()),
                           .end = seconds_at(item.value(), "end", item.key())};
  }
  return replays;
}

std::vector<std::string> parse_domains(std::string_view scope_map) {
  std::set<std::string> domains;
  const json endpoints = endpoints_of(scope_map);
  for (const json& endpoint : endpoints) {
    const json* scopes = endpoint.is_object() ? find(endpoint, "scopes") : nullptr;
    if (scopes == nullptr || !scopes->is_object()) continue;
    for (const auto& item : scopes->items()) domains.insert(item.key());
  }
  return {domains.begin(), domains.end()};
}

std::vector<std::string> parse_endpoints(std::string_view scope_map, std::string_view asked) {
  std::set<std::string> urls;
  const json endpoints = endpoints_of(scope_map);
  for (const auto& item : endpoints.items()) {
    urls.insert(item.key().starts_with(kReuseScheme) ? std::string(asked) : item.key());
  }
  return {urls.begin(), urls.end()};
}

}  // namespace arrakis::inline v1
