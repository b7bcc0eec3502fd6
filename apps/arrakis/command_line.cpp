#include "command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <utility>

#include "arrakis/error.hpp"
#include "arrakis/version.hpp"
#include "common/help_formatter.hpp"

namespace arrakis::cli {
namespace {

constexpr const char* kGapPolicyVariable = "ARRAKIS_ONGAP";
constexpr const char* kLogLevelVariable = "ARRAKIS_LOG_LEVEL";
constexpr std::string_view kStandardInput = "-";

constexpr const char* kFooter = R"(Environment:
  ARRAKIS_ONGAP        default of --on-gap
  ARRAKIS_LOG_LEVEL    least level of log lines: debug, info (default), warning,
                       error, critical, or a number; -q and -v win over it
  ARRAKIS_KAFKA_DEBUG  librdkafka's debug contexts, such as "broker,fetch"
  COLUMNS, LINES       size of the live table, instead of the terminal's
  NO_COLOR             when not empty, the live table has no colours
)";

constexpr const char* kStreamFooter = R"(
Output: on a terminal a table that is redrawn as blocks arrive; else one line a
block (time in GPS seconds, latency, then each channel with its first and last
sample); with --json one object a line. Latency is now minus the block's start,
so it includes the block's own length. Logs go to standard error.

Times: GPS seconds ("1126259462.391", exact to the nanosecond), ISO 8601
("2015-09-14T09:50:45", UTC unless a zone is given), "now", "yesterday",
"@UNIX", "-10m", "2 minutes ago".
Spans: seconds ("0.25") or numbers with units ("10m", "1h30m", "250ms").

Exit status: 0 done, or nobody reads the output any more; 1 failed; 2 unusable
command line; 130 stopped by Ctrl-C, 143 by SIGTERM, in both cases after
complete output.

Example:
  arrakis stream --kafka-url localhost:9092 --metadata channels.jsonl \
    'H1:CAL-*' --duration 10s
)";

/// The options as written. Checked and converted once all are known.
struct RawOptions {
  bool quiet = false;
  bool verbose = false;
  std::string kafka_url, metadata, start, end, duration, stride, on_gap;
  std::vector<std::string> channels, properties;
  bool json = false;
  bool latency = false;
  bool no_fast_forward = false;
};

struct Options {
  CLI::Option* start;
  CLI::Option* end;
  CLI::Option* duration;
  CLI::Option* stride;
  CLI::Option* on_gap;
};

[[noreturn]] void refuse(std::string_view argument, std::string_view reason) {
  throw CLI::ValidationError(fmt::format("{}: {}", argument, reason), CLI::ExitCodes::InvalidError);
}

/// `parse(text)`, with what it throws turned into a usage error that names the argument.
template <typename Parse>
auto parse_argument(std::string_view argument, Parse&& parse) {
  try {
    return parse();
  } catch (const Error& error) {
    refuse(argument, error.what());
  }
}

GpsTime time_argument(std::string_view argument, std::string_view text, GpsTime now) {
  const GpsTime time = parse_argument(argument, [&] { return parse_time(text, now); });
  if (time < GpsTime()) refuse(argument, fmt::format("'{}' is before the GPS epoch", text));
  return time;
}

Duration span_argument(std::string_view argument, std::string_view text) {
  const Duration span = parse_argument(argument, [&] { return parse_duration(text); });
  if (span <= Duration::zero()) refuse(argument, fmt::format("'{}' is not above zero", text));
  return span;
}

GapPolicy gap_policy(const RawOptions& raw, const Options& options,
                     const Environment& environment) {
  if (options.on_gap->count() > 0) {
    return parse_argument("--on-gap", [&] { return parse_gap_policy(raw.on_gap); });
  }
  const char* text = environment(kGapPolicyVariable);
  if (text == nullptr || *text == '\0') return GapPolicy::fill;
  return parse_argument(kGapPolicyVariable, [&] { return parse_gap_policy(text); });
}

console::LogThreshold log_threshold(const RawOptions& raw, const Environment& environment) {
  if (raw.quiet && raw.verbose) refuse("--quiet", "excludes --verbose");
  if (raw.quiet) return {LogLevel::warning};
  if (raw.verbose) return {LogLevel::debug};
  const char* text = environment(kLogLevelVariable);
  if (text == nullptr || *text == '\0') return {};
  const std::optional<console::LogThreshold> threshold = console::parse_log_threshold(text);
  if (!threshold) refuse(kLogLevelVariable, fmt::format("'{}' is not a log level", text));
  return *threshold;
}

std::map<std::string, std::string> properties_of(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> properties;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      refuse("-X", fmt::format("'{}' is not of the form KEY=VALUE", text));
    }
    properties[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return properties;
}

void check_span(const StreamCommand& command, GpsTime now) {
  if (!command.end) return;
  if (command.start && *command.end <= *command.start) refuse("--end", "is not after --start");
  if (!command.start && *command.end <= now) refuse("--end", "is past, and there is no --start");
}

StreamCommand checked(const RawOptions& raw, const Options& options, const Environment& environment,
                      GpsTime now) {
  StreamCommand command;
  command.kafka_url = raw.kafka_url;
  command.metadata = raw.metadata;
  command.channels = raw.channels;
  command.json = raw.json;
  command.latency = raw.latency;
  command.fast_forward = !raw.no_fast_forward;
  if (command.kafka_url.empty()) refuse("--kafka-url", "is empty");
  if (command.metadata.empty()) refuse("--metadata", "is empty");
  if (command.metadata == kStandardInput &&
      std::count(raw.channels.begin(), raw.channels.end(), kStandardInput) > 0) {
    refuse("--metadata", "and CHANNEL can't both be read from standard input");
  }
  if (options.start->count() > 0) command.start = time_argument("--start", raw.start, now);
  if (options.end->count() > 0) command.end = time_argument("--end", raw.end, now);
  if (options.duration->count() > 0) command.duration = span_argument("--duration", raw.duration);
  if (options.stride->count() > 0) command.stride = span_argument("--stride", raw.stride);
  check_span(command, now);
  command.on_gap = gap_policy(raw, options, environment);
  command.properties = properties_of(raw.properties);
  return command;
}

Options add_stream_options(CLI::App& stream, RawOptions& raw) {
  stream
      .add_option("CHANNEL", raw.channels,
                  "Channel names, or globs with *, ? or [...]; '-' reads names from standard "
                  "input, one a line")
      ->required()
      ->type_name("");
  stream
      .add_option("--kafka-url", raw.kafka_url,
                  "Where to read: one or more Kafka brokers, separated by commas; required")
      ->required()
      ->type_name("HOST:PORT");
  stream
      .add_option("--metadata", raw.metadata,
                  "Channels as JSON, one a line, as 'find --json' prints them; '-' is standard "
                  "input; required")
      ->required()
      ->type_name("FILE");
  Options options{};
  options.start =
      stream.add_option("--start", raw.start, "First instant (default: now)")->type_name("TIME");
  options.end =
      stream.add_option("--end", raw.end, "Instant to stop at, exclusive (default: none)")
          ->type_name("TIME");
  options.duration =
      stream.add_option("--duration", raw.duration, "Length of the stream; not with --end")
          ->type_name("SPAN")
          ->excludes(options.end);
  options.on_gap =
      stream
          .add_option("--on-gap", raw.on_gap,
                      "What to do where no channel has data: fill (nulls, the default), skip "
                      "(leave the block out) or raise (stop with an error)")
          ->type_name("fill|skip|raise");
  options.stride = stream
                       .add_option("--stride", raw.stride,
                                   "Length of a block, a multiple of the channels' own (default)")
                       ->type_name("SPAN");
  stream.add_flag("--json", raw.json, "Print one JSON object a block");
  stream.add_flag("--latency", raw.latency,
                  "Print each block's latency on standard error (a live table shows it anyway)");
  stream.add_flag("--no-fast-forward", raw.no_fast_forward,
                  "Never skip data when the reader falls behind (it never does with --start)");
  stream
      .add_option("-X", raw.properties,
                  "Property for librdkafka, such as fetch.wait.max.ms=5; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  return options;
}

void add_log_options(CLI::App& app, RawOptions& raw) {
  app.add_flag("-q,--quiet", raw.quiet, "Log warnings and errors only");
  app.add_flag("-v,--verbose", raw.verbose, "Log everything, for debugging");
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments,
                               const Environment& environment, GpsTime now) {
  RawOptions raw;
  CLI::App app("Timeseries of many channels, as they are published.", "arrakis");
  app.set_version_flag("--version", std::string(version()), "Print the version");
  app.formatter(std::make_shared<console::HelpFormatter>());
  app.footer(kFooter);
  app.require_subcommand(0, 1);
  add_log_options(app, raw);
  CLI::App* stream = app.add_subcommand("stream", "Stream blocks of channels from Kafka");
  stream->footer(kStreamFooter + ("\n" + std::string(kFooter)));
  const Options options = add_stream_options(*stream, raw);
  add_log_options(*stream, raw);

  try {
    // CLI11 takes them from the back.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    const console::LogThreshold log = log_threshold(raw, environment);
    if (!stream->parsed()) return {PrintText{app.help()}, log};
    return {checked(raw, options, environment, now), log};
  } catch (const CLI::CallForHelp&) {
    const bool of_stream = stream->parsed();
    return {PrintText{of_stream ? stream->help("arrakis") : app.help()}, {}};
  } catch (const CLI::CallForVersion& call) {
    return {PrintText{std::string(call.what()) + "\n"}, {}};
  } catch (const CLI::Error& error) {
    return {UsageError{error.what()}, {}};
  }
}

std::string span_text(const StreamCommand& command) {
  const auto seconds = [](GpsTime time) { return format_time(time); };
  std::optional<GpsTime> end = command.end;
  if (command.start && command.duration) end = *command.start + *command.duration;
  if (command.start && end)
    return fmt::format("GPS [{}, {})", seconds(*command.start), seconds(*end));
  if (command.start) return fmt::format("from GPS {}", seconds(*command.start));
  if (end) return fmt::format("live until GPS {}", seconds(*end));
  if (command.duration) return fmt::format("live for {}", format_duration(*command.duration));
  return "live";
}

}
