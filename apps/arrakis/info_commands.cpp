#include "info_commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "arrakis/error.hpp"
#include "common/output.hpp"
#include "common/program.hpp"
#include "common/text.hpp"
#include "pretty_json.hpp"

namespace arrakis::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kScopeMapIndent = 2;

void print(std::string_view text) { console::Output(STDOUT_FILENO).write(text); }

std::string joined(const std::vector<std::string>& texts, std::string_view separator) {
  return fmt::format("{}", fmt::join(texts, separator));
}

std::string lines_of(const std::vector<std::string>& texts) {
  std::string lines;
  for (const std::string& text : texts) lines += console::printable(text) + "\n";
  return lines;
}

/// A value as Python's str() writes it.
std::string value_text(const ordered_json& value) {
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::vector<std::string> texts;
  for (const ordered_json& element : value) texts.push_back(value_text(element));
  return joined(texts, ", ");
}

}  // namespace

std::string server_info_text(const std::string& json, const std::vector<std::string>& endpoints) {
  const ordered_json info = ordered_json::parse(json, nullptr, false);
  if (!info.is_object()) {
    throw Error(Errc::protocol, "the server's answer about itself is no JSON object");
  }
  std::vector<std::string> lines;
  for (const auto& [key, value] : info.items()) lines.push_back(key + ": " + value_text(value));
  lines.push_back("endpoints: " + joined(endpoints, ", "));
  return lines_of(lines);
}

std::string replays_text(const std::map<std::string, ReplayWindow>& replays) {
  std::string text;
  for (const auto& [id, window] : replays) {
    text += fmt::format("{}: start={}, end={}\n", console::printable(id), format_time(window.start),
                        format_time(window.end));
  }
  return text;
}

void ServerInfoCommand::add_options(OptionAdder& add) {
  add.flag("-e,--endpoints", endpoints_only_, "The servers' URLs only, one a line");
}

int ServerInfoCommand::run(Session& session) {
  const Client client(session.client);
  const std::vector<std::string> endpoints = client.endpoints();
  print(endpoints_only_ ? lines_of(endpoints)
                        : server_info_text(client.server_info().json, endpoints));
  return console::kSuccess;
}

int DomainsCommand::run(Session& session) {
  print(lines_of(Client(session.client).domains()));
  return console::kSuccess;
}

int ScopeMapCommand::run(Session& session) {
  print(sorted_json(Client(session.client).scope_map(), kScopeMapIndent) + "\n");
  return console::kSuccess;
}

int ReplaysCommand::run(Session& session) {
  const std::map<std::string, ReplayWindow> replays = Client(session.client).replays();
  print(replays.empty() ? "no replays configured\n" : replays_text(replays));
  return console::kSuccess;
}

}
