#pragma once

/// Inside the library a failure that is expected is a value; at the public edge it becomes
/// arrakis::Error.

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "arrakis/error.hpp"

namespace arrakis::inline v1 {

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> failure(Errc code, const std::string& message) {
  return tl::unexpected<Error>(Error(code, message));
}

/// The value, or the error thrown.
template <typename T>
T value_or_throw(Result<T>&& result) {
  if (!result) throw std::move(result).error();
  return *std::move(result);
}

}  // namespace arrakis::inline v1
