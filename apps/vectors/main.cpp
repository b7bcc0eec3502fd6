/// arrakis-vectors DIR: replays the golden vectors in DIR and says where this build differs.

#include <cstdio>
#include <exception>
#include <iostream>
#include <string_view>

#include "vectors/runner.hpp"

namespace {

constexpr int kUsageError = 2;
constexpr std::string_view kUsage = "usage: arrakis-vectors DIR\n";

int run(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::cout << kUsage << "Replays the golden vectors in DIR; exit status 1 when one differs.\n";
    return 0;
  }
  if (argc != 2) {
    std::cerr << kUsage;
    return kUsageError;
  }
  const arrakis::vectors::Summary summary = arrakis::vectors::replay_folder(argv[1], std::cout);
  if (!summary.problem.empty()) {
    std::cerr << "arrakis-vectors: " << summary.problem << "\n" << kUsage;
    return kUsageError;
  }
  return summary.failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "arrakis-vectors: %s\n", error.what());
    return 1;
  }
}
