#pragma once

/// arrakis fetch

#include "command.hpp"
#include "formats.hpp"
#include "output_file.hpp"
#include "request_options.hpp"

namespace arrakis::cli {

class FetchCommand final : public Command {
 public:
  void add_options(OptionAdder& add) override;
  void check(const ArgumentReader& read) override;
  int run(Session& session) override;

  [[nodiscard]] const StreamRequest& request() const { return request_; }
  [[nodiscard]] Format format() const { return format_; }

 private:
  void print_block(const SeriesBlock& block) const;

  RequestOptions request_options_;
  FormatOptions format_options_;
  OutputFileOptions file_;
  StreamRequest request_;
  Format format_ = Format::table;
};

}
