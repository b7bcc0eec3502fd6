// Runs the program itself, against a broker in this process.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "arrakis/json.hpp"
#include "arrakis/kafka.hpp"
#include "arrakis/version.hpp"
#include "kafka/embedded_broker.hpp"
#include "testing/shell_program.hpp"
#include "testing/temporary_folder.hpp"

namespace arrakis {
namespace {

using std::chrono::seconds;

constexpr Duration kStride = std::chrono::microseconds(62'500);
using testing::lines_of;
using testing::ShellProgram;
using Result = ShellProgram::Result;

/// `arrakis` with arguments for the shell, and what the shell does with its output.
std::string program(const std::string& arguments) { return "'" ARRAKIS_PROGRAM "' " + arguments; }

class ProgramTest : public ::testing::Test {
 protected:
  Result run(const std::string& arguments) {
    return ShellProgram(folder_, program(arguments)).wait();
  }

  testing::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path().string();
};

/// A broker with sixteen blocks of two channels from GPS 1400000000 on, and more when asked.
class StreamProgramTest : public ProgramTest {
 protected:
  StreamProgramTest() : publisher_(broker_.bootstrap(), channels()) {
    broker_.create_topic("arrakis-P");
    std::ofstream metadata(folder_ + "/m.jsonl");
    for (const Channel& channel : channels()) metadata << to_json(channel) << "\n";
  }

  static ChannelSet channels() {
    std::vector<Channel> result;
    for (const char* name : {"X1:A-WAVE", "X1:B-WAVE"}) {
      Channel channel(name, DataType::float32, SampleRate(64));
      channel.publisher = "P";
      channel.partition_id = "P";
      channel.partition_index = static_cast<std::uint32_t>(result.size());
      channel.stride = kStride;
      channel.max_latency = seconds(1);
      result.push_back(std::move(channel));
    }
    return ChannelSet(std::move(result));
  }

  void publish(GpsTime from, int blocks) {
    for (int i = 0; i < blocks; ++i) {
      const auto value = static_cast<float>(i);
      publisher_.publish(BlockBuilder(from + i * kStride, channels())
                             .set("X1:A-WAVE", std::vector<float>{value, value, value, value + 1})
                             .set("X1:B-WAVE", std::vector<float>(4, -value))
                             .build());
    }
  }

  [[nodiscard]] std::string arguments(const std::string& more) const {
    return "stream --kafka-url " + broker_.bootstrap() + " --metadata " + folder_ + "/m.jsonl -q " +
           more;
  }
  /// The sixteen blocks' second.
  static constexpr const char* kBounded = " --start 1400000000 --duration 1s ";
  const GpsTime start_ = GpsTime::from_seconds(1'400'000'000);

  EmbeddedBroker broker_;
  KafkaPublisher publisher_;
};

TEST_F(ProgramTest, VersionIsBareAndQuick) {
  auto best = std::chrono::steady_clock::duration::max();
  for (int i = 0; i < 3; ++i) {
    const auto began = std::chrono::steady_clock::now();
    const Result result = run("--version");
    best = std::min(best, std::chrono::steady_clock::now() - began);
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.out, std::string(version()) + "\n");
    EXPECT_EQ(result.err, "");
  }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  EXPECT_LT(best, seconds(5));
#else
  EXPECT_LT(best, std::chrono::milliseconds(150));
#endif
}

TEST_F(ProgramTest, UsageErrorsAreOneLineAndStatusTwo) {
  const Result result = run("stream --kafka-url x:1 --metadata m X1:A --start nan");
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(lines_of(result.err).size(), 1U) << result.err;
  EXPECT_EQ(result.err.rfind("error: --start", 0), 0U) << result.err;
}

TEST_F(ProgramTest, FailuresAreOneLineAndStatusOne) {
  const Result result = run("stream --kafka-url x:1 --metadata /nowhere/m X1:A");
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "error: /nowhere/m can't be read: No such file or directory\n");
}

TEST_F(ProgramTest, HelpIntoAClosedPipeIsQuiet) {
  const Result result = run("--help | true; echo ${PIPESTATUS[0]} >&2");
  EXPECT_EQ(result.err, "0\n");
}

TEST_F(StreamProgramTest, PrintsALineABlock) {
  publish(start_, 17);
  const Result result = run(arguments("'X1:*'") + kBounded);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const std::vector<std::string> lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 16U) << result.out;
  const std::regex third(
      "1400000000\\.1250  latency \\d+\\.\\d{6} s  X1:A-WAVE \\[2, \\.\\.\\., 3\\]  "
      "X1:B-WAVE \\[-2, \\.\\.\\., -2\\]");
  EXPECT_TRUE(std::regex_match(lines[2], third)) << lines[2];
}

TEST_F(StreamProgramTest, PrintsJsonAndLatencies) {
  publish(start_, 17);
  const Result result = run(arguments("X1:B-WAVE --json --latency") + kBounded);
  EXPECT_EQ(result.status, 0) << result.err;
  const std::vector<std::string> lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 16U);
  EXPECT_EQ(lines[1].rfind(R"({"time_ns": 1400000000062500000, "data": {"X1:B-WAVE": [-1.0,)", 0),
            0U)
      << lines[1];
  EXPECT_EQ(lines[1].find("X1:A-WAVE"), std::string::npos);
  const std::vector<std::string> latencies = lines_of(result.err);
  ASSERT_EQ(latencies.size(), 16U);
  EXPECT_TRUE(std::regex_match(latencies[15], std::regex(R"(block 15 latency: \d+\.\d{6} s)")));
}

TEST_F(StreamProgramTest, WritesNoControlCodesIntoAPipe) {
  publish(start_, 17);
  const Result result = run(arguments("X1:A-WAVE -v") + kBounded + "| cat");
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
}

TEST_F(StreamProgramTest, LogLinesHaveTimeAndLevel) {
  publish(start_, 17);
  const Result result =
      run(std::regex_replace(arguments("X1:A-WAVE"), std::regex(" -q "), " ") + kBounded);
  const std::regex line(R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (DEBUG|INFO|WARNING|ERROR) .+)");
  ASSERT_FALSE(lines_of(result.err).empty());
  for (const std::string& text : lines_of(result.err)) {
    EXPECT_TRUE(std::regex_match(text, line)) << text;
  }
  EXPECT_NE(result.err.find("INFO streaming 1 channel(s), GPS [1400000000, 1400000001)"),
            std::string::npos);
}

TEST_F(StreamProgramTest, ReadsMetadataOrNamesFromStandardInput) {
  publish(start_, 17);
  const std::string metadata = folder_ + "/m.jsonl";
  const std::string url = "stream -q --kafka-url " + broker_.bootstrap();
  const Result from_input = run(url + " --metadata - X1:A-WAVE" + kBounded + "< " + metadata);
  EXPECT_EQ(lines_of(from_input.out).size(), 16U) << from_input.err;
  const Result names = run(arguments("-") + kBounded + R"(<<< $'# two\nX1:B-WAVE\n\n X1:A-WAVE')");
  EXPECT_EQ(lines_of(names.out).size(), 16U) << names.err;
}

TEST_F(StreamProgramTest, NamesAChannelThatIsNotThere) {
  const Result result = run(arguments("X1:A-WAVE X1:NOT-THERE"));
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(lines_of(result.err).size(), 1U) << result.err;
  EXPECT_NE(result.err.find("X1:NOT-THERE"), std::string::npos) << result.err;
}

TEST_F(StreamProgramTest, AStrideThatDoesNotFitIsAFailure) {
  const Result result = run(arguments("X1:A-WAVE --stride 100ms"));
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(lines_of(result.err).size(), 1U) << result.err;
  EXPECT_EQ(result.err.rfind("error: ", 0), 0U) << result.err;
}

TEST_F(StreamProgramTest, AGapUnderRaiseEndsItAfterTheBlocksBefore) {
  publish(start_, 2);
  publish(start_ + 4 * kStride, 13);
  const Result result = run(arguments("X1:A-WAVE --on-gap raise") + kBounded);
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(lines_of(result.out).size(), 2U) << result.out;
  ASSERT_EQ(lines_of(result.err).size(), 1U) << result.err;
  EXPECT_EQ(result.err.rfind("error: ", 0), 0U) << result.err;
}

TEST_F(StreamProgramTest, TheEnvironmentGivesTheGapPolicy) {
  publish(start_, 2);
  publish(start_ + 4 * kStride, 13);
  ::setenv("ARRAKIS_ONGAP", "skip", 1);
  const Result result = run(arguments("X1:A-WAVE") + kBounded);
  ::unsetenv("ARRAKIS_ONGAP");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(lines_of(result.out).size(), 14U) << result.out;
}

TEST_F(StreamProgramTest, ReadsOnWhenSomebodyWantsOnlyTheFirstLine) {
  publish(start_, 40);
  const Result result = run(arguments("X1:A-WAVE --json --start 1400000000 --duration 2s") +
                            " | head -n 1; echo ${PIPESTATUS[0]} >&2");
  EXPECT_EQ(lines_of(result.out).size(), 1U);
  EXPECT_EQ(result.err, "0\n");
}

TEST_F(StreamProgramTest, AFullDiskIsAFailure) {
  publish(start_, 17);
  const Result result = run(arguments("X1:A-WAVE") + kBounded + "> /dev/full");
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.err, "error: the output can't be written: No space left on device\n");
}

class StreamSignalTest : public StreamProgramTest, public ::testing::WithParamInterface<int> {};

TEST_P(StreamSignalTest, EndsTheStreamAfterCompleteOutput) {
  publish(start_, 16);
  ShellProgram running(folder_, program(arguments("'X1:*' --json --start 1400000000")));
  ASSERT_TRUE(running.wait_for_lines(8));
  running.send(GetParam());
  const Result result = running.wait();
  EXPECT_EQ(result.status, 128 + GetParam());
  EXPECT_EQ(result.err.find("error"), std::string::npos) << result.err;
  for (const std::string& line : lines_of(result.out)) EXPECT_EQ(line.back(), '}');
  EXPECT_EQ(result.out.back(), '\n');
}

INSTANTIATE_TEST_SUITE_P(Signals, StreamSignalTest, ::testing::Values(SIGINT, SIGTERM),
                         [](const auto& param) { return param.param == SIGINT ? "Int" : "Term"; });

TEST_F(ProgramTest, CtrlCEndsItWhileTheBrokerIsSilent) {
  std::ofstream(folder_ + "/m.jsonl")
      << R"({"name": "X1:A-B", "data_type": "float32", "sample_rate": 16, "partition_id": "P", )"
      << R"("partition_index": 0, "stride": 62500000})"
      << "\n";
  // Port 9 (discard) of the loopback interface: nobody answers.
  ShellProgram running(
      folder_, program("stream --kafka-url 127.0.0.1:9 --metadata " + folder_ +
                       "/m.jsonl X1:A-B --start 0 > /dev/null 2> >(tee " + folder_ + "/out >&2)"));
  ASSERT_TRUE(running.wait_for_lines(1));  // "streaming 1 channel(s)": it is about to connect
  const auto began = std::chrono::steady_clock::now();
  running.send(SIGINT);
  EXPECT_EQ(running.wait().status, 130);
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds(3));
}

}  // namespace
}
