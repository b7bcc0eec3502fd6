// arrakis publish, lag, gaps and -o, by a real broker and the reference's server.

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "arrakis/files.hpp"
#include "testing/python_server.hpp"
#include "testing/real_broker.hpp"
#include "testing/shell_program.hpp"
#include "testing/temporary_folder.hpp"

namespace arrakis {
namespace {

using nlohmann::json;
using testing::lines_of;
using testing::PublisherConfig;
using testing::PythonServer;
using testing::RealBroker;
using testing::ShellProgram;
using testing::TemporaryFolder;
using Result = ShellProgram::Result;

constexpr std::int64_t kStrideNs = 62'500'000;
constexpr Duration kSecond = std::chrono::seconds(1);

class CliPublish : public ::testing::Test {
 protected:
  CliPublish() {
    PublisherConfig config;
    config.publisher_id = "PUB";
    config.is_dynamic = true;
    config.stride_ns = kStrideNs;
    config.channels = {{"X1:AAA-F", "float32", 64}, {"X1:BBB-I", "int32", 16}};
    server_.start({"kafka", "--kafka-url", broker_.bootstrap(), "--publisher-config",
                   server_.write("publisher.toml", config.toml())});
  }

  [[nodiscard]] std::string command(const std::string& arguments) const {
    return "env ARRAKIS_SERVER='" + server_.url() + "' '" ARRAKIS_PROGRAM "' -q " + arguments;
  }
  [[nodiscard]] Result run(const std::string& arguments) const {
    return ShellProgram(folder_.path().string(), command(arguments)).wait();
  }
  [[nodiscard]] Result python(const std::string& arguments) const {
    return ShellProgram(folder_.path().string(), "env ARRAKIS_SERVER='" + server_.url() +
                                                     "' '" ARRAKIS_DEPS "/venv/bin/arrakis' -q " +
                                                     arguments)
        .wait();
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  /// Seconds from the test's own origin as GPS seconds. That is recent, because the server knows
  /// channels of the last hours only.
  [[nodiscard]] std::string gps(int seconds) const {
    return format_time(origin_ + seconds * kSecond);
  }
  /// Publishes five seconds of a ramp from the origin on.
  void publish_ramp(const std::string& more = {}) const {
    const Result result = run(
        "publish --publisher PUB --generate ramp --amplitude 100 --duration 5s --rate 0 --start " +
        gps(0) + " " + more);
    ASSERT_EQ(result.status, 0) << result.err;
    ASSERT_EQ(result.err, "");
  }
  /// Straight from the broker, where data of any time is found.
  [[nodiscard]] std::string from_kafka() const { return " --kafka-url " + broker_.bootstrap(); }
  /// Four seconds of it.
  [[nodiscard]] std::string span(int from = 0) const {
    return " --start " + gps(from) + " --duration 4 ";
  }

  const GpsTime origin_ = system_clock().now().floor_to(kSecond) - 120 * kSecond;
  RealBroker broker_{RealBroker::Options{}};
  PythonServer server_;
  TemporaryFolder folder_;
};

TEST_F(CliPublish, WhatIsGeneratedComesOutOfBothPrograms) {
  publish_ramp();
  const std::string arguments = "stream X1:AAA-F --json" + span() + from_kafka();
  const Result ours = run(arguments);
  const Result theirs = python(arguments);
  ASSERT_EQ(ours.status, 0) << ours.err;
  EXPECT_EQ(lines_of(ours.out).size(), 64U) << ours.out;
  EXPECT_EQ(ours.out, theirs.out) << theirs.err;
  const json first = json::parse(lines_of(ours.out).at(0));
  EXPECT_EQ(first.at("time_ns"), origin_.ns());
}

TEST_F(CliPublish, FilesComeBackEqual) {
  publish_ramp("--dropout 0.3 --dropout-length 250ms");
  const std::string stream = "stream 'X1:*'" + span() + from_kafka();
  const std::string before = run(stream + " --json").out;
  ASSERT_EQ(lines_of(before).size(), 64U);
  EXPECT_NE(before.find("null"), std::string::npos);
  int start = 0;
  for (const char* name : {"run.arrow", "run.parquet"}) {
    start += 20;
    const Result written = run(stream + " -o " + path(name));
    ASSERT_EQ(written.status, 0) << written.err;
    EXPECT_EQ(written.out, "");
    // At a later time, and read again.
    const Result published =
        run("publish --publisher PUB --rate 0 --start " + gps(start) + " " + path(name));
    ASSERT_EQ(published.status, 0) << published.err;
    const std::string after = run("stream 'X1:*' --json" + span(start) + from_kafka()).out;
    ASSERT_EQ(lines_of(after).size(), 64U);
    for (std::size_t i = 0; i < 64; ++i) {
      json old_block = json::parse(lines_of(before)[i]);
      json new_block = json::parse(lines_of(after)[i]);
      EXPECT_EQ(new_block.at("data"), old_block.at("data")) << i;
      EXPECT_EQ(new_block.at("time_ns").get<std::int64_t>() - start * kSecond.count(),
                old_block.at("time_ns").get<std::int64_t>());
    }
  }
}

TEST_F(CliPublish, APipeIsAnInput) {
  publish_ramp();
  const Result result =
      run("stream X1:BBB-I --json" + span() + from_kafka() + " | " +
          command("publish --publisher PUB --start " + gps(20) + " - ; echo ${PIPESTATUS[*]}"));
  EXPECT_EQ(result.out, "0 0\n") << result.err;
  const Result read = run("stream X1:BBB-I --json" + span(20) + from_kafka());
  EXPECT_EQ(lines_of(read.out).size(), 64U) << read.err;
}

TEST_F(CliPublish, GapsAreListedAndKnownByTheStatus) {
  publish_ramp("--dropout 0.3 --dropout-length 250ms");
  const std::string gaps = "gaps 'X1:*'" + span() + from_kafka();
  const Result text = run(gaps);
  EXPECT_EQ(text.status, 3) << text.err;
  const std::regex line(R"(\d{10}(\.\d+)? \d{10}(\.\d+)? \d(\.\d+)? s X1:(AAA-F|BBB-I))");
  for (const std::string& each : lines_of(text.out)) {
    EXPECT_TRUE(std::regex_match(each, line)) << each;
  }
  const Result as_json = run(gaps + " --json");
  ASSERT_EQ(lines_of(as_json.out).size(), lines_of(text.out).size());
  for (const std::string& each : lines_of(as_json.out)) {
    const json segment = json::parse(each);
    EXPECT_LT(segment.at("start_ns").get<std::int64_t>(), segment.at("end_ns").get<std::int64_t>());
  }
  // Five seconds were published, the sixth is missing.
  const Result beyond =
      run("gaps X1:BBB-I --json --every --start " + gps(4) + " --end " + gps(6) + from_kafka());
  EXPECT_EQ(beyond.status, 3);
  ASSERT_FALSE(lines_of(beyond.out).empty()) << beyond.err;
  EXPECT_EQ(json::parse(lines_of(beyond.out).back()).at("end_ns"), (origin_ + 6 * kSecond).ns());
}

TEST_F(CliPublish, NothingMissingIsStatusZero) {
  publish_ramp();
  const Result result = run("gaps 'X1:*'" + span() + from_kafka());
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "");
}

TEST_F(CliPublish, LagShowsEveryPartitionUntilInterrupted) {
  const ShellProgram publishing(folder_.path().string(),
                                command("publish --publisher PUB --generate noise >/dev/null"));
  const TemporaryFolder own;
  ShellProgram watching(own.path().string(),
                        command("lag 'X1:*' --json --interval 100ms" + from_kafka()));
  ASSERT_TRUE(watching.wait_for_lines(40, std::chrono::seconds(60)));
  watching.send(SIGINT);
  const Result result = watching.wait();
  EXPECT_EQ(result.status, 130) << result.err;
  std::set<std::string> partitions;
  json last;
  for (const std::string& line : lines_of(result.out)) {
    last = json::parse(line);
    partitions.insert(last.at("partition"));
  }
  EXPECT_EQ(partitions.size(), 2U);
  EXPECT_GT(last.at("blocks").get<int>(), 0);
  EXPECT_GT(last.at("lag_ns").get<std::int64_t>(), 0);
}

TEST_F(CliPublish, AnInterruptedRecordingIsAValidFile) {
  const ShellProgram publishing(folder_.path().string(),
                                command("publish --publisher PUB --generate sine >/dev/null"));
  const TemporaryFolder own;
  const std::string file = (own.path() / "live.arrow").string();
  // The lines on standard output are those of a second reader of the same data: when it has got
  // some, so has the recording, which began before.
  ShellProgram recording(own.path().string(), command("stream 'X1:*' -o " + file + from_kafka()));
  const TemporaryFolder other;
  ShellProgram beside(other.path().string(), command("stream 'X1:*' --duration 2s" + from_kafka()));
  EXPECT_EQ(beside.wait().status, 0);
  recording.send(SIGINT);
  EXPECT_EQ(recording.wait().status, 130);
  BlockReader reader(file);
  std::size_t blocks = 0;
  while (reader.next()) ++blocks;
  EXPECT_GT(blocks, 1U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(own.path()), {}), 3);
}

TEST_F(CliPublish, RefusalsAreALine) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"publish --publisher NOBODY --generate sine --duration 1s", "NOBODY"},
      {"publish --publisher PUB /nowhere/run.arrow", "/nowhere/run.arrow"},
      {"publish --publisher PUB - < /dev/null", ""},
      {"stream X1:BBB-I --duration 1s -o /nowhere/x.h5" + from_kafka(), "/nowhere"},
  };
  for (const auto& [arguments, what] : cases) {
    const Result result = run(arguments);
    if (what.empty()) {
      EXPECT_EQ(result.status, 0) << result.err;
      continue;
    }
    EXPECT_EQ(result.status, 1) << arguments << result.err;
    ASSERT_EQ(lines_of(result.err).size(), 1U) << result.err;
    EXPECT_NE(result.err.find(what), std::string::npos) << result.err;
  }
}

}  // namespace
}
