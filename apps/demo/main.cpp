/// arrakis-demo: a synthetic detector publishes into a Kafka broker, and some of its channels are
/// streamed out again, live.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arrakis/error.hpp"
#include "arrakis/kafka.hpp"
#include "arrakis/stream.hpp"
#include "common/help_formatter.hpp"
#include "common/output.hpp"
#include "common/program.hpp"
#include "common/program_log.hpp"
#include "common/screen.hpp"
#include "common/stop_signals.hpp"
#include "demo/broker.hpp"
#include "demo/detector.hpp"
#include "demo/publishing.hpp"
#include "demo/tally.hpp"
#include "demo/view.hpp"

namespace arrakis::demo {
namespace {

constexpr Duration kFirstBlockLimit = std::chrono::seconds(15);
constexpr Duration kSilenceLimit = std::chrono::seconds(15);
constexpr Duration kLookInterval = std::chrono::milliseconds(250);

struct Options {
  std::optional<Duration> length;
  std::string kafka_scripts;  // empty: the embedded broker
  std::uint64_t seed = 1;
};

/// The exit status when there is nothing to run.
std::optional<int> parse(int argc, char** argv, Options& options) {
  CLI::App app(
      "A synthetic detector of three publishers writes 16 blocks a second into a Kafka broker; "
      "some "
      "of its channels are streamed out again onto one time grid and shown live.",
      "arrakis-demo");
  app.formatter(std::make_shared<console::HelpFormatter>());
  std::string seconds;
  CLI::Option* const length =
      app.add_option("--seconds", seconds, "Stop after so much data (default: at Ctrl-C)")
          ->type_name("N");
  app.add_option(
         "--kafka", options.kafka_scripts,
         "Use a real broker, started by DIR/start.sh and stopped by DIR/stop.sh, instead of "
         "the one inside this program")
      ->type_name("DIR");
  app.add_option("--seed", options.seed, "Other seeds make other signals (default 1)")
      ->type_name("N");
  try {
    app.parse(argc, argv);
    if (length->count() == 0) return std::nullopt;
    options.length = parse_duration(seconds);
    if (*options.length > Duration::zero()) return std::nullopt;
    console::print_error("--seconds: must be above zero");
  } catch (const CLI::CallForHelp&) {
    console::Output(STDOUT_FILENO).write(app.help());
    return console::kSuccess;
  } catch (const CLI::Error& error) {
    console::print_error(error.what());
  } catch (const Error& error) {
    console::print_error(fmt::format("--seconds: {}", error.what()));
  }
  return console::kUsageError;
}

std::vector<std::string> topics_of(const ChannelSet& channels) {
  std::set<std::string> topics;
  for (const Channel& channel : channels) topics.insert(topic_of(channel));
  return {topics.begin(), topics.end()};
}

/// The detector's publishers at work.
class Publishers {
 public:
  Publishers(std::vector<Instrument> instruments, const std::string& bootstrap) {
    for (Instrument& instrument : instruments) {
      threads_.push_back(std::make_unique<PublishingThread>(std::move(instrument), bootstrap,
                                                            [this] { failed_ = true; }));
    }
  }
  /// Throws Error when one of them has failed.
  void check() const {
    if (!failed_) return;
    for (const auto& thread : threads_) {
      if (const auto failure = thread->failure()) throw Error(Errc::delivery_failed, *failure);
    }
  }
  void wait_for_first_blocks() {
    for (const auto& thread : threads_) {
      const bool came = thread->wait_for_first_block(kFirstBlockLimit);
      check();
      if (!came) throw Error(Errc::timeout, "the broker confirmed no block in time");
    }
  }
  void stop() {
    for (const auto& thread : threads_) thread->stop();
  }

 private:
  std::atomic<bool> failed_ = false;
  std::vector<std::unique_ptr<PublishingThread>> threads_;
};

class Demo {
 public:
  Demo(const Options& options, console::StopSignals& signals)
      : options_(options),
        signals_(signals),
        output_(STDOUT_FILENO),
        live_(console::can_redraw(STDOUT_FILENO)),
        log_({LogLevel::warning}) {}

  int run() {
    // The clock of the detector starts with the broker up; until then only the topics matter.
    const std::unique_ptr<Broker> broker = start_broker();
    if (!broker) return console::kSuccess;
    Detector detector(system_clock().now().ceil_to(kStride), options_.seed);
    introduce(detector, *broker);
    Publishers publishers(detector.take_instruments(), broker->bootstrap());
    publishers.wait_for_first_blocks();
    Tally tally(detector);
    if (!signals_.received()) stream(detector, *broker, publishers, tally);
    publishers.stop();
    output_.write("\n");
    for (const std::string& line : tally.summary()) output_.write(" " + line + "\n");
    return tally.blocks() > 0 && tally.lost_samples() == 0 ? console::kSuccess : console::kFailure;
  }

 private:
  std::unique_ptr<Broker> start_broker() {
    if (options_.kafka_scripts.empty()) {
      return start_embedded_broker(topics_of(Detector({}, options_.seed).channels()));
    }
    output_.write("Starting a Kafka broker ...\n");
    return start_real_broker(options_.kafka_scripts, [this] { return !!signals_.received(); });
  }

  void introduce(const Detector& detector, const Broker& broker) {
    output_.write(
        fmt::format("Arrakis demo\n"
                    "  detector  3 publishers, {} synthetic channels, 16 blocks a second\n"
                    "  broker    {}\n"
                    "  stream    {} of the channels on one time grid, gaps made explicit\n\n",
                    detector.channels().size(), broker.description(), shown_channels().size()));
  }

  void stream(const Detector& detector, const Broker& broker, Publishers& publishers,
              Tally& tally) {
    const ChannelSet channels = detector.channels().select(shown_channels());
    StreamOptions options;
    options.duration = options_.length;
    ReaderOptions reader_options;
    reader_options.properties = broker.reader_properties();
    BlockStream blocks(
        std::make_unique<KafkaReader>(broker.bootstrap(), channels, std::move(reader_options)),
        options);
    const console::ScopedStopAction cancel_on_signal(signals_, [&blocks] { blocks.cancel(); });
    const std::unique_ptr<View> view = make_view(channels, blocks.stride());

    const Clock& clock = system_clock();
    Duration last_block = clock.monotonic();
    while (true) {
      const BlockStream::Next next = blocks.next(kLookInterval);
      if (next.status == BlockStream::Status::end) break;
      publishers.check();
      if (next) {
        tally.add(next.block, clock.now() - next.block.end());
        view->show(next.block, tally);
        last_block = clock.monotonic();
      } else {
        view->idle();
        if (clock.monotonic() - last_block > kSilenceLimit) {
          throw Error(Errc::stalled, "no block came for 15 s");
        }
      }
    }
    view->finish();
  }

  std::unique_ptr<View> make_view(const ChannelSet& channels, Duration stride) {
    if (!live_) return std::make_unique<LineView>(output_);
    return std::make_unique<TableView>(output_, log_, channels, stride);
  }

  const Options& options_;
  console::StopSignals& signals_;
  console::Output output_;
  bool live_;
  console::ProgramLog log_;
};

int run(int argc, char** argv) {
  Options options;
  if (const std::optional<int> status = parse(argc, argv, options)) return *status;
  // What is started here must be ended in good order, so a signal is only noted.
  console::StopSignals signals([] {});
  return Demo(options, signals).run();
}

}  // namespace
}

int main(int argc, char** argv) {
  return arrakis::console::run_program([&] { return arrakis::demo::run(argc, argv); });
}
