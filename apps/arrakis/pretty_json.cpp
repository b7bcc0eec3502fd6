#include "pretty_json.hpp"

#include <nlohmann/json.hpp>

#include "arrakis/error.hpp"

namespace arrakis::cli {
namespace {

class Layout {
 public:
  Layout(std::string_view json, std::size_t indent) : json_(json), indent_(indent) {}

  std::string run() {
    while (at_ < json_.size()) step();
    return std::move(out_);
  }

 private:
  void step() {
    const char c = json_[at_];
    switch (c) {
      case '"':
        copy_string();
        return;
      case '{':
      case '[':
        open(c);
        return;
      case '}':
      case ']':
        --depth_;
        new_line();
        out_ += c;
        break;
      case ',':
        out_ += c;
        new_line();
        break;
      case ':':
        out_ += ": ";
        break;
      case ' ':
      case '\t':
      case '\n':
      case '\r':
        break;
      default:
        out_ += c;
    }
    ++at_;
  }

  void copy_string() {
    const std::size_t begin = at_++;
    while (at_ < json_.size() && json_[at_] != '"')
      at_ += json_[at_] == '\\' ? std::size_t{2} : std::size_t{1};
    ++at_;
    out_ += json_.substr(begin, at_ - begin);
  }

  void open(char c) {
    out_ += c;
    const std::size_t next = json_.find_first_not_of(" \t\n\r", at_ + 1);
    if (next != std::string_view::npos && (json_[next] == '}' || json_[next] == ']')) {
      out_ += json_[next];
      at_ = next + 1;
      return;
    }
    ++depth_;
    new_line();
    ++at_;
  }

  void new_line() { out_.append("\n").append(depth_ * indent_, ' '); }

  std::string_view json_;
  std::size_t indent_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::string out_;
};

}  // namespace

std::string indented_json(std::string_view json, std::size_t indent) {
  return Layout(json, indent).run();
}

std::string sorted_json(std::string_view json, std::size_t indent) {
  const nlohmann::json value = nlohmann::json::parse(json.begin(), json.end(), nullptr, false);
  if (value.is_discarded()) throw Error(Errc::protocol, "the server's answer is not valid JSON");
  return value.dump(static_cast<int>(indent), ' ', true, nlohmann::json::error_handler_t::replace);
}

}
