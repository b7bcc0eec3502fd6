#pragma once

/// arrakis server-info, domains, scope-map and replays

#include <map>
#include <string>
#include <vector>

#include "command.hpp"

namespace arrakis::cli {

class ServerInfoCommand final : public Command {
 public:
  void add_options(OptionAdder& add) override;
  int run(Session& session) override;

 private:
  bool endpoints_only_ = false;
};

class DomainsCommand final : public Command {
 public:
  void add_options(OptionAdder& /*add*/) override {}
  int run(Session& session) override;
};

class ScopeMapCommand final : public Command {
 public:
  void add_options(OptionAdder& /*add*/) override {}
  int run(Session& session) override;
};

class ReplaysCommand final : public Command {
 public:
  void add_options(OptionAdder& /*add*/) override {}
  int run(Session& session) override;
};

/// A server's answer about itself, a line a key in its order: "capabilities: find, count"; then the
/// endpoints. Throws Error(protocol) when the answer is no JSON object.
std::string server_info_text(const std::string& json, const std::vector<std::string>& endpoints);

/// "ID: start=100, end=200", a line a replay.
std::string replays_text(const std::map<std::string, ReplayWindow>& replays);

}
