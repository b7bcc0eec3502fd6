/// arrakis-bench: what reading costs, as one line of JSON.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <map>
#include <string>

#include "arrakis/version.hpp"
#include "bench/drain.hpp"

int main(int argc, char** argv) {
  using arrakis::bench::DrainMode;

  CLI::App app("Measures the Arrakis library; prints one line of JSON.", "arrakis-bench");
  app.set_version_flag("--version", std::string(arrakis::version()));
  app.require_subcommand(1);

  arrakis::bench::DrainOptions options;
  const std::map<std::string, DrainMode> modes = {{"raw", DrainMode::raw},
                                                  {"blocks", DrainMode::blocks},
                                                  {"mux", DrainMode::mux},
                                                  {"visit", DrainMode::visit}};
  CLI::App* drain = app.add_subcommand("drain", "Read everything that fill_topics.py wrote");
  drain->add_option("--kafka-url", options.bootstrap, "Broker, HOST:PORT[,...]")->required();
  drain->add_option("--meta", options.metadata_file, "What fill_topics.py printed")->required();
  drain
      ->add_option("--mode", options.mode,
                   "raw: decode; blocks: one block a message; mux: one time grid; visit: mux and "
                   "every channel's samples looked up")
      ->transform(CLI::CheckedTransformer(modes, CLI::ignore_case).description("MODE"))
      ->required();
  drain->add_option("--fraction", options.fraction, "Share of the channels to ask for")
      ->check(CLI::Range(1e-6, 1.0));
  drain->add_flag("!--plain-malloc", options.tune_allocator,
                  "Leave malloc's thresholds as they are");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    std::puts(arrakis::bench::drain(options).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
