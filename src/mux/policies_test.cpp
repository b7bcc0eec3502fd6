#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "arrakis/error.hpp"
#include "arrakis/mux.hpp"

namespace arrakis::inline v1 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

Channel channel(const char* name, std::optional<Duration> stride,
                std::optional<Duration> max_latency) {
  Channel made(name, DataType::float32, SampleRate(64));
  made.stride = stride;
  made.max_latency = max_latency;
  return made;
}

template <typename F>
std::string message_of(Errc code, F&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  ADD_FAILURE() << "did not throw";
  return {};
}

TEST(Policies, AreReadInAnyCaseAndPrintedAsTheyAreRead) {
  for (const GapPolicy policy : {GapPolicy::fill, GapPolicy::skip, GapPolicy::raise}) {
    EXPECT_EQ(parse_gap_policy(to_string(policy)), policy);
  }
  for (const DropPolicy policy : {DropPolicy::ignore, DropPolicy::warn, DropPolicy::raise}) {
    EXPECT_EQ(parse_drop_policy(to_string(policy)), policy);
  }
  EXPECT_EQ(parse_gap_policy("Skip"), GapPolicy::skip);
  EXPECT_EQ(parse_drop_policy("WARN"), DropPolicy::warn);
}

TEST(Policies, UnknownOneIsRefusedWithTheChoices) {
  EXPECT_THAT(message_of(Errc::invalid_argument, [] { (void)parse_gap_policy("fil"); }),
              AllOf(HasSubstr("'fil'"), HasSubstr("fill, skip, raise")));
  EXPECT_THAT(message_of(Errc::invalid_argument, [] { (void)parse_drop_policy(""); }),
              AllOf(HasSubstr("''"), HasSubstr("ignore, warn, raise")));
}

TEST(MuxStream, TakesTheCommonStrideAndTheGreatestLatency) {
  const ChannelSet channels({channel("X1:A-a", milliseconds(500), std::nullopt),
                             channel("X1:A-b", milliseconds(750), seconds(2)),
                             channel("X1:A-c", milliseconds(250), seconds(1))});
  const MuxStream stream = mux_stream("A", channels);
  EXPECT_EQ(stream.name, "A");
  EXPECT_EQ(stream.stride, milliseconds(1500));
  EXPECT_EQ(stream.max_latency, seconds(2));
}

TEST(MuxStream, HasNoLatencyWhenNoChannelDeclaresOne) {
  const ChannelSet channels({channel("X1:A-a", milliseconds(500), std::nullopt)});
  EXPECT_EQ(mux_stream("A", channels).max_latency, std::nullopt);
}

TEST(MuxStream, NamesTheChannelWithoutAStride) {
  const ChannelSet channels(
      {channel("X1:A-a", seconds(1), seconds(1)), channel("X1:A-b", std::nullopt, seconds(1))});
  EXPECT_THAT(message_of(Errc::precondition, [&] { (void)mux_stream("A", channels); }),
              HasSubstr("X1:A-b"));
}

}  // namespace
}  // namespace arrakis::inline v1
