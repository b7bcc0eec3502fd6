#include "common/program.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace arrakis::console {
namespace {

bool is_grpc_told(std::string_view level) {
  const char* value = std::getenv("GRPC_VERBOSITY");
  return value != nullptr && value == level;
}

TEST(Program, LibrariesDoNotWriteLinesOfTheirOwn) {
  ::unsetenv("GRPC_VERBOSITY");
  EXPECT_EQ(run_program([] { return is_grpc_told("NONE") ? 1 : 0; }), 1);
  ::setenv("GRPC_VERBOSITY", "INFO", 1);
  EXPECT_EQ(run_program([] { return is_grpc_told("INFO") ? 1 : 0; }), 1);
}

TEST(Program, WhatIsThrownEndsItWithAnError) {
  EXPECT_EQ(run_program([]() -> int { throw std::runtime_error("why"); }), kFailure);
}

}
}
