#pragma once

/// What the functions that fuzz targets and unit tests share are made of. Only for them.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "arrakis/error.hpp"
#include "core/quote.hpp"

namespace arrakis::inline v1 {

/// Ends the program with a message unless `holds`. Not an exception: a fuzzer keeps the input of a
/// program that died, and nothing on the way can catch it.
inline void require(bool holds, std::string_view what, std::string_view input) {
  if (holds) return;
  constexpr std::size_t kMaxShown = 2000;
  const std::string shown = quoted(input, kMaxShown);
  std::fprintf(stderr, "broken: %.*s\ninput: %s\n", static_cast<int>(what.size()), what.data(),
               shown.c_str());
  std::abort();
}

/// Checks that an error about an input says what it is about, in one line of bounded length.
inline void require_refusal(const Error& error, std::string_view about, std::string_view input,
                            Errc code = Errc::invalid_argument) {
  constexpr std::size_t kMaxMessage = 2000;
  const std::string_view message = error.what();
  require(error.code() == code, "bad input has the code that it should", input);
  require(message.find(about) != std::string_view::npos, "an error names what was read", input);
  require(message.size() <= kMaxMessage, "an error is short", input);
  require(message.find('\n') == std::string_view::npos, "an error is one line", input);
}

/// The first bytes of `text` as a T; zeros where it is too short.
template <typename T>
T leading(std::string_view text) {
  T value{};
  std::memcpy(&value, text.data(), text.size() < sizeof value ? text.size() : sizeof value);
  return value;
}

}  // namespace arrakis::inline v1
