#include <optional>
#include <string>
#include <vector>

#include "arrakis/error.hpp"
#include "flight/server_url.hpp"
#include "vectors/compare.hpp"
#include "vectors/handlers.hpp"
#include "vectors/vector_json.hpp"

namespace arrakis::vectors {
namespace {

const char* nothing_set(const char* /*name*/) { return nullptr; }

/// An IPv6 address in brackets whose port the reference leaves out.
bool lacks_port(const std::string& url) { return url.ends_with(']'); }

Finding replay_client(const Json& item) {
  const std::string vector = string_at(item, "resolved");
  const std::string ours =
      parse_server_url(optional_string_at(item, "url").value_or(""), nothing_set).text;
  const std::string right = lacks_port(vector) ? vector + ":31206" : vector;
  return {.difference = difference(vector, ours),
          .vector_is_right = right == vector,
          .error = difference(right, ours)};
}

/// The list of brokers; a refusal when it can't be told.
Json bootstrap_of(const std::vector<std::string>& locations) {
  try {
    return kafka_bootstrap(locations);
  } catch (const Error&) {
    return raises("Error");
  }
}

Finding replay_bootstrap(const Json& item) {
  const Json& vector = item.at("bootstrap.servers");
  const Json ours = bootstrap_of(item.at("locations").get<std::vector<std::string>>());
  const bool has_no_port = vector.get<std::string>().ends_with(":None");
  const Json right = has_no_port ? raises("Error") : vector;
  return {.difference = difference(vector, ours),
          .vector_is_right = !has_no_port,
          .error = difference(right, ours)};
}

}  // namespace

void replay_urls(const VectorFile& file, FileReport& report) {
  replay_section(file, report, "client", replay_client);
  report.no_handler("server_bind");
  report.no_handler("kafka_expand");
  replay_section(file, report, "kafka_bootstrap", replay_bootstrap);
}

}  // namespace arrakis::vectors
