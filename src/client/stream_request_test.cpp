#include "client/stream_request.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <string>

#include "arrakis/error.hpp"

namespace arrakis {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr GpsTime kStart = GpsTime::from_seconds(1'400'000'000);

/// An environment with these variables.
class Variables {
 public:
  Variables(std::initializer_list<std::pair<const std::string, std::string>> values)
      : values_(values) {}
  Environment look_up() const {
    return [this](const char* name) -> const char* {
      const auto found = values_.find(name);
      return found == values_.end() ? nullptr : found->second.c_str();
    };
  }

 private:
  std::map<std::string, std::string> values_;
};
const Variables kNone{};

StreamRequest request() {
  StreamRequest made;
  made.channels = {"X1:A-B"};
  return made;
}

std::string refusal(const StreamRequest& request, const Variables& variables = kNone,
                    bool fetch = false) {
  try {
    (void)(fetch ? checked_fetch : checked_stream)(request, variables.look_up());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(StreamRequest, ChannelsAreTakenOnceInTheirOrder) {
  StreamRequest twice = request();
  twice.channels = {"X1:B", "X1:A", "X1:B"};
  EXPECT_THAT(checked_stream(twice, kNone.look_up()).channels, ElementsAre("X1:B", "X1:A"));
}

TEST(StreamRequest, PoliciesComeFromTheRequestElseTheEnvironmentElseAreFillAndIgnore) {
  const Variables raise{{"ARRAKIS_ONGAP", "RAISE"}, {"ARRAKIS_ONDROP", "warn"}};
  EXPECT_EQ(checked_stream(request(), kNone.look_up()).on_gap, GapPolicy::fill);
  EXPECT_EQ(checked_stream(request(), kNone.look_up()).on_drop, DropPolicy::ignore);
  EXPECT_EQ(checked_stream(request(), raise.look_up()).on_gap, GapPolicy::raise);
  EXPECT_EQ(checked_stream(request(), raise.look_up()).on_drop, DropPolicy::warn);
  StreamRequest own = request();
  own.on_gap = GapPolicy::skip;
  EXPECT_EQ(checked_stream(own, raise.look_up()).on_gap, GapPolicy::skip);
}

TEST(StreamRequest, AnUnknownPolicyNamesItsVariable) {
  EXPECT_THAT(
      refusal(request(), {{"ARRAKIS_ONGAP", "flil"}}),
      ::testing::AllOf(HasSubstr("ARRAKIS_ONGAP"), HasSubstr("'flil'"), HasSubstr("raise")));
}

TEST(StreamRequest, ADurationAfterAStartIsAnEnd) {
  StreamRequest span = request();
  span.start = kStart;
  span.duration = 10s;
  const StreamRequest checked = checked_stream(span, kNone.look_up());
  EXPECT_EQ(checked.end, kStart + 10s);
  EXPECT_FALSE(checked.duration);
}

TEST(StreamRequest, WhatContradictsItselfIsRefusedBeforeAnybodyIsAsked) {
  StreamRequest both = request();
  both.end = kStart;
  both.duration = 1s;
  EXPECT_THAT(refusal(both), HasSubstr("mutually exclusive"));
  StreamRequest negative = request();
  negative.duration = -1s;
  EXPECT_THAT(refusal(negative), HasSubstr("the duration must be positive"));
  StreamRequest inverted = request();
  inverted.start = kStart;
  inverted.end = kStart;
  EXPECT_THAT(refusal(inverted), HasSubstr("must be after the start (GPS 1400000000)"));
  StreamRequest none = request();
  none.channels.clear();
  EXPECT_THAT(refusal(none), HasSubstr("no channel is named"));
  StreamRequest odd = request();
  odd.channels = {"nocolon"};
  EXPECT_THAT(refusal(odd), HasSubstr("'nocolon' is no channel name"));
  StreamRequest stride = request();
  stride.stride = 0s;
  EXPECT_THAT(refusal(stride), HasSubstr("integer multiple"));
  StreamRequest replay = request();
  replay.replay_window = {kStart, kStart};
  EXPECT_THAT(refusal(replay), HasSubstr("replay window's end"));
  replay.replay_window = {kStart, kStart + 1s};
  replay.replay_id = "O4";
  EXPECT_THAT(refusal(replay), HasSubstr("mutually exclusive"));
}

TEST(StreamRequest, OneBlockNeedsAStartForItsEndAndNoSkipping) {
  StreamRequest end = request();
  end.end = kStart;
  EXPECT_THAT(refusal(end, kNone, true), HasSubstr("end requires start"));
  EXPECT_THAT(refusal(request(), {{"ARRAKIS_ONGAP", "skip"}}, true), HasSubstr("gap policy"));
}

TEST(StreamRequest, SpansReadAsFullSeconds) {
  StreamRequest span = request();
  EXPECT_EQ(span_text(span), "live");
  span.duration = 10s;
  EXPECT_EQ(span_text(span), "live for 10 s");
  span.start = kStart;
  EXPECT_EQ(span_text(span), "GPS [1400000000, 1400000010)");
  span.duration.reset();
  span.replay_id = "O4";
  EXPECT_EQ(span_text(span), "from GPS 1400000000, replay O4");
  span = request();
  span.end = kStart;
  span.replay_window = {kStart, kStart + 1s};
  EXPECT_EQ(span_text(span), "live until GPS 1400000000, replay window [1400000000, 1400000001)");
}

TEST(StreamRequest, DigestsDependOnWhatIsReadAndNotOnHow) {
  StreamRequest a = request();
  a.channels = {"X1:A", "X1:B"};
  StreamRequest b = request();
  b.channels = {"X1:B", "X1:A"};
  b.start = kStart;
  EXPECT_EQ(digest_of(a), digest_of(b));
  b.replay_id = "O4";
  EXPECT_NE(digest_of(a), digest_of(b));
  EXPECT_NE(digest_of(a), digest_of(request()));
}

TEST(StreamRequest, ArchiveTimeIsFoundAlsoBeforeTheWindow) {
  const ReplayWindow window{GpsTime::from_ns(100), GpsTime::from_ns(200)};
  EXPECT_EQ(archive_time(window, GpsTime::from_ns(250)).ns(), 150);
  EXPECT_EQ(archive_time(window, GpsTime::from_ns(50)).ns(), 150);
}

}
}
