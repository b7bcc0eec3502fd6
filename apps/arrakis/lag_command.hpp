#pragma once

/// arrakis lag

#include <optional>
#include <string>

#include "command.hpp"
#include "request_options.hpp"

namespace arrakis::cli {

class LagCommand final : public Command {
 public:
  void add_options(OptionAdder& add) override;
  void check(const ArgumentReader& read) override;
  int run(Session& session) override;

 private:
  RequestOptions request_options_{RequestOptions::Gaps::filled};
  std::optional<std::string> interval_text_;
  bool json_ = false;
  StreamRequest request_;
  Duration interval_ = std::chrono::seconds(1);
};

}
