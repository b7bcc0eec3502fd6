#include "common/program.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "common/output.hpp"
#include "common/text.hpp"

namespace arrakis::console {

int run_program(const std::function<int()>& body) {
  // gRPC would write its own lines about what the error says anyway.
  ::setenv("GRPC_VERBOSITY", "NONE", 0);  // NOLINT(concurrency-mt-unsafe): nothing runs yet
  try {
    return body();
  } catch (const OutputClosed&) {
    return kSuccess;
  } catch (const std::exception& error) {
    print_error(error.what());
    return kFailure;
  }
}

void print_error(std::string_view message) { print_error("error", message); }

void print_error(std::string_view kind, std::string_view message) {
  const std::string line = std::string(kind) + ": " + printable(message) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}
