/// arrakis-soak: everything that can happen to readers and publishers, at random, against a model.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <string>

#include "arrakis/log.hpp"
#include "soak/journal.hpp"
#include "soak/soak.hpp"

int main(int argc, char** argv) {
  using arrakis::soak::Journal;
  using arrakis::soak::Soak;

  CLI::App app(
      "Holds readers against what was published while brokers, topics and readers misbehave at "
      "random. Exit status 1 when something was lost, repeated, reordered, wrong or too late.",
      "arrakis-soak");
  double minutes = 2;
  double recovery = 5;
  std::uint64_t seed = std::random_device()();
  std::string output = "build/soak";
  app.add_option("--minutes", minutes, "How long (2)")->check(CLI::Range(0.01, 1e5));
  app.add_option("--seed", seed, "Decides what happens; by default another one each time");
  app.add_option("--recovery", recovery, "Seconds in which everything must flow again (5)")
      ->check(CLI::Range(0.1, 1e4));
  app.add_option("--output", output, "Folder for the folder of this run's files (build/soak)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  const std::filesystem::path folder = std::filesystem::path(output) / std::to_string(seed);
  std::printf("soak of %g min, seed %llu\n", minutes, static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  Journal journal(true);
  std::filesystem::create_directories(folder);
  // What the library has to say is read only when something went wrong.
  std::ofstream library_log(folder / "library.log");
  std::mutex log_mutex;
  arrakis::set_log_sink(
      [&](arrakis::LogLevel level, std::string_view component, std::string_view message) {
        const std::lock_guard lock(log_mutex);
        library_log << fmt::format("{:8.2f} s  {} {}: {}", journal.now(), to_string(level),
                                   component, message)
                    << std::endl;
      },
      std::getenv("ARRAKIS_KAFKA_DEBUG") != nullptr ? arrakis::LogLevel::debug
                                                    : arrakis::LogLevel::info);
  try {
    Soak soak({.length = arrakis::from_seconds(60 * minutes),
               .seed = seed,
               .recovery = arrakis::from_seconds(recovery)},
              journal);
    soak.run();
    if (!journal.has_failed()) std::printf("%s", soak.summary().c_str());
  } catch (const std::exception& error) {
    journal.violation(error.what());
  }
  try {
    journal.write(folder);
    std::printf("%s files     %s\n", journal.summary().c_str(), folder.c_str());
  } catch (const std::exception& error) {
    journal.violation(error.what());
  }
  arrakis::set_log_sink({});
  const auto failure = journal.failure();
  if (!failure) {
    std::printf("soak of seed %llu: nothing was lost without being counted\n",
                static_cast<unsigned long long>(seed));
    return 0;
  }
  std::printf("FAILED, seed %llu: %s\n", static_cast<unsigned long long>(seed), failure->c_str());
  return 1;
}
