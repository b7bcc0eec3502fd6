#pragma once

/// arrakis stream

#include "command.hpp"
#include "formats.hpp"
#include "output_file.hpp"
#include "request_options.hpp"

namespace arrakis::cli {

class StreamCommand final : public Command {
 public:
  void add_options(OptionAdder& add) override;
  void check(const ArgumentReader& read) override;
  int run(Session& session) override;

  [[nodiscard]] const StreamRequest& request() const { return request_; }
  [[nodiscard]] const std::optional<std::string>& metadata() const {
    return request_options_.metadata();
  }
  [[nodiscard]] Format format() const { return format_; }
  [[nodiscard]] bool latency() const { return latency_; }

 private:
  void print_blocks(Session& session, BlockStream& stream) const;

  RequestOptions request_options_;
  FormatOptions format_options_;
  OutputFileOptions file_;
  bool latency_ = false;
  StreamRequest request_;
  Format format_ = Format::table;
};

}
