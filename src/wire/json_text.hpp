#pragma once

/// JSON as Python's json module writes it at its defaults, byte for byte, so that both sides' texts
/// can be compared and hashed; and what is common to those who read it.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace arrakis::inline v1 {

/// Appends `text` as a JSON string of plain ASCII. Bytes that are no UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

/// Writes an object's braces, keys and separators; the caller appends each value after its key.
class JsonObjectWriter {
 public:
  explicit JsonObjectWriter(std::string& out) : out_(out) { out_ += '{'; }
  void close() { out_ += '}'; }
  void key(std::string_view name);

 private:
  std::string& out_;
  bool is_first_ = true;
};

/// Up to here a double names one integer.
inline constexpr double kGreatestExactDouble = 9007199254740992.0;

/// A value for a message: short, on one line, without the text of arrays and objects.
std::string json_excerpt(const nlohmann::json& value);
/// The integer that it is; a whole real ("5.0") counts as one where it is exact.
std::optional<std::int64_t> json_integer(const nlohmann::json& value);

}  // namespace arrakis::inline v1
