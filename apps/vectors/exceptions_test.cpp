#include "vectors/exceptions.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "vectors/runner.hpp"

namespace arrakis::vectors {
namespace {

std::string printed(const FileReport& report) {
  std::ostringstream out;
  report.print(out);
  return out.str();
}

TEST(Exceptions, AreFoundByFileAndFamilyOnly) {
  EXPECT_NE(find_exception("stream.json", "bounded-source-short"), nullptr);
  EXPECT_EQ(find_exception("stream.json", "bounded"), nullptr);
  EXPECT_EQ(find_exception("mux.json", "bounded-source-short"), nullptr);
  EXPECT_NE(find_exception("kafka/null_list.json", ""), nullptr);
}

TEST(Exceptions, ExceptedCaseThatDiffersAndIsRightIsNeitherPassedNorFailed) {
  FileReport report("stream.json");
  report.judge("bounded-source-short", "a", {.difference = "one block more"});
  EXPECT_EQ(report.passed(), 0U);
  EXPECT_EQ(report.failed(), 0U);
  EXPECT_EQ(report.excepted(), 1U);
}

TEST(Exceptions, ExceptedCaseThatNoLongerDiffersFails) {
  FileReport report("stream.json");
  report.judge("bounded-source-short", "a", {});
  EXPECT_EQ(report.failed(), 1U);
  EXPECT_NE(printed(report).find("no longer differs"), std::string::npos);
}

TEST(Exceptions, ExceptedCaseThatIsNotRightFails) {
  FileReport report("stream.json");
  report.judge("bounded-source-short", "a", {.difference = "other", .error = "a block is missing"});
  EXPECT_EQ(report.failed(), 1U);
  EXPECT_NE(printed(report).find("a block is missing"), std::string::npos);
}

TEST(Exceptions, VectorThatIsWrongInAnotherWayFails) {
  FileReport report("stream.json");
  report.judge("bounded-source-short", "a", {.difference = "x", .vector_error = "damaged"});
  EXPECT_EQ(report.failed(), 1U);
}

TEST(Exceptions, ConditionalOneHoldsOnlyWhereTheVectorIsWrong) {
  FileReport report("time.json");
  report.judge("time_as_ns", "a", {});
  report.judge("time_as_ns", "b", {.difference = "1 ns", .vector_is_right = false});
  report.judge("time_as_ns", "c", {.difference = "1 ns"});
  report.judge("time_as_ns", "d", {.vector_is_right = false});
  EXPECT_EQ(report.passed(), 1U);
  EXPECT_EQ(report.excepted(), 1U);
  EXPECT_EQ(report.failed(), 2U);
}

TEST(Exceptions, CaseWithoutOneMustEqualItsVector) {
  FileReport report("queue.json");
  report.judge("random", "queue-007", {.difference = "op 3 (pull): expected 1, got 2"});
  report.judge("random", "queue-008", {});
  EXPECT_EQ(printed(report),
            "queue.json: 1 passed, 1 failed, 0 excepted\n"
            "  queue-007 (random): op 3 (pull): expected 1, got 2\n");
}

}  // namespace
}  // namespace arrakis::vectors
