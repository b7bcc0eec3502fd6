#pragma once

/// What every program's main does around its work.

#include <functional>
#include <string_view>

namespace arrakis::console {

/// Exit statuses of programs.
constexpr int kSuccess = 0;
constexpr int kFailure = 1;
constexpr int kUsageError = 2;

/// Runs `body` and returns its status. An exception becomes one line "error: …" on standard error
/// and kFailure; when nobody reads the output any more, kSuccess and not a word.
int run_program(const std::function<int()>& body);

/// Prints "<kind>: <message>" as one line on standard error.
void print_error(std::string_view kind, std::string_view message);
/// The same, of the kind "error".
void print_error(std::string_view message);

}
