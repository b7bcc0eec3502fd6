#include "mux/gap_log.hpp"

#include <gmock/gmock.h>

#include "mux/captured_log.hpp"

namespace arrakis::inline v1 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr GpsTime kBase = GpsTime::from_seconds(std::int64_t{1400000000});
constexpr Duration kStride = milliseconds(500);

GpsTime slot(int n) { return kBase + n * kStride; }
void gap(GapLog& log, int n) { log.gap("A", slot(n), slot(n)); }

TEST(GapLog, ShortRunIsToldAtDebugOnly) {
  CapturedLog captured;
  GapLog log(seconds(3));
  log.data("A", slot(0));
  for (int i = 1; i <= 5; ++i) gap(log, i);
  EXPECT_EQ(log.state(), GapLog::State::short_gap);
  log.data("A", slot(6));
  EXPECT_EQ(log.state(), GapLog::State::flowing);
  EXPECT_THAT(captured.take(LogLevel::debug),
              ElementsAre("A: data resumed at GPS 1400000003.000 after 2.5 s of gap"));
  EXPECT_THAT(captured.take(LogLevel::info), IsEmpty());
  EXPECT_THAT(captured.take(LogLevel::warning), IsEmpty());
}

TEST(GapLog, LongRunIsWarnedOfOnceAndItsEndIsTold) {
  CapturedLog captured;
  GapLog log(seconds(3));
  log.data("A", slot(0));
  for (int i = 1; i <= 20; ++i) gap(log, i);
  EXPECT_EQ(log.state(), GapLog::State::long_gap);
  EXPECT_THAT(captured.take(LogLevel::warning),
              ElementsAre("A: no data since GPS 1400000000.500 (3.0 s); serving gaps until data "
                          "resumes"));
  log.data("A", slot(21));
  EXPECT_THAT(captured.take(LogLevel::info),
              ElementsAre("A: data resumed at GPS 1400000010.500 after 10.0 s of gap"));
}

TEST(GapLog, PatienceIsAtLeastASecond) {
  CapturedLog captured;
  GapLog log(Duration::zero());
  log.data("A", slot(0));
  gap(log, 1);
  gap(log, 2);
  EXPECT_THAT(captured.take(LogLevel::warning), IsEmpty());
  gap(log, 3);
  EXPECT_THAT(captured.take(LogLevel::warning), ElementsAre(HasSubstr("(1.0 s)")));
}

TEST(GapLog, GapBeforeTheFirstDataIsNoEpisode) {
  CapturedLog captured;
  GapLog log(seconds(3));
  for (int i = 0; i < 20; ++i) gap(log, i);
  EXPECT_EQ(log.state(), GapLog::State::waiting_first);
  EXPECT_THAT(captured.take(LogLevel::debug), ElementsAre(HasSubstr("until data arrives")));
  log.data("A", slot(20));
  EXPECT_EQ(log.state(), GapLog::State::flowing);
  EXPECT_THAT(captured.take(LogLevel::debug), IsEmpty());
  EXPECT_THAT(captured.take(LogLevel::info), IsEmpty());
  EXPECT_THAT(captured.take(LogLevel::warning), IsEmpty());
}

TEST(GapLog, SkippedRunCountsAsServedAtOnce) {
  CapturedLog captured;
  GapLog log(seconds(3));
  log.data("A", slot(0));
  log.gap("A", slot(1), slot(1000));
  EXPECT_THAT(captured.take(LogLevel::warning), ElementsAre(HasSubstr("(499.5 s)")));
  log.gap("A", slot(1001), slot(2000));
  EXPECT_THAT(captured.take(LogLevel::warning), IsEmpty());
}

}  // namespace
}  // namespace arrakis::inline v1
