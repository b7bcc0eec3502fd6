/// arrakis-bench: what reading and publishing cost, each run one line of JSON.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "arrakis/version.hpp"
#include "bench/detector.hpp"
#include "bench/drain.hpp"
#include "bench/encode.hpp"
#include "bench/flight.hpp"
#include "bench/latency.hpp"
#include "bench/memory.hpp"
#include "bench/versions.hpp"
#include "common/help_formatter.hpp"
#include "common/program.hpp"

namespace {

using namespace arrakis::bench;  // NOLINT(google-build-using-namespace): this program's own

/// A subcommand's work: the line of JSON that it prints.
using Work = std::function<std::string()>;

void add_plain_malloc(CLI::App& app, const std::function<void()>& use) {
  app.add_flag_callback("--plain-malloc", use, "Leave malloc's thresholds as they are");
}

Work add_drain(CLI::App& app) {
  const std::map<std::string, DrainMode> modes = {{"raw", DrainMode::raw},
                                                  {"blocks", DrainMode::blocks},
                                                  {"mux", DrainMode::mux},
                                                  {"visit", DrainMode::visit}};
  const auto options = std::make_shared<DrainOptions>();
  app.add_option("--kafka-url", options->bootstrap, "Broker, HOST:PORT[,...]")->required();
  app.add_option("--meta", options->metadata_file, "What fill_topics.py printed")->required();
  app.add_option("--mode", options->mode,
                 "raw: decode; blocks: one block a message; mux: one time grid; visit: mux and "
                 "every channel's samples looked up")
      ->transform(CLI::CheckedTransformer(modes, CLI::ignore_case).description("MODE"))
      ->required();
  app.add_option("--fraction", options->fraction, "Share of the channels to ask for")
      ->check(CLI::Range(1e-6, 1.0));
  add_plain_malloc(app, [options] { options->tune_allocator = false; });
  return [options] { return drain(*options); };
}

const std::map<std::string, Shape>& named_shapes() {
  using arrakis::DataType;
  static const std::map<std::string, Shape> kShapes = {
      {"fast", {.partitions = 1, .channels = 10, .rate = 16384, .type = DataType::float64}},
      {"mid", {.partitions = 1, .channels = 100, .rate = 256, .type = DataType::float32}},
      {"wide", {.partitions = 1, .channels = 1000, .rate = 16, .type = DataType::float32}},
  };
  return kShapes;
}

std::string check_type(const std::string& text) {
  return arrakis::parse_data_type(text) ? "" : "'" + text + "' is no sample type";
}

Work add_encode(CLI::App& app) {
  struct Options {
    std::string set = "wide";
    std::size_t channels = 0;
    int rate = 0;
    std::string type;
    EncodeOptions encode;
  };
  const auto options = std::make_shared<Options>();
  app.add_option("--set", options->set,
                 "wide: 1000 channels of 16 Hz float32; mid: 100 of 256 Hz float32; fast: 10 of "
                 "16384 Hz float64 (wide)")
      ->check(CLI::IsMember({"wide", "mid", "fast"}).description("SET"));
  app.add_option("--channels", options->channels, "Channels instead of the set's")
      ->check(CLI::Range(1, 1'000'000).description("N"));
  app.add_option("--rate", options->rate, "Rate instead of the set's, a multiple of 16 Hz")
      ->check(CLI::Range(16, 1 << 20).description("HZ"));
  app.add_option("--type", options->type, "Sample type instead of the set's: int16, float64, ...")
      ->check(CLI::Validator(check_type, "TYPE"));
  app.add_option("--seconds", options->encode.seconds, "How long to encode (2)")
      ->check(CLI::Range(0.0, 3600.0).description("S"));
  add_plain_malloc(app, [options] { options->encode.tune_allocator = false; });
  return [options] {
    EncodeOptions& encode_options = options->encode;
    encode_options.name = options->set;
    encode_options.shape = named_shapes().at(options->set);
    Shape& shape = encode_options.shape;
    if (options->channels != 0) shape.channels = options->channels;
    if (options->rate != 0) shape.rate = options->rate;
    if (!options->type.empty()) shape.type = *arrakis::parse_data_type(options->type);
    return encode(encode_options);
  };
}

Work add_latency(CLI::App& app) {
  const auto options = std::make_shared<LatencyOptions>();
  app.add_option("--kafka-url,--broker", options->bootstrap,
                 "Broker, HOST:PORT[,...], on which topics are made and deleted (one inside this "
                 "process, whose fetches poll)");
  app.add_option("--strides", options->strides,
                 "Strides to measure of Arrakis, and as many of librdkafka alone (2000)")
      ->check(CLI::Range(1, 10'000'000).description("N"));
  app.add_option("--pace", options->pace, "Strides a second, a divisor of 10^9 (16)")
      ->check(CLI::Range(1, 1000).description("N"));
  app.add_option("--turn", options->turn,
                 "Strides of one before it is the other's turn, after 16 that are not measured "
                 "(100)")
      ->check(CLI::Range(1, 10'000'000).description("N"));
  app.add_option("--withhold-every", options->withhold_every,
                 "After so many strides a partition stays out until a deadline has passed; 0: "
                 "never (50)")
      ->check(CLI::Range(0, 10'000'000).description("N"));
  return [options] { return latency(*options); };
}

Work add_detector(CLI::App& app) {
  const std::map<std::string, DetectorSource> sources = {{"memory", DetectorSource::memory},
                                                         {"broker", DetectorSource::broker}};
  const auto options = std::make_shared<DetectorOptions>();
  app.add_option("--source", options->source,
                 "memory: messages that lie there already, the cost of our side alone; broker: "
                 "through Kafka, from a publisher in another process (memory)")
      ->transform(CLI::CheckedTransformer(sources, CLI::ignore_case).description("SOURCE"));
  app.add_option("--kafka-url,--broker", options->bootstrap,
                 "Broker, HOST:PORT[,...], on which topics are made and deleted; implies --source "
                 "broker (one inside the publisher's process)")
      ->each([options](const std::string&) { options->source = DetectorSource::broker; });
  app.add_option("--partitions", options->partitions, "Partitions, a topic each (1000)")
      ->check(CLI::Range(1, 100'000).description("N"));
  app.add_option("--channels", options->channels,
                 "Channels of 16 Hz float32 in each partition (100)")
      ->check(CLI::Range(1, 100'000).description("N"));
  app.add_option("--seconds", options->seconds, "How long to measure (10)")
      ->check(CLI::Range(0.0, 86400.0).description("S"));
  app.add_option("--property", options->properties,
                 "A property of librdkafka's for the reader: --property fetch.min.bytes 100000")
      ->type_name("NAME VALUE");
  app.add_option("--bursts", options->bursts,
                 "Bursts in which a stride's messages come out of memory, over half a stride (10)")
      ->check(CLI::Range(1, 1000).description("N"));
  app.add_flag("--visit", options->visit, "Look up every channel's samples in every block");
  add_plain_malloc(app, [options] { options->tune_allocator = false; });
  return [options] { return detector(*options); };
}

Work add_memory(CLI::App& app) {
  const auto options = std::make_shared<MemoryOptions>();
  app.add_option("--kafka-url,--broker", options->bootstrap,
                 "Broker, HOST:PORT[,...], on which topics are made and deleted (one inside the "
                 "publisher's process)");
  app.add_option("--minutes", options->minutes, "Of data, published as fast as it goes (60)")
      ->check(CLI::Range(1, 100'000).description("N"));
  app.add_option("--partitions", options->partitions, "Partitions, a topic each (10)")
      ->check(CLI::Range(1, 100'000).description("N"));
  app.add_option("--channels", options->channels,
                 "Channels of 16 Hz float32 in each partition (100)")
      ->check(CLI::Range(1, 100'000).description("N"));
  return [options] { return memory(*options); };
}

Work add_flight(CLI::App& app) {
  const auto options = std::make_shared<FlightOptions>();
  app.add_option("--channels", options->shape.channels, "Channels of float32 in a batch (64)")
      ->check(CLI::Range(1, 100'000).description("N"));
  app.add_option("--rate", options->shape.rate, "Their rate, a multiple of 16 Hz (65536)")
      ->check(CLI::Range(16, 1 << 24).description("HZ"));
  app.add_option("--batches", options->batches, "Batches a round (1000)")
      ->check(CLI::Range(1, 1'000'000).description("N"));
  app.add_option("--rounds", options->rounds, "Rounds of either side, in turn (5)")
      ->check(CLI::Range(1, 10'000).description("N"));
  app.add_flag("--visit", options->visit, "Add up every sample, on either side");
  add_plain_malloc(app, [options] { options->tune_allocator = false; });
  return [options] { return flight(*options); };
}

}

int main(int argc, char** argv) {
  CLI::App app("Measures the Arrakis library; each run prints one line of JSON.", "arrakis-bench");
  app.formatter(std::make_shared<arrakis::console::HelpFormatter>());
  app.set_version_flag("--version", std::string(arrakis::version()));
  app.require_subcommand(1);

  Work work;
  const auto add = [&](const char* name, const char* description, Work (*add_options)(CLI::App&)) {
    CLI::App* command = app.add_subcommand(name, description);
    const Work its_work = add_options(*command);
    command->callback([&work, its_work] { work = its_work; });
  };
  add("drain", "Read everything that fill_topics.py wrote", add_drain);
  add("encode", "Make the messages of blocks", add_encode);
  add("flight", "Read one stream over Flight, in turns with Arrow's client alone", add_flight);
  add("latency", "Publish 100 channels and time the way to a block, in turns with librdkafka alone",
      add_latency);
  add("detector", "Read 1000 partitions of 100 channels, 16 blocks a second", add_detector);
  add("memory", "Publish an hour of data to a reader whose consumer has stalled", add_memory);
  add("versions", "What was built, with what", [](CLI::App&) { return Work(versions); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? arrakis::console::kSuccess : arrakis::console::kUsageError;
  }
  return arrakis::console::run_program([&] {
    std::puts(work().c_str());
    return arrakis::console::kSuccess;
  });
}
