#include "client/pattern_check.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace arrakis::inline v1 {
namespace {

/// Goes over a pattern once, as far as what it means is beyond doubt.
class PatternScanner {
 public:
  explicit PatternScanner(std::string_view pattern) : rest_(pattern) {}

  std::optional<std::string> fault() {
    while (!rest_.empty() && !fault_) step();
    if (!fault_ && depth_ > 0) fault_ = "a '(' is not closed";
    return fault_;
  }

 private:
  /// What stands before a repetition decides about it.
  enum class Before { nothing, item, repeat };

  void step() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    switch (c) {
      case '\\':
        escape();
        break;
      case '[':
        character_class();
        break;
      case '(':
        open();
        break;
      case ')':
        if (depth_ == 0) fault_ = "a ')' without its '('";
        depth_ -= depth_ > 0 ? 1U : 0U;
        before_ = Before::item;
        break;
      case '|':
        before_ = Before::nothing;
        break;
      case '*':
      case '+':
      case '?':
        repeat(std::string(1, c));
        break;
      case '{':
        braces();
        break;
      default:
        // "^*" is refused by some versions of Python only.
        before_ = Before::item;
    }
  }

  void escape() {
    if (rest_.empty()) {
      fault_ = "a backslash at its end";
      return;
    }
    rest_.remove_prefix(1);
    before_ = Before::item;
  }

  void character_class() {
    if (rest_.starts_with('^')) rest_.remove_prefix(1);
    // A bracket that comes first stands for itself.
    std::size_t i = rest_.starts_with(']') ? 1 : 0;
    while (i < rest_.size() && rest_[i] != ']') i += rest_[i] == '\\' ? 2U : 1U;
    if (i >= rest_.size()) {
      fault_ = "a '[' is not closed";
      return;
    }
    rest_.remove_prefix(i + 1);
    before_ = Before::item;
  }

  void open() {
    if (rest_.starts_with("?#")) {
      comment();
      return;
    }
    ++depth_;
    before_ = Before::nothing;
    if (rest_.starts_with('?')) extension();
  }

  /// What stands behind "(?"; of rare forms it is not told.
  void extension() {
    for (const std::string_view form : {"?:", "?=", "?!", "?<=", "?<!"}) {
      if (!rest_.starts_with(form)) continue;
      rest_.remove_prefix(form.size());
      return;
    }
    const std::size_t named = rest_.starts_with("?P<") ? rest_.find('>') : std::string_view::npos;
    const std::size_t flags = rest_.find_first_not_of("aiLmsu", 1);
    if (named != std::string_view::npos) {
      rest_.remove_prefix(named + 1);
    } else if (flags != std::string_view::npos && rest_[flags] == ')') {
      rest_.remove_prefix(flags);
    } else {
      give_up();
    }
  }
  void comment() {
    const std::size_t close = rest_.find(')');
    if (close == std::string_view::npos) {
      fault_ = "a comment '(?#' is not closed";
    } else {
      rest_.remove_prefix(close + 1);
    }
  }

  /// '{' begins a repetition only in the forms {m}, {m,}, {,n}, {m,n} and {,}.
  void braces() {
    std::size_t i = digits_from(0);
    const bool is_empty = i == 0 && !rest_.starts_with(',');
    if (i < rest_.size() && rest_[i] == ',') i = digits_from(i + 1);
    if (is_empty || i >= rest_.size() || rest_[i] != '}') {
      before_ = Before::item;
      return;
    }
    const std::string text = fmt::format("{{{}}}", rest_.substr(0, i));
    rest_.remove_prefix(i + 1);
    repeat(text);
  }
  [[nodiscard]] std::size_t digits_from(std::size_t i) const {
    while (i < rest_.size() && rest_[i] >= '0' && rest_[i] <= '9') ++i;
    return i;
  }

  void repeat(const std::string& text) {
    if (before_ == Before::nothing) fault_ = fmt::format("nothing before '{}' to repeat", text);
    if (before_ == Before::repeat) fault_ = fmt::format("'{}' after a repetition", text);
    before_ = Before::repeat;
    // Lazy, or possessive in newer versions.
    if (rest_.starts_with('?')) rest_.remove_prefix(1);
    if (rest_.starts_with('+')) give_up();
  }

  void give_up() {
    rest_ = {};
    depth_ = 0;
  }

  std::string_view rest_;
  std::size_t depth_ = 0;
  Before before_ = Before::nothing;
  std::optional<std::string> fault_;
};

}  // namespace

std::optional<std::string> pattern_fault(std::string_view pattern) {
  return PatternScanner(pattern).fault();
}

}  // namespace arrakis::inline v1
