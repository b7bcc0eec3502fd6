#pragma once

/// arrakis find and arrakis count

#include "command.hpp"
#include "formats.hpp"
#include "query_options.hpp"

namespace arrakis::cli {

class FindCommand final : public Command {
 public:
  void add_options(OptionAdder& add) override;
  void check(const ArgumentReader& read) override;
  int run(Session& session) override;

  [[nodiscard]] const Query& query() const { return query_; }
  [[nodiscard]] Format format() const { return format_; }

 private:
  QueryOptions query_options_;
  FormatOptions format_options_;
  Query query_;
  Format format_ = Format::table;
};

class CountCommand final : public Command {
 public:
  void add_options(OptionAdder& add) override;
  void check(const ArgumentReader& read) override;
  int run(Session& session) override;

  [[nodiscard]] const Query& query() const { return query_; }

 private:
  QueryOptions query_options_;
  FormatOptions format_options_;
  Query query_;
};

}
