#include "command_line.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "arrakis/version.hpp"
#include "describe_command.hpp"
#include "fetch_command.hpp"
#include "find_command.hpp"
#include "gaps_command.hpp"
#include "info_commands.hpp"
#include "publish_command.hpp"
#include "stream_command.hpp"

namespace arrakis::cli {
namespace {

const GpsTime kNow = GpsTime::from_seconds(1'400'000'000);

using Variables = std::map<std::string, std::string>;
using Arguments = std::vector<std::string>;

CommandLine parse(const Arguments& arguments, const Variables& variables = {}) {
  return parse_command_line(
      arguments,
      [&](const char* name) {
        const auto it = variables.find(name);
        return it == variables.end() ? nullptr : it->second.c_str();
      },
      kNow);
}

std::string usage_error(const CommandLine& line) {
  const auto* error = std::get_if<UsageError>(&line.action);
  return error == nullptr ? "no error" : error->message;
}

std::string usage_error(const Arguments& arguments, const Variables& variables = {}) {
  return usage_error(parse(arguments, variables));
}

/// What ends with status 1.
std::string refusal(const Arguments& arguments, const Variables& variables = {}) {
  const CommandLine line = parse(arguments, variables);
  const auto* found = std::get_if<Refusal>(&line.action);
  return found == nullptr ? "no refusal" : found->message;
}

std::string text(const Arguments& arguments) {
  const CommandLine line = parse(arguments);
  const auto* print = std::get_if<PrintText>(&line.action);
  return print == nullptr ? usage_error(line) : print->text;
}

/// The command of that line, which must be a T.
template <typename T>
std::unique_ptr<T> parsed(const Arguments& arguments, const Variables& variables = {}) {
  CommandLine line = parse(arguments, variables);
  auto* command = std::get_if<std::unique_ptr<Command>>(&line.action);
  auto* wanted = command == nullptr ? nullptr : dynamic_cast<T*>(command->get());
  if (wanted == nullptr) {
    ADD_FAILURE() << usage_error(line);
    return std::make_unique<T>();
  }
  static_cast<void>(command->release());
  return std::unique_ptr<T>(wanted);
}

/// `arrakis stream` with a channel, and `more`.
Arguments stream_arguments(const Arguments& more) {
  Arguments arguments{"stream", "X1:A-B"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

StreamRequest stream(const Arguments& more, const Variables& variables = {}) {
  return parsed<StreamCommand>(stream_arguments(more), variables)->request();
}

TEST(CommandLine, VersionIsBare) { EXPECT_EQ(text({"--version"}), std::string(version()) + "\n"); }

TEST(CommandLine, NoCommandPrintsHelp) {
  EXPECT_EQ(text({}), text({"--help"}));
  EXPECT_NE(text({}).find("stream"), std::string::npos);
}

TEST(CommandLine, HelpNamesEveryOptionAndFitsOrdinaryTerminals) {
  const std::string help = text({"stream", "--help"});
  for (const char* option : {"CHANNEL", "--kafka-url", "--metadata", "--start", "--end",
                             "--duration", "--on-gap", "--stride", "--json", "--latency",
                             "--no-fast-forward", "-X", "--output", "--replay-id", "130"}) {
    EXPECT_NE(help.find(option), std::string::npos) << option;
  }
  for (const char* option : {"--url", "--url-help", "--quiet", "--verbose", "--token-file", "--ca",
                             "ARRAKIS_SERVER", "ARRAKIS_ONGAP", "ARRAKIS_LOG_LEVEL", "COLUMNS"}) {
    EXPECT_NE(text({}).find(option), std::string::npos) << option;
  }
}

TEST(CommandLine, EveryCommandHasHelpUnderEveryName) {
  for (const CommandEntry& entry : command_table()) {
    const std::string help = text({std::string(entry.name), "--help"});
    EXPECT_NE(help.find(entry.name), std::string::npos) << help;
    EXPECT_NE(text({}).find(entry.name), std::string::npos) << entry.name;
    for (const std::string_view alias : entry.aliases) {
      EXPECT_EQ(text({std::string(alias), "-h"}), help);
    }
    std::istringstream lines(help + text({}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  }
  EXPECT_NE(text({"--url-help"}).find("grpc+tls"), std::string::npos);
}

TEST(CommandLine, StreamDefaultsAreLiveAndFilled) {
  const auto command = parsed<StreamCommand>({"stream", "X1:A-B"});
  const StreamRequest& request = command->request();
  EXPECT_EQ(request.channels, Arguments{"X1:A-B"});
  EXPECT_FALSE(request.start || request.end || request.duration || request.stride);
  EXPECT_FALSE(request.kafka_url || request.replay_id || request.replay_window);
  EXPECT_EQ(request.on_gap, GapPolicy::fill);
  EXPECT_EQ(request.on_drop, DropPolicy::ignore);
  EXPECT_TRUE(request.fast_forward && request.reconnect);
  EXPECT_EQ(command->format(), Format::table);
  EXPECT_FALSE(command->latency() || command->metadata());
  EXPECT_TRUE(request.kafka_properties.empty());
}

TEST(CommandLine, StreamReadsEveryOption) {
  const auto command = parsed<StreamCommand>(stream_arguments({"X1:C-*",
                                                               "--start",
                                                               "1400000000.0625",
                                                               "--end",
                                                               "1400000001",
                                                               "--on-gap",
                                                               "skip",
                                                               "--stride",
                                                               "250ms",
                                                               "--json",
                                                               "--latency",
                                                               "--no-fast-forward",
                                                               "--no-reconnect",
                                                               "-X",
                                                               "a.b=1",
                                                               "-X",
                                                               "c=d=e",
                                                               "--kafka-url",
                                                               "b:9092",
                                                               "--metadata",
                                                               "m.jsonl",
                                                               "--replay-start",
                                                               "10.5",
                                                               "--replay-end",
                                                               "20",
                                                               "--give-up-after",
                                                               "1h"}));
  const StreamRequest& request = command->request();
  EXPECT_EQ(request.channels, (Arguments{"X1:A-B", "X1:C-*"}));
  EXPECT_EQ(request.start, kNow + std::chrono::microseconds(62'500));
  EXPECT_EQ(request.end, kNow + std::chrono::seconds(1));
  EXPECT_EQ(request.on_gap, GapPolicy::skip);
  EXPECT_EQ(request.stride, std::chrono::milliseconds(250));
  EXPECT_TRUE(command->latency());
  EXPECT_EQ(command->format(), Format::json);
  EXPECT_FALSE(request.fast_forward || request.reconnect);
  EXPECT_EQ(request.kafka_properties, (Variables{{"a.b", "1"}, {"c", "d=e"}}));
  EXPECT_EQ(request.kafka_url, "b:9092");
  EXPECT_EQ(command->metadata(), "m.jsonl");
  ASSERT_TRUE(request.replay_window);
  EXPECT_EQ(request.replay_window->start, GpsTime::from_seconds(10.5));
  EXPECT_EQ(request.replay_window->end, GpsTime::from_seconds(20));
  EXPECT_EQ(request.give_up_after, std::chrono::hours(1));
  EXPECT_EQ(stream({"--replay-id", "o3"}).replay_id, "o3");
}

TEST(CommandLine, FetchReadsSpans) {
  const auto command = parsed<FetchCommand>(
      {"fetch", "X1:A", "--start", "1000000000", "--duration", "2", "--json-abrv"});
  EXPECT_EQ(command->request().start, GpsTime::from_seconds(1'000'000'000));
  EXPECT_EQ(command->request().duration, std::chrono::seconds(2));
  EXPECT_EQ(command->format(), Format::json_abrv);
  EXPECT_EQ(refusal({"fetch", "X1:A", "--end", "100"}), "--end requires --start");
}

TEST(CommandLine, FindReadsEveryOption) {
  const auto command =
      parsed<FindCommand>({"search", "H1:", "--data-type", "float32", "--dtype", "f8", "--min-rate",
                           "16", "--max-rate", "512", "--publisher", "A", "--publisher", "B",
                           "--time", "1000000000", "--replay-id", "o3", "--table-full"});
  const Query& query = command->query();
  EXPECT_EQ(query.pattern, "H1:");
  EXPECT_EQ(query.data_types, (std::vector{DataType::float32, DataType::float64}));
  EXPECT_EQ(query.min_rate, 16);
  EXPECT_EQ(query.max_rate, 512);
  EXPECT_EQ(query.publishers, (Arguments{"A", "B"}));
  EXPECT_EQ(query.time, GpsTime::from_seconds(1'000'000'000));
  EXPECT_EQ(query.replay_id, "o3");
  EXPECT_EQ(command->format(), Format::table_full);
  EXPECT_EQ(parsed<FindCommand>({"list", "--glob", "H1:*.A"})->query().pattern, "H1:.*\\.A$");
}

TEST(CommandLine, FindNeedsAPatternAndCountDoesNot) {
  EXPECT_EQ(refusal({"find"}).rfind("a channel pattern is required", 0), 0U);
  EXPECT_EQ(parsed<CountCommand>({"count"})->query().pattern, ".*");
}

TEST(CommandLine, DescribeReadsTimeAndReplay) {
  const auto command = parsed<DescribeCommand>(
      {"show", "X1:A", "-", "--time", "2014-05-19T16:53:04Z", "--replay-id", "o3"});
  EXPECT_EQ(command->channels(), (Arguments{"X1:A", "-"}));
  EXPECT_EQ(command->time(), GpsTime::from_seconds(1'084'553'600));
  EXPECT_EQ(command->replay_id(), "o3");
}

TEST(CommandLine, PublishReadsSignals) {
  const auto command = parsed<PublishCommand>(
      {"publish", "--publisher",      "P",  "--generate",  "chirp", "--amplitude",
       "2.5",     "--offset",         "-1", "--frequency", "3",     "--end-frequency",
       "30",      "--period",         "1m", "--seed",      "7",     "--dropout",
       "0.25",    "--dropout-length", "2s", "--rate",      "10"});
  ASSERT_TRUE(command->generator());
  const GeneratorOptions& options = *command->generator();
  EXPECT_EQ(options.waveform, Waveform::chirp);
  EXPECT_EQ(options.amplitude, 2.5);
  EXPECT_EQ(options.offset, -1);
  EXPECT_EQ(options.frequency, 3);
  EXPECT_EQ(options.end_frequency, 30);
  EXPECT_EQ(options.period, std::chrono::minutes(1));
  EXPECT_EQ(options.seed, 7U);
  EXPECT_EQ(options.dropout, 0.25);
  EXPECT_EQ(options.dropout_length, std::chrono::seconds(2));
  EXPECT_EQ(command->rate(), 10);
}

TEST(CommandLine, APipePacesItselfUnlessARateIsGiven) {
  EXPECT_EQ(parsed<PublishCommand>({"publish", "--publisher", "P", "-"})->rate(), 0);
  EXPECT_EQ(parsed<PublishCommand>({"publish", "--publisher", "P", "f.arrow"})->rate(), 1);
  EXPECT_EQ(parsed<PublishCommand>({"publish", "--publisher", "P", "-", "--rate", "2"})->rate(), 2);
}

TEST(CommandLine, PublishNeedsAPublisherAndOneInput) {
  EXPECT_NE(usage_error({"publish", "f"}).find("--publisher"), std::string::npos);
  EXPECT_NE(usage_error({"publish", "--publisher", "P"}).find("INPUT"), std::string::npos);
  const Arguments both{"publish", "--publisher", "P", "f", "--generate", "sine"};
  EXPECT_NE(usage_error(both).find("INPUT"), std::string::npos);
  const Arguments unknown{"publish", "--publisher", "P", "--generate", "square"};
  EXPECT_NE(usage_error(unknown).find("square"), std::string::npos);
  const Arguments without{"publish", "--publisher", "P", "f", "--dropout", "0.1"};
  EXPECT_NE(usage_error(without).find("--dropout"), std::string::npos);
}

TEST(CommandLine, GapsHasNoPolicyOfGaps) {
  parsed<GapsCommand>({"gaps", "X1:A", "--start", "-1h", "--end", "now", "--any"});
  EXPECT_NE(usage_error({"gaps", "X1:A", "--on-gap", "skip"}).find("--on-gap"), std::string::npos);
  EXPECT_NE(usage_error({"gaps", "X1:A", "--any", "--every"}).find("--every"), std::string::npos);
}

TEST(CommandLine, ProgramOptionsMayStandOnEitherSideOfTheCommand) {
  EXPECT_EQ(parse({"-u", "a:1", "domains"}).client.urls, Arguments{"a:1"});
  EXPECT_EQ(parse({"domains", "--url", "a:1", "-u", "b"}).client.urls, (Arguments{"a:1", "b"}));
  EXPECT_TRUE(parse({"domains"}).client.urls.empty());
  EXPECT_EQ(parse({"domains", "--timeout", "2s"}).client.timeout, std::chrono::seconds(2));
}

TEST(CommandLine, TokensAndCertificatesReachTheClient) {
  const ClientOptions client =
      parse({"--token", "t", "--ca", "a", "--cert", "c", "--key", "k", "--insecure", "domains"})
          .client;
  EXPECT_EQ(client.token.token, "t");
  EXPECT_EQ(client.tls.root_certificates, "a");
  EXPECT_EQ(client.tls.client_certificate, "c");
  EXPECT_EQ(client.tls.client_key, "k");
  EXPECT_FALSE(client.tls.verify);
  EXPECT_EQ(parse({"--no-token", "domains"}).client.token.mode, TokenOptions::Mode::off);
  EXPECT_NE(usage_error({"--no-token", "--token", "t", "domains"}).find("--token"),
            std::string::npos);
  EXPECT_NE(usage_error({"--cert", "c", "domains"}).find("--key"), std::string::npos);
  EXPECT_NE(refusal({"--token-file", "/nowhere/t", "domains"}).find("/nowhere/t"),
            std::string::npos);
}

TEST(CommandLine, LongOptionsMayBeAbbreviated) {
  EXPECT_EQ(stream({"--dur", "3"}).duration, std::chrono::seconds(3));
  EXPECT_EQ(stream({"--dur=3"}).duration, std::chrono::seconds(3));
  EXPECT_EQ(parse({"--time", "3", "domains"}).client.timeout, std::chrono::seconds(3));
  EXPECT_NE(usage_error({"stream", "X1:A", "--re", "3"}).find("--replay-id"), std::string::npos);
  // A whole name wins over longer ones.
  EXPECT_EQ(parsed<StreamCommand>({"stream", "X1:A", "--json"})->format(), Format::json);
}

TEST(CommandLine, SshIsRefusedWithAWayOut) {
  EXPECT_NE(usage_error({"-u", "ssh://h", "domains"}).find("ssh -L"), std::string::npos);
  EXPECT_NE(usage_error({"domains"}, {{"ARRAKIS_SERVER", "ssh://h"}}).find("ARRAKIS_SERVER"),
            std::string::npos);
}

TEST(CommandLine, CompletionNamesCommandsAndOptions) {
  const std::string script = text({"--generate-completion", "bash"});
  for (const CommandEntry& entry : command_table()) {
    EXPECT_NE(script.find(entry.name), std::string::npos) << entry.name;
  }
  EXPECT_NE(script.find("--no-fast-forward"), std::string::npos);
  EXPECT_NE(script.find("fill skip raise"), std::string::npos);
  EXPECT_NE(usage_error({"--generate-completion", "csh"}).find("csh"), std::string::npos);
}

TEST(CommandLine, TimesMayBeRelativeOrDates) {
  EXPECT_EQ(stream({"--start", "-10m"}).start, kNow - std::chrono::minutes(10));
  EXPECT_EQ(stream({"--start", "2 minutes ago"}).start, kNow - std::chrono::minutes(2));
  EXPECT_EQ(stream({"--start=now"}).start, kNow);
  EXPECT_EQ(stream({"--start", "2015-09-14 09:50:45"}).start, GpsTime::from_seconds(1'126'259'462));
  EXPECT_EQ(stream({"--start", "0"}).start, GpsTime());
}

TEST(CommandLine, AnOptionMayStandBetweenChannels) {
  EXPECT_EQ(stream({"-X", "a=b", "X1:C-D"}).channels, (Arguments{"X1:A-B", "X1:C-D"}));
}

TEST(CommandLine, UsageErrorsNameTheArgument) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--start", ""}, "--start"},
      {{"--start", "nan"}, "--start"},
      {{"--start", "inf"}, "--start"},
      {{"--start", "-60"}, "--start"},
      {{"--start", "1970-01-01"}, "--start"},
      {{"--start", "soon"}, "--start"},
      {{"--start"}, "--start"},
      {{"--end", "1399999999"}, "--end"},
      {{"--start", "10", "--end", "10"}, "--end"},
      {{"--start", "10", "--end", "9"}, "--end"},
      {{"--end", "now", "--duration", "1"}, "--end"},
      {{"--duration", "0"}, "--duration"},
      {{"--duration", "-1s"}, "--duration"},
      {{"--duration", "nan"}, "--duration"},
      {{"--duration", ""}, "--duration"},
      {{"--stride", "0"}, "--stride"},
      {{"--stride", "wide"}, "--stride"},
      {{"--on-gap", "maybe"}, "--on-gap"},
      {{"--on-gap", ""}, "--on-gap"},
      {{"-X", "novalue"}, "-X"},
      {{"-X", "=x"}, "-X"},
      {{"-X"}, "-X"},
      {{"-q", "-v"}, "--quiet"},
      {{"--nonsense"}, "--nonsense"},
      {{"--kafka-url", "b", "--metadata", "-", "-"}, "--metadata"},
      {{"--kafka-url", "b", "--metadata", ""}, "--metadata"},
      {{"--metadata", "m"}, "--kafka-url"},
      {{"--kafka-url", ""}, "--kafka-url"},
      {{"--json", "--str"}, "--json"},
      {{"--replay-id", "a", "--replay-start", "1"}, "--replay-start"},
      {{"--replay-start", "1"}, "--replay-end"},
      {{"--replay-end", "1"}, "--replay-start"},
      {{"--replay-start", "2", "--replay-end", "2"}, "--replay-end"},
      {{"-o", "x.xyz"}, "--output"},
      {{"-o", "x.h5", "--json"}, "--output"},
      {{"-o", "x.h5", "--gaps", "zero"}, "--gaps"},
      {{"--gaps", "nan"}, "--gaps"},
  };
  for (const auto& [arguments, name] : cases) {
    const std::string message = usage_error(stream_arguments(arguments));
    EXPECT_NE(message.find(name), std::string::npos) << name << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(CommandLine, WrongValuesOfQueriesAreNamed) {
  const std::vector<std::pair<Arguments, std::string>> cases{
      {{"--dtype", "int16"}, "float32"},     {{"--dtype", "nonsense"}, "nonsense"},
      {{"--min-rate", "-4"}, "--min-rate"},  {{"--min-rate", "x"}, "--min-rate"},
      {{"--max-rate", "1.5"}, "--max-rate"}, {{"--time", "soon"}, "--time"}};
  for (const auto& [more, name] : cases) {
    Arguments arguments{"find", "."};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const std::string message = usage_error(arguments);
    EXPECT_NE(message.find(name), std::string::npos) << name << ": " << message;
  }
}

TEST(CommandLine, WhatIsRequiredIsNamed) {
  EXPECT_NE(usage_error({"stream"}).find("CHANNEL"), std::string::npos);
  EXPECT_NE(usage_error({"fetch"}).find("CHANNEL"), std::string::npos);
  EXPECT_NE(usage_error({"--kafka-url"}).find("--kafka-url"), std::string::npos);
  EXPECT_NE(usage_error({"strem"}).find("strem"), std::string::npos);
  EXPECT_NE(usage_error({"domains", "extra"}).find("extra"), std::string::npos);
}

TEST(CommandLine, GapPolicyComesFromTheEnvironmentUnlessGiven) {
  EXPECT_EQ(stream({}, {{"ARRAKIS_ONGAP", "raise"}}).on_gap, GapPolicy::raise);
  EXPECT_EQ(stream({}, {{"ARRAKIS_ONGAP", "SKIP"}}).on_gap, GapPolicy::skip);
  EXPECT_EQ(stream({}, {{"ARRAKIS_ONGAP", ""}}).on_gap, GapPolicy::fill);
  EXPECT_EQ(stream({"--on-gap", "fill"}, {{"ARRAKIS_ONGAP", "raise"}}).on_gap, GapPolicy::fill);
  EXPECT_NE(usage_error(stream_arguments({}), {{"ARRAKIS_ONGAP", "x"}}).find("ARRAKIS_ONGAP"),
            std::string::npos);
  EXPECT_EQ(stream({}, {{"ARRAKIS_ONDROP", "raise"}}).on_drop, DropPolicy::raise);
}

TEST(CommandLine, LogLevelComesFromFlagsThenTheEnvironment) {
  EXPECT_EQ(parse(stream_arguments({})).log.least, LogLevel::info);
  EXPECT_EQ(parse(stream_arguments({"-q"})).log.least, LogLevel::warning);
  EXPECT_EQ(parse(stream_arguments({"--verbose"})).log.least, LogLevel::debug);
  EXPECT_EQ(parse(stream_arguments({}), {{"ARRAKIS_LOG_LEVEL", "error"}}).log.least,
            LogLevel::error);
  EXPECT_EQ(parse(stream_arguments({"-v"}), {{"ARRAKIS_LOG_LEVEL", "error"}}).log.least,
            LogLevel::debug);
  EXPECT_NE(
      usage_error(stream_arguments({}), {{"ARRAKIS_LOG_LEVEL", "loud"}}).find("ARRAKIS_LOG_LEVEL"),
      std::string::npos);
}

TEST(CommandLine, FlagsBeforeTheCommandCountToo) {
  const CommandLine line = parse({"-v", "stream", "--kafka-url", "b", "--metadata", "m", "X1:A"});
  EXPECT_EQ(line.log.least, LogLevel::debug);
}

}  // namespace
}
