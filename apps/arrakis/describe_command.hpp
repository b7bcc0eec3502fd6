#pragma once

/// arrakis describe

#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "formats.hpp"

namespace arrakis::cli {

class DescribeCommand final : public Command {
 public:
  void add_options(OptionAdder& add) override;
  void check(const ArgumentReader& read) override;
  int run(Session& session) override;

  [[nodiscard]] const std::vector<std::string>& channels() const { return channels_; }
  [[nodiscard]] std::optional<GpsTime> time() const { return time_; }
  [[nodiscard]] const std::optional<std::string>& replay_id() const { return replay_id_; }

 private:
  std::vector<std::string> channels_;
  std::optional<std::string> time_text_, replay_id_;
  FormatOptions format_options_;
  std::optional<GpsTime> time_;
  Format format_ = Format::table;
};

}
