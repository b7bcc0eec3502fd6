#include "vectors/runner.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace arrakis::vectors {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGoodTopics =
    R"({"data": [{"partition_id": "x", "replay_id": "", "topic": "arrakis-replay--x"},
                 {"partition_id": "y", "replay_id": null, "topic": "arrakis-y"}], "metadata": []})";
constexpr const char* kWrongTopics =
    R"({"data": [{"partition_id": "y", "replay_id": null, "topic": "arrakis-z"}]})";

/// A folder that is gone after the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "vectors-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void add(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

struct Replayed {
  Summary summary;
  std::string text;
};
Replayed replay(const Folder& folder) {
  std::ostringstream out;
  Summary summary = replay_folder(folder.path(), out);
  return {std::move(summary), out.str()};
}

TEST(ReplayFolder, PrintsALineForEachFileAndTheTotalsLast) {
  const Folder folder;
  folder.add("topics.json", kGoodTopics);
  folder.add("partitioning.json", "{}");
  const Replayed replayed = replay(folder);
  EXPECT_EQ(replayed.summary.problem, "");
  EXPECT_EQ(replayed.text,
            "partitioning.json: no handler\n"
            "topics.json: 2 passed, 0 failed, 0 excepted; metadata: no handler\n"
            "2 passed, 0 failed\n");
}

TEST(ReplayFolder, CountsWhatDiffersAndSaysHow) {
  const Folder folder;
  folder.add("topics.json", kWrongTopics);
  const Replayed replayed = replay(folder);
  EXPECT_EQ(replayed.summary.failed, 1U);
  EXPECT_NE(replayed.text.find(R"(  data[0]: expected "arrakis-z", got "arrakis-y")"),
            std::string::npos);
}

TEST(ReplayFolder, MalformedFilesAreOneFailureEachAndStopNothing) {
  const Folder folder;
  folder.add("budgets.json", "{\"cases\": [");
  folder.add("channels.json", "[]");
  folder.add("mux.json", R"({"traces": 5})");
  folder.add("policy.json", "");
  folder.add("kafka/a.json", "{}");
  folder.add("schemas/schemas.json", R"({"count": 7})");
  folder.add("topics.json", kGoodTopics);
  const Replayed replayed = replay(folder);
  EXPECT_EQ(replayed.summary.failed, 6U) << replayed.text;
  EXPECT_EQ(replayed.summary.passed, 2U) << replayed.text;
}

TEST(ReplayFolder, MalformedCasesAreFailuresOfThoseCases) {
  const Folder folder;
  folder.add("queue.json", R"({"traces": [7, {}, {"id": "q", "family": "random", "now_ns": 0,
      "queue": {"stride": 0, "timeout": 0, "start": null}}]})");
  folder.add("replay.json", R"({"cases": [{"start": 5, "end": 5, "t": 0, "translated": 0}]})");
  const Replayed replayed = replay(folder);
  EXPECT_EQ(replayed.summary.failed, 4U) << replayed.text;
  EXPECT_EQ(replayed.summary.passed, 0U) << replayed.text;
}

TEST(ReplayFolder, MissingMessageOfAVectorIsAFailureThatNamesIt) {
  const Folder folder;
  folder.add("kafka/a.json", R"({"file": "a.arrow", "requested_channels": []})");
  const Replayed replayed = replay(folder);
  EXPECT_EQ(replayed.summary.failed, 1U);
  EXPECT_NE(replayed.text.find("a.arrow"), std::string::npos);
}

TEST(ReplayFolder, FolderWithoutVectorsIsAProblem) {
  const Folder folder;
  folder.add("settings.json", "{}");
  EXPECT_NE(replay(folder).summary.problem, "");
  std::ostringstream out;
  EXPECT_NE(replay_folder(folder.path() / "missing", out).problem, "");
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace arrakis::vectors
