#include "command_line.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "arrakis/version.hpp"

namespace arrakis::cli {
namespace {

const GpsTime kNow = GpsTime::from_seconds(1'400'000'000);

using Variables = std::map<std::string, std::string>;

CommandLine parse(const std::vector<std::string>& arguments, const Variables& variables = {}) {
  return parse_command_line(
      arguments,
      [&](const char* name) {
        const auto it = variables.find(name);
        return it == variables.end() ? nullptr : it->second.c_str();
      },
      kNow);
}

/// `arrakis stream` with what is required, and `more`.
CommandLine parse_stream(const std::vector<std::string>& more, const Variables& variables = {}) {
  std::vector<std::string> arguments{"stream",     "--kafka-url", "b:9092",
                                     "--metadata", "m.jsonl",     "X1:A-B"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return parse(arguments, variables);
}

StreamCommand stream(const std::vector<std::string>& more, const Variables& variables = {}) {
  const CommandLine line = parse_stream(more, variables);
  if (const auto* error = std::get_if<UsageError>(&line.command)) {
    ADD_FAILURE() << error->message;
    return {};
  }
  return std::get<StreamCommand>(line.command);
}

std::string usage_error(const CommandLine& line) {
  const auto* error = std::get_if<UsageError>(&line.command);
  return error == nullptr ? "no error" : error->message;
}

std::string text(const std::vector<std::string>& arguments) {
  const CommandLine line = parse(arguments);
  const auto* print = std::get_if<PrintText>(&line.command);
  return print == nullptr ? usage_error(line) : print->text;
}

TEST(CommandLine, VersionIsBare) { EXPECT_EQ(text({"--version"}), std::string(version()) + "\n"); }

TEST(CommandLine, NoCommandPrintsHelp) {
  EXPECT_EQ(text({}), text({"--help"}));
  EXPECT_NE(text({}).find("stream"), std::string::npos);
}

TEST(CommandLine, HelpNamesEveryOptionAndFitsOrdinaryTerminals) {
  const std::string help = text({"stream", "--help"});
  for (const char* option :
       {"CHANNEL", "--kafka-url", "--metadata", "--start", "--end", "--duration", "--on-gap",
        "--stride", "--json", "--latency", "--no-fast-forward", "-X", "--quiet", "--verbose",
        "ARRAKIS_ONGAP", "ARRAKIS_LOG_LEVEL", "COLUMNS", "130"}) {
    EXPECT_NE(help.find(option), std::string::npos) << option;
  }
  std::istringstream lines(help + text({}));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(CommandLine, DefaultsAreLiveAndFilled) {
  const StreamCommand command = stream({});
  EXPECT_EQ(command.kafka_url, "b:9092");
  EXPECT_EQ(command.metadata, "m.jsonl");
  EXPECT_EQ(command.channels, std::vector<std::string>{"X1:A-B"});
  EXPECT_FALSE(command.start || command.end || command.duration || command.stride);
  EXPECT_EQ(command.on_gap, GapPolicy::fill);
  EXPECT_TRUE(command.fast_forward);
  EXPECT_FALSE(command.json || command.latency);
  EXPECT_TRUE(command.properties.empty());
}

TEST(CommandLine, ReadsEveryOption) {
  const StreamCommand command =
      stream({"X1:C-*", "--start", "1400000000.0625", "--end", "1400000001", "--on-gap", "skip",
              "--stride", "250ms", "--json", "--latency", "--no-fast-forward", "-X", "a.b=1", "-X",
              "c=d=e"});
  EXPECT_EQ(command.channels, (std::vector<std::string>{"X1:A-B", "X1:C-*"}));
  EXPECT_EQ(command.start, kNow + std::chrono::microseconds(62'500));
  EXPECT_EQ(command.end, kNow + std::chrono::seconds(1));
  EXPECT_EQ(command.on_gap, GapPolicy::skip);
  EXPECT_EQ(command.stride, std::chrono::milliseconds(250));
  EXPECT_TRUE(command.json && command.latency);
  EXPECT_FALSE(command.fast_forward);
  EXPECT_EQ(command.properties, (std::map<std::string, std::string>{{"a.b", "1"}, {"c", "d=e"}}));
}

TEST(CommandLine, TimesMayBeRelativeOrDates) {
  EXPECT_EQ(stream({"--start", "-10m"}).start, kNow - std::chrono::minutes(10));
  EXPECT_EQ(stream({"--start", "2 minutes ago"}).start, kNow - std::chrono::minutes(2));
  EXPECT_EQ(stream({"--start=now"}).start, kNow);
  EXPECT_EQ(stream({"--start", "2015-09-14 09:50:45"}).start, GpsTime::from_seconds(1'126'259'462));
  EXPECT_EQ(stream({"--start", "0"}).start, GpsTime());
}

TEST(CommandLine, AnOptionMayStandBetweenChannels) {
  EXPECT_EQ(stream({"-X", "a=b", "X1:C-D"}).channels,
            (std::vector<std::string>{"X1:A-B", "X1:C-D"}));
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
      {{"--metadata", "-", "-"}, "--metadata"},
  };
  for (const auto& [arguments, name] : cases) {
    const std::string message = usage_error(parse_stream(arguments));
    EXPECT_NE(message.find(name), std::string::npos) << name << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(CommandLine, WhatIsRequiredIsNamed) {
  EXPECT_NE(usage_error(parse({"stream", "--metadata", "m", "X1:A"})).find("--kafka-url"),
            std::string::npos);
  EXPECT_NE(usage_error(parse({"stream", "--kafka-url", "b", "X1:A"})).find("--metadata"),
            std::string::npos);
  EXPECT_NE(usage_error(parse({"stream", "--kafka-url", "b", "--metadata", "m"})).find("CHANNEL"),
            std::string::npos);
  EXPECT_NE(usage_error(parse({"--kafka-url", "b"})).find("--kafka-url"), std::string::npos);
  EXPECT_NE(usage_error(parse({"strem"})).find("strem"), std::string::npos);
  EXPECT_NE(
      usage_error(parse({"stream", "--kafka-url", "", "--metadata", "m", "X1:A"})).find("--kafka"),
      std::string::npos);
}

TEST(CommandLine, GapPolicyComesFromTheEnvironmentUnlessGiven) {
  EXPECT_EQ(stream({}, {{"ARRAKIS_ONGAP", "raise"}}).on_gap, GapPolicy::raise);
  EXPECT_EQ(stream({}, {{"ARRAKIS_ONGAP", "SKIP"}}).on_gap, GapPolicy::skip);
  EXPECT_EQ(stream({}, {{"ARRAKIS_ONGAP", ""}}).on_gap, GapPolicy::fill);
  EXPECT_EQ(stream({"--on-gap", "fill"}, {{"ARRAKIS_ONGAP", "raise"}}).on_gap, GapPolicy::fill);
  EXPECT_NE(usage_error(parse_stream({}, {{"ARRAKIS_ONGAP", "x"}})).find("ARRAKIS_ONGAP"),
            std::string::npos);
}

TEST(CommandLine, LogLevelComesFromFlagsThenTheEnvironment) {
  EXPECT_EQ(parse_stream({}).log.least, LogLevel::info);
  EXPECT_EQ(parse_stream({"-q"}).log.least, LogLevel::warning);
  EXPECT_EQ(parse_stream({"--verbose"}).log.least, LogLevel::debug);
  EXPECT_EQ(parse_stream({}, {{"ARRAKIS_LOG_LEVEL", "error"}}).log.least, LogLevel::error);
  EXPECT_EQ(parse_stream({"-v"}, {{"ARRAKIS_LOG_LEVEL", "error"}}).log.least, LogLevel::debug);
  EXPECT_NE(
      usage_error(parse_stream({}, {{"ARRAKIS_LOG_LEVEL", "loud"}})).find("ARRAKIS_LOG_LEVEL"),
      std::string::npos);
}

TEST(CommandLine, FlagsBeforeTheCommandCountToo) {
  const CommandLine line = parse({"-v", "stream", "--kafka-url", "b", "--metadata", "m", "X1:A"});
  EXPECT_EQ(line.log.least, LogLevel::debug);
}

TEST(SpanText, SaysWhatIsStreamed) {
  EXPECT_EQ(span_text(stream({})), "live");
  EXPECT_EQ(span_text(stream({"--duration", "10"})), "live for 10 s");
  EXPECT_EQ(span_text(stream({"--end", "1400000000.5"})), "live until GPS 1400000000.5");
  EXPECT_EQ(span_text(stream({"--start", "5"})), "from GPS 5");
  EXPECT_EQ(span_text(stream({"--start", "5", "--duration", "0.25"})), "GPS [5, 5.25)");
  EXPECT_EQ(span_text(stream({"--start", "5", "--end", "6"})), "GPS [5, 6)");
}

}  // namespace
}
