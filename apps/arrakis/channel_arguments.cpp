#include "channel_arguments.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iostream>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "arrakis/error.hpp"
#include "arrakis/json.hpp"
#include "query_options.hpp"

namespace arrakis::cli {
namespace {

constexpr std::string_view kStandardInput = "-";
constexpr std::string_view kBlanks = " \t\r\n";
constexpr char kRegexMark = '~';

/// The regular expression of a selector, or nothing for an exact name.
std::optional<std::string> pattern_of(const std::string& selector) {
  if (!selector.empty() && selector[0] == kRegexMark) return selector.substr(1);
  if (selector.find_first_of("*?[") != std::string::npos) return regex_of_glob(selector);
  return std::nullopt;
}

}  // namespace

std::vector<std::string> expand_names(const std::vector<std::string>& names, std::istream& input) {
  std::vector<std::string> expanded;
  for (const std::string& name : names) {
    if (name != kStandardInput) {
      expanded.push_back(name);
      continue;
    }
    std::string line;
    while (std::getline(input, line)) {
      const std::size_t begin = line.find_first_not_of(kBlanks);
      if (begin == std::string::npos || line[begin] == '#') continue;
      expanded.push_back(line.substr(begin, line.find_last_not_of(kBlanks) - begin + 1));
    }
  }
  return expanded;
}

std::vector<std::string> resolve_names(const Client& client,
                                       const std::vector<std::string>& selectors,
                                       std::optional<GpsTime> time,
                                       const std::optional<std::string>& replay_id) {
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  const auto add = [&](const std::string& name) {
    if (seen.insert(name).second) names.push_back(name);
  };
  for (const std::string& selector : selectors) {
    const std::optional<std::string> pattern = pattern_of(selector);
    if (!pattern) {
      add(selector);
      continue;
    }
    bool found = false;
    ChannelListing listing =
        client.find({.pattern = *pattern, .time = time, .replay_id = replay_id});
    for (const Channel& channel : listing) {
      add(channel.name());
      found = true;
    }
    if (!found) throw Error(Errc::not_found, fmt::format("no channel matches '{}'", selector));
  }
  if (names.empty()) throw Error(Errc::invalid_argument, "no channel was named");
  return names;
}

ChannelSet read_metadata(const std::string& path) {
  if (path == kStandardInput) return ChannelSet(read_channels(std::cin, "standard input"));
  std::ifstream file(path);
  if (!file) {
    throw Error(Errc::io,
                fmt::format("{} can't be read: {}", path, std::generic_category().message(errno)));
  }
  std::vector<Channel> channels = read_channels(file, path);
  if (file.bad()) throw Error(Errc::io, fmt::format("{} can't be read to its end", path));
  return ChannelSet(std::move(channels));
}

}
