#pragma once

/// How programs lay out --help. The only header here that needs CLI11.

#include <CLI/CLI.hpp>
#include <cstddef>
#include <sstream>
#include <string>

namespace arrakis::console {

/// Option, the type of its value, and a description wrapped to the width of an ordinary terminal.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kColumn); }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), kWidth) + "\n";
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(option->get_description(), kWidth - kColumn);
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string& type = option->get_type_name();
    return type.empty() ? "" : " " + type;
  }

 private:
  static constexpr std::size_t kColumn = 28;
  static constexpr std::size_t kWidth = 80;

  static std::string wrapped(const std::string& text, std::size_t width) {
    std::istringstream words(text);
    std::string result;
    std::size_t used = 0;
    for (std::string word; words >> word;) {
      const bool fits = used + 1 + word.size() <= width;
      if (used > 0) result += fits ? ' ' : '\n';
      used = used > 0 && fits ? used + 1 + word.size() : word.size();
      result += word;
    }
    return result;
  }
};

}
