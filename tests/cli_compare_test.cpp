// The same command lines through the Python program and through ours, against the reference's own
// servers: what is printed and the exit status are the same, but for what is named here.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "testing/python_server.hpp"
#include "testing/shell_program.hpp"
#include "testing/temporary_folder.hpp"

namespace arrakis {
namespace {

using testing::lines_of;
using testing::PythonServer;
using testing::ShellProgram;
using testing::TemporaryFolder;
using Result = ShellProgram::Result;

constexpr const char* kChannels = R"toml(
["H1:TEST-CHANNEL_SIN"]
sample_rate = 512
data_type = "float32"
stride = 62500000
max_latency = 3000000000
publisher = "FAKE_H1"
partition_id = "FAKE_H1_f32"
partition_index = 0
func = "sin(t)"
["H1:TEST-STATE_ONES"]
sample_rate = 16
data_type = "int32"
stride = 62500000
max_latency = 3000000000
publisher = "FAKE_H1"
partition_id = "FAKE_H1_i32"
partition_index = 0
func = "1"
["L1:TEST-NOISE"]
sample_rate = 4096
data_type = "float64"
stride = 62500000
max_latency = 3000000000
publisher = "FAKE_L1"
func = "t/3"
["L1:TEST-SLOW"]
sample_rate = 1
data_type = "uint64"
stride = 1000000000
publisher = "FAKE_L1"
func = "t"
)toml";

std::string folded(const std::string& text) {
  return std::regex_replace(text, std::regex(R"(\s+)"), " ");
}

std::string sorted_lines(const std::string& text) {
  std::vector<std::string> lines = lines_of(text);
  std::sort(lines.begin(), lines.end());
  std::string sorted;
  for (const std::string& line : lines) sorted += line + "\n";
  return sorted;
}

std::string as_it_is(const std::string& text) { return text; }

/// JSON with the members of objects sorted: the order of a block's channels is that of the server's
/// answer, which changes from run to run.
std::string sorted_members(const std::string& text) {
  std::string sorted;
  for (const std::string& line : lines_of(text))
    sorted += nlohmann::json::parse(line).dump() + "\n";
  return sorted;
}

class CliCompare : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    server = std::make_unique<PythonServer>();
    server->start({"mock", server->write("channels.toml", kChannels)});
  }
  static void TearDownTestSuite() { server.reset(); }

  Result run(const std::string& program, const std::string& arguments,
             const std::string& url) const {
    return ShellProgram(folder_.path().string(), "env -u COLUMNS ARRAKIS_SERVER='" + url + "' '" +
                                                     program + "' " + arguments)
        .wait();
  }
  Result ours(const std::string& arguments) const {
    return run(ARRAKIS_PROGRAM, arguments, server->url());
  }
  Result python(const std::string& arguments, const std::string& url = server->url()) const {
    return run(ARRAKIS_DEPS "/venv/bin/arrakis", arguments, url);
  }
  using Change = std::string (*)(const std::string&);
  /// Holds both against each other, after `change` of what they print.
  void expect_same(const std::string& arguments, Change change = as_it_is,
                   const std::string& url = server->url()) const {
    const Result wanted = python(arguments, url);
    const Result found = run(ARRAKIS_PROGRAM, arguments, url);
    EXPECT_EQ(change(found.out), change(wanted.out)) << arguments << "\n" << found.err;
    EXPECT_EQ(found.status, wanted.status) << arguments << "\n" << found.err << wanted.err;
  }
  /// One line on standard error, of that kind, that names `what`; nothing else.
  static void expect_error(const Result& result, int status, const std::string& kind,
                           const std::string& what) {
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_EQ(result.out, "");
    ASSERT_EQ(lines_of(result.err).size(), 1U) << result.err;
    EXPECT_EQ(result.err.rfind(kind + ": ", 0), 0U) << result.err;
    EXPECT_NE(result.err.find(what), std::string::npos) << result.err;
  }

  static std::unique_ptr<PythonServer> server;
  TemporaryFolder folder_;
};

std::unique_ptr<PythonServer> CliCompare::server;

const std::vector<std::string>& formats() {
  static const std::vector<std::string> kFormats{"--table", "--str",     "--repr",     "--pprint",
                                                 "--json",  "--json-pp", "--json-abrv"};
  return kFormats;
}

TEST_F(CliCompare, ListingsInEveryForm) {
  for (const std::string& format : formats()) {
    expect_same("find . " + format);
    expect_same("describe H1:TEST-STATE_ONES " + format);
  }
  expect_same("find . --table-full");
  expect_same("show --table-full L1:TEST-SLOW");
}

TEST_F(CliCompare, QueriesOfEveryKind) {
  for (const char* arguments : {"find H1",
                                "search L1:TEST",
                                "list 'H1:.*ONES' --str",
                                "find TEST",
                                "find . --dtype f4",
                                "find . --data-type float32 --dtype int32 --str",
                                "find . --min-rate 512 --str",
                                "find . --max-rate 16 --str",
                                "find . --min-rate 17 --max-rate 511",
                                "find . --max-rate 0",
                                "find . --publisher FAKE_L1 --str",
                                "find . --publisher FAKE_L1 --publisher FAKE_H1 --str",
                                "find . --time 1000000000 --str",
                                "find . --replay-id none",
                                "find . --js",
                                "count",
                                "count H1",
                                "count nomatch",
                                "count --publ FAKE_L1",
                                "count --json",
                                "count . --dtype f8"}) {
    expect_same(arguments);
  }
}

TEST_F(CliCompare, ChannelsFromStandardInput) {
  expect_same(R"(describe - --str <<< $'# one\nH1:TEST-STATE_ONES\n\n  L1:TEST-SLOW ')",
              sorted_lines);
}

TEST_F(CliCompare, WhatServersSayOfThemselves) {
  for (const char* arguments : {"server-info", "server-info -e", "server-info --endpoints",
                                "domains", "scope-map", "replays"}) {
    expect_same(arguments);
  }
}

TEST_F(CliCompare, FetchInEveryForm) {
  const std::string span = "-q fetch --start 1000000000 --duration 0.125 H1:TEST-STATE_ONES ";
  for (const std::string& format : formats()) expect_same(span + format);
  const std::string sine = "-q fetch --start 1000000000 --duration 2 H1:TEST-CHANNEL_SIN ";
  for (const char* format : {"--table", "--json", "--json-pp", "--json-abrv", "--pprint"}) {
    expect_same(sine + format);
  }
  // Ours is one line, as "one entry a line" wants it.
  expect_same(sine + "--str", folded);
  expect_same(sine + "--repr", folded);
}

TEST_F(CliCompare, FetchOfSeveralChannelsAndSpans) {
  expect_same(
      "-q fetch --start 1000000000 --duration 2 H1:TEST-STATE_ONES H1:TEST-CHANNEL_SIN "
      "L1:TEST-NOISE L1:TEST-SLOW");
  expect_same("-q fetch --start 1000000000 --end 1000000001 L1:TEST-NOISE --json");
  expect_same("-q fetch --start 1000000000 L1:TEST-SLOW H1:TEST-STATE_ONES");
  expect_same("-q fetch --start 1000000000 --duration 1 L1:TEST-SLOW H1:TEST-STATE_ONES --json",
              sorted_members);
  expect_same("-q fetch --start '2011-09-14 01:46:25 UTC' --duration 1 L1:TEST-SLOW --json");
}

TEST_F(CliCompare, GapsInEveryForm) {
  // Which samples of a partial gap are missing the server draws anew each time, so whole ones.
  PythonServer gappy;
  gappy.start({"mock", gappy.write("channels.toml", kChannels), "--with-faults", "full-gaps",
               "--fault-interval", "2"});
  for (const char* channel : {"H1:TEST-STATE_ONES", "H1:TEST-CHANNEL_SIN"}) {
    const std::string span = std::string("-q fetch --start 1000000000 --duration 0.5 ") + channel;
    for (const char* format : {" --table", " --json", " --json-abrv", " --pprint"}) {
      expect_same(span + format, as_it_is, gappy.url());
    }
    expect_same(span + " --str", folded, gappy.url());
  }
}

TEST_F(CliCompare, StreamsOfBlocks) {
  const std::string span = "-q stream --start 1000000000 --duration 0.25 H1:TEST-STATE_ONES ";
  for (const char* format : {"--str", "--repr", "--pprint", "--json", "--json-pp", "--json-abrv"}) {
    expect_same(span + format);
  }
  expect_same("-q stream --start 1000000000 --duration 1 --stride 0.5 L1:TEST-NOISE --json");
  expect_same("-q stream --start 1000000000 --end 1000000003 L1:TEST-SLOW --json --on-gap raise");
}

TEST_F(CliCompare, LatenciesGoToStandardError) {
  const std::string arguments =
      "-q stream --start 1000000000 --duration 0.125 --json --latency H1:TEST-STATE_ONES";
  const std::regex line(R"(block [01] latency: \d+\.\d{6} s)");
  for (const Result& result : {python(arguments), ours(arguments)}) {
    ASSERT_EQ(lines_of(result.err).size(), 2U) << result.err;
    for (const std::string& text : lines_of(result.err)) {
      EXPECT_TRUE(std::regex_match(text, line)) << text;
    }
  }
}

TEST_F(CliCompare, LiveRequestsGiveTheSameLengths) {
  const auto spans = [](const Result& result) {
    std::vector<std::int64_t> lengths;
    for (const std::string& line : lines_of(result.out)) {
      lengths.push_back(nlohmann::json::parse(line).at("_duration_ns"));
    }
    return lengths;
  };
  for (const char* arguments :
       {"-q fetch H1:TEST-STATE_ONES --json", "-q fetch --duration 0.5 H1:TEST-STATE_ONES --json",
        "-q stream --duration 0.5 H1:TEST-STATE_ONES --json"}) {
    const Result wanted = python(arguments);
    const Result found = ours(arguments);
    EXPECT_EQ(spans(found), spans(wanted)) << arguments << found.err;
    EXPECT_EQ(found.status, wanted.status);
  }
}

// Statuses are the same, and so is the first word; the texts are ours, one line each.
TEST_F(CliCompare, FailuresOfRequestsHaveTheSameStatus) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"describe X1:NOT-THERE", "X1:NOT-THERE"},
      {"-q fetch --start 1000000000 --duration 1 X1:NOT-THERE", "X1:NOT-THERE"},
      {"-q stream X1:NOT-THERE", "X1:NOT-THERE"},
      {"-u grpc://127.0.0.1:1 count", "127.0.0.1:1"}};
  for (const auto& [arguments, what] : cases) {
    EXPECT_EQ(python(arguments).status, 1) << arguments;
    expect_error(ours(arguments), 1, "request error", what);
  }
  for (const char* arguments :
       {"find", "fetch --end 100 H1:TEST-STATE_ONES",
        "fetch --start 1000000000 --duration 1 --replay-start 1 H1:TEST-STATE_ONES"}) {
    EXPECT_NE(python(arguments).status, 0) << arguments;
  }
  expect_error(ours("find"), 1, "error", "a channel pattern is required");
  expect_error(ours("fetch --end 100 H1:TEST-STATE_ONES"), 1, "error", "--end requires --start");
}

TEST_F(CliCompare, UsageErrorsHaveTheSameStatus) {
  for (const char* arguments : {"nonsense", "find . --json --str", "stream", "fetch", "-q -v count",
                                "stream --end 1 --duration 3 H1:TEST-STATE_ONES",
                                "stream --on-gap maybe H1:TEST-STATE_ONES", "find . --min-rate x",
                                "find . --time 'no time at all'", "describe", "domains extra",
                                "stream --replay-id a --replay-start 1 H1:TEST-STATE_ONES",
                                "find . --m 3", "find . --dtype nonsense"}) {
    EXPECT_EQ(python(arguments).status, 2) << arguments;
    const Result found = ours(arguments);
    EXPECT_EQ(found.status, 2) << arguments << found.err;
    EXPECT_EQ(lines_of(found.err).size(), 1U) << found.err;
  }
}

// Where the Python program prints a trace of calls.
TEST_F(CliCompare, WhatBreaksThePythonProgramIsALine) {
  expect_error(ours("find . --dtype int16"), 2, "error", "int16");
  expect_error(ours("find . --min-rate -4"), 2, "error", "-4");
  expect_error(ours("-q stream --stride 0.1 H1:TEST-STATE_ONES"), 1, "error", "stride");
  expect_error(ours("-q fetch --start 1000000000 --end 1000000000 H1:TEST-STATE_ONES"), 2, "error",
               "--end");
  expect_error(ours("find '('"), 1, "error", "(");
  expect_error(run(ARRAKIS_PROGRAM, "count", "ssh://nowhere"), 2, "error", "ssh");
}

TEST_F(CliCompare, TheEnvironmentChoosesThePolicyOfFetch) {
  const std::string arguments =
      "-q fetch --start 1000000000 --duration 0.125 H1:TEST-STATE_ONES --json";
  EXPECT_EQ(
      run("/usr/bin/env", "ARRAKIS_ONGAP=skip '" ARRAKIS_PROGRAM "' " + arguments, server->url())
          .status,
      1);
}

TEST_F(CliCompare, AClosedPipeIsNoError) {
  const Result result = ours("find . --json | true; echo ${PIPESTATUS[0]} >&2");
  EXPECT_EQ(result.err, "0\n");
  const Result streamed = ours(
      "-q stream --start 1000000000 H1:TEST-STATE_ONES --json | head -n 1; echo ${PIPESTATUS[0]} "
      ">&2");
  EXPECT_EQ(lines_of(streamed.out).size(), 1U);
  EXPECT_EQ(streamed.err, "0\n");
}

TEST_F(CliCompare, NoControlCodesInPipesNorOnDumbTerminals) {
  for (const char* arguments :
       {"find . | cat", "-v fetch --start 1000000000 --duration 1 L1:TEST-SLOW | cat",
        "-v stream --duration 0.25 H1:TEST-STATE_ONES | cat"}) {
    const Result result = ours(arguments);
    EXPECT_EQ(result.out.find('\x1b'), std::string::npos) << arguments;
    EXPECT_EQ(result.err.find('\x1b'), std::string::npos) << arguments;
  }
  const Result dumb = run("/usr/bin/script",
                          "-qec \"TERM=dumb '" ARRAKIS_PROGRAM
                          "' -q stream --duration 0.25 H1:TEST-STATE_ONES\" /dev/null",
                          server->url());
  EXPECT_EQ(dumb.out.find('\x1b'), std::string::npos) << dumb.out;
}

TEST_F(CliCompare, ExecRunsAProgramWithTheServersUrl) {
  expect_same("exec -- printenv ARRAKIS_SERVER");
  expect_same("exec printenv ARRAKIS_SERVER");
  expect_same("-u grpc://127.0.0.1:7 proxy -- printenv ARRAKIS_SERVER");
  // The Python program hands its words to a shell, which takes them apart.
  EXPECT_EQ(ours("exec -- sh -c 'echo a b; exit 5'").out, "a b\n");
  EXPECT_EQ(ours("exec -- sh -c 'exit 5'").status, 5);
  expect_error(ours("exec /nowhere/x"), 1, "error", "/nowhere/x");
}

TEST_F(CliCompare, GlobsAndRegularExpressionsNameChannels) {
  EXPECT_EQ(sorted_lines(ours("describe 'H1:*' --str").out),
            "H1:TEST-CHANNEL_SIN\nH1:TEST-STATE_ONES\n");
  EXPECT_EQ(ours("describe '~L1:TEST-N' --str").out, "L1:TEST-NOISE\n");
  EXPECT_EQ(ours("find --glob '*SLOW' --str").out, "L1:TEST-SLOW\n");
  expect_error(ours("describe 'Z1:*'"), 1, "error", "Z1:*");
}

}  // namespace
}
