#include "publish_command.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <iostream>
#include <limits>
#include <utility>

#include "arrakis/error.hpp"
#include "channel_arguments.hpp"
#include "common/program.hpp"
#include "kafka_properties.hpp"
#include "pacer.hpp"

namespace arrakis::cli {
namespace {

constexpr std::string_view kStandardInput = "-";
constexpr double kAnyReal = std::numeric_limits<double>::max();
constexpr double kMegabyte = 1e6;
/// How long is waited for the last blocks.
constexpr Duration kFlushTimeout = std::chrono::seconds(10);

/// The first block that was not delivered. Completions come from inside the publisher's calls.
class FirstFailure {
 public:
  void see(const std::optional<Error>& error) {
    if (error && !failure_) failure_ = error;
  }
  void rethrow() const {
    if (failure_) throw Error(*failure_);
  }

 private:
  std::optional<Error> failure_;
};

void report(const PublisherStats& stats, console::ProgramLog& log) {
  log.write(LogLevel::info,
            fmt::format("published {} blocks, {} messages, {:.1f} MB", stats.blocks, stats.messages,
                        static_cast<double>(stats.bytes) / kMegabyte));
}

}  // namespace

void PublishCommand::add_options(OptionAdder& add) {
  add.positional("INPUT", input_,
                 "File of blocks, as 'stream -o' (Arrow, Parquet) or 'stream --json' write them; "
                 "'-' is standard input");
  add.value("--publisher", publisher_id_, "ID", "Publish as this publisher; required");
  add.value("--replay-id", replay_id_, "ID", "Publish into this replay");
  add.value("--channels", channels_, "FILE",
            "Register these channels first, as JSON, one a line (default: those of INPUT that the "
            "server doesn't know)");
  add.value("--start", start_text_, "TIME",
            "When the first block begins (default: as in INPUT; generated: now)");
  add.value("--duration", duration_text_, "SPAN", "Stop after so much (default: all there is)");
  add.value("--rate", rate_text_, "FACTOR",
            "How fast: 1 as time passes, 10 ten times as fast, 0 as fast as it goes (default: 1, "
            "from standard input 0)");
  add.flag("--fill-missing", fill_missing_, "Publish channels that a block lacks as gaps");
  add.values("-X", property_texts_, "KEY=VALUE",
             "Property for librdkafka, such as compression.type=zstd; may be repeated");
  add.group("Generated signals");
  add.value("--generate", waveform_, "sine|chirp|noise|ramp",
            "Instead of INPUT: a signal in all of the publisher's channels");
  add.value("--amplitude", amplitude_, "NUMBER", "Of the signal (default: 1)");
  add.value("--offset", offset_, "NUMBER", "Added to it (default: 0)");
  add.value("--frequency", frequency_, "HZ", "Of sine; where chirp begins (default: 1)");
  add.value("--end-frequency", end_frequency_, "HZ", "Where chirp ends (default: 10)");
  add.value("--period", period_, "SPAN", "Of chirp and ramp (default: 10 s)");
  add.value("--seed", seed_, "INT", "Of noise and drop-outs (default: 0)");
  add.value("--dropout", dropout_, "SHARE", "How much of the time is gaps, 0 to 1 (default: 0)");
  add.value("--dropout-length", dropout_length_, "SPAN", "Length of a gap (default: 1 s)");
}

void PublishCommand::check(const ArgumentReader& read) {
  if (!publisher_id_ || publisher_id_->empty()) refuse("--publisher", "is required");
  check_input();
  start_ = read.time("--start", start_text_);
  duration_ = ArgumentReader::span("--duration", duration_text_);
  rate_ = ArgumentReader::real("--rate", rate_text_, 0, kAnyReal)
              .value_or(input_ == kStandardInput ? 0 : 1);
  properties_ = kafka_properties(property_texts_);
  if (waveform_) generator_ = generator_options();
}

void PublishCommand::check_input() const {
  if (waveform_ && input_) refuse("INPUT", "not allowed with --generate");
  if (!waveform_ && !input_) refuse("INPUT", "is required, or --generate");
  if (input_ == kStandardInput && channels_ == kStandardInput) {
    refuse("--channels", "and INPUT can't both be read from standard input");
  }
  if (waveform_) return;
  const std::initializer_list<std::pair<const char*, const std::optional<std::string>*>> of_signals{
      {"--amplitude", &amplitude_}, {"--offset", &offset_},
      {"--frequency", &frequency_}, {"--end-frequency", &end_frequency_},
      {"--period", &period_},       {"--seed", &seed_},
      {"--dropout", &dropout_},     {"--dropout-length", &dropout_length_}};
  for (const auto& [name, text] : of_signals) {
    if (text->has_value()) refuse(name, "requires --generate");
  }
}

GeneratorOptions PublishCommand::generator_options() const {
  GeneratorOptions options;
  const std::optional<Waveform> waveform = parse_waveform(*waveform_);
  if (!waveform) {
    refuse("--generate", fmt::format("'{}' is none of sine, chirp, noise, ramp", *waveform_));
  }
  options.waveform = *waveform;
  const auto real = [](const char* name, const std::optional<std::string>& text, double least,
                       double& target) {
    target = ArgumentReader::real(name, text, least, kAnyReal).value_or(target);
  };
  real("--amplitude", amplitude_, -kAnyReal, options.amplitude);
  real("--offset", offset_, -kAnyReal, options.offset);
  real("--frequency", frequency_, 0, options.frequency);
  real("--end-frequency", end_frequency_, 0, options.end_frequency);
  options.period = ArgumentReader::span("--period", period_).value_or(options.period);
  options.seed = static_cast<std::uint64_t>(
      ArgumentReader::integer("--seed", seed_, 0, std::numeric_limits<std::int64_t>::max())
          .value_or(0));
  options.dropout = ArgumentReader::real("--dropout", dropout_, 0, 1).value_or(0);
  options.dropout_length =
      ArgumentReader::span("--dropout-length", dropout_length_).value_or(options.dropout_length);
  return options;
}

std::optional<BlockReader> PublishCommand::open_input() const {
  if (!input_) return std::nullopt;
  if (*input_ == kStandardInput) return BlockReader(std::cin, "standard input");
  return BlockReader(*input_);
}

std::optional<ChannelSet> PublishCommand::channels_to_register(
    const std::optional<BlockReader>& input) const {
  if (channels_) return read_metadata(*channels_);
  if (input) return input->channels();
  return std::nullopt;
}

std::unique_ptr<BlockFeed> PublishCommand::make_feed(const Publisher& publisher,
                                                     std::optional<BlockReader> input) const {
  const Duration stride = publisher.stride();
  const std::optional<GpsTime> start =
      start_ ? std::optional(start_->floor_to(stride)) : std::nullopt;
  if (input) return std::make_unique<FileFeed>(std::move(*input), stride, start);
  return std::make_unique<GeneratorFeed>(Generator(publisher.channels(), *generator_), stride,
                                         start.value_or(system_clock().now().floor_to(stride)));
}

int PublishCommand::run(Session& session) {
  std::optional<BlockReader> input = open_input();
  PublisherOptions options;
  options.fill_missing = fill_missing_;
  options.properties = properties_;
  Publisher publisher(*publisher_id_, session.client, replay_id_, options);
  publisher.register_channels(channels_to_register(input));
  const std::unique_ptr<BlockFeed> feed = make_feed(publisher, std::move(input));
  session.log.write(LogLevel::info, fmt::format("publishing {} channel(s) as {}",
                                                publisher.channels().size(), *publisher_id_));
  publish_all(session, publisher, *feed);
  report(publisher.stats(), session.log);
  const std::optional<int> signal = session.signals.received();
  return signal ? console::StopSignals::status(*signal) : console::kSuccess;
}

void PublishCommand::publish_all(Session& session, Publisher& publisher, BlockFeed& feed) const {
  Pacer pacer(rate_);
  const console::ScopedStopAction stop_on_signal(session.signals, [&pacer] { pacer.stop(); });
  FirstFailure failure;
  std::optional<GpsTime> stop_at;
  while (!pacer.stopped()) {
    const std::optional<SeriesBlock> block = feed.next();
    if (!block) break;
    if (!stop_at && duration_) stop_at = block->time() + *duration_;
    if (stop_at && block->time() >= *stop_at) break;
    if (!pacer.wait(block->time(), block->end())) break;
    publisher.publish_async(
        *block,
        [&failure](const SeriesBlock&, const std::optional<Error>& error) { failure.see(error); });
    failure.rethrow();
  }
  const bool all_confirmed = publisher.flush(kFlushTimeout);
  failure.rethrow();
  if (!all_confirmed) {
    throw Error(Errc::timeout,
                fmt::format("{} blocks were not confirmed within {}", publisher.stats().in_flight,
                            format_duration(kFlushTimeout)));
  }
}

}
