#include "common/program.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace arrakis::console {
namespace {

TEST(Program, LibrariesDoNotWriteLinesOfTheirOwn) {
  ::unsetenv("GRPC_VERBOSITY");
  EXPECT_EQ(run_program([] { return std::getenv("GRPC_VERBOSITY") == std::string_view("NONE"); }),
            1);
  ::setenv("GRPC_VERBOSITY", "INFO", 1);
  EXPECT_EQ(run_program([] { return std::getenv("GRPC_VERBOSITY") == std::string_view("INFO"); }),
            1);
}

TEST(Program, WhatIsThrownEndsItWithAnError) {
  EXPECT_EQ(run_program([]() -> int { throw std::runtime_error("why"); }), kFailure);
}

}
}
