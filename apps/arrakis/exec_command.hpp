#pragma once

/// arrakis exec

#include <string>
#include <vector>

#include "command.hpp"

namespace arrakis::cli {

/// Runs a program with ARRAKIS_SERVER set to the server of --url.
class ExecCommand final : public Command {
 public:
  void add_options(OptionAdder& add) override;
  int run(Session& session) override;

 private:
  std::vector<std::string> command_;
};

}
