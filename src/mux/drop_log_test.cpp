#include "mux/drop_log.hpp"

#include <gmock/gmock.h>

#include "mux/captured_log.hpp"

namespace arrakis::inline v1 {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr GpsTime kNow = GpsTime::from_seconds(std::int64_t{1400000000});

TEST(DropLog, FirstDropIsToldAtOnceAndLaterOnesSummedUp) {
  CapturedLog captured;
  DropLog log;
  for (int i = 0; i < 5; ++i) log.drop(DropKind::late, "A", kNow, kNow);
  EXPECT_THAT(captured.take(LogLevel::warning),
              ElementsAre(HasSubstr("A: dropped 1 late element(s) since last report")));
  log.drop(DropKind::late, "A", kNow + seconds(34), kNow + seconds(35));
  EXPECT_THAT(
      captured.take(LogLevel::warning),
      ElementsAre("A: dropped 5 late element(s) since last report; latest: GPS 1400000034"));
}

TEST(DropLog, KindsAreToldApart) {
  CapturedLog captured;
  DropLog log;
  log.drop(DropKind::late, "A", kNow, kNow);
  log.drop(DropKind::overflow, "A", kNow, kNow);
  log.drop(DropKind::stride_mismatched, "A", kNow, kNow);
  EXPECT_THAT(
      captured.take(LogLevel::warning),
      ElementsAre(HasSubstr("1 late"), HasSubstr("1 overflow"), HasSubstr("1 stride-mismatched")));
}

TEST(DropLog, FinishedEpisodeTellsWhatWasUnreportedAndTheNextDropWarnsAtOnce) {
  CapturedLog captured;
  DropLog log;
  EXPECT_EQ(log.finish(DropKind::late), std::nullopt);
  for (int i = 0; i < 3; ++i) log.drop(DropKind::late, "A", kNow, kNow);
  EXPECT_EQ(log.finish(DropKind::late), 2U);
  EXPECT_EQ(log.finish(DropKind::late), std::nullopt);
  EXPECT_EQ(captured.take(LogLevel::warning).size(), 1U);
  log.drop(DropKind::late, "A", kNow, kNow);
  EXPECT_EQ(captured.take(LogLevel::warning).size(), 1U);
}

TEST(DropLog, ClockThatWasSetBackDoesNotSilenceIt) {
  CapturedLog captured;
  DropLog log;
  log.drop(DropKind::late, "A", kNow, kNow);
  log.drop(DropKind::late, "A", kNow, kNow - seconds(3600));
  EXPECT_EQ(captured.take(LogLevel::warning).size(), 1U);
  log.drop(DropKind::late, "A", kNow, kNow - seconds(3600 - 30));
  EXPECT_THAT(captured.take(LogLevel::warning), ElementsAre(HasSubstr("dropped 2 late")));
}

TEST(DropLog, HostileClockDoesNotOverflow) {
  DropLog log;
  for (int i = 0; i < 4; ++i) {
    log.drop(DropKind::late, "A", GpsTime::min(), GpsTime::min());
    log.drop(DropKind::late, "A", GpsTime::max(), GpsTime::max());
  }
  EXPECT_TRUE(log.finish(DropKind::late).has_value());
}

}  // namespace
}  // namespace arrakis::inline v1
