#include "vectors/stream_expected.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace arrakis::vectors {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kStride = 250'000'000;

/// Two streams of one 4 Hz channel each, so that a block has one sample.
Json trace(const char* on_gap, Json end, Json stride) {
  const auto stream = [](const char* name) -> Json {
    const Json channel = {{"name", std::string("X1:") + name},
                          {"data_type", "int32"},
                          {"sample_rate", 4},
                          {"stride", kStride},
                          {"max_latency", 1'000'000'000}};
    return {{"name", name}, {"channels", Json::array({channel})}};
  };
  return {{"mux",
           {{"start", 0},
            {"timeout", 0},
            {"on_gap", on_gap},
            {"stride", std::move(stride)},
            {"streams", Json::array({stream("A"), stream("B")})}}},
          {"end_ns", std::move(end)},
          {"expect", Json::array()},
          {"expect_end", "ended"},
          {"reads", Json::array({{{"now_ns", 0}, {"blocks", Json::array()}}})}};
}

void deliver(Json& trace, const char* stream, std::int64_t slot, int value) {
  trace["reads"][0]["blocks"].push_back(
      {{"stream", stream},
       {"time_ns", slot * kStride},
       {"data", {{std::string("X1:") + stream, Json::array({value})}}}});
}

Json block(std::int64_t slot, Json a, Json b) {
  const auto strides = static_cast<std::int64_t>(a.size());
  return {{"time_ns", slot * kStride},
          {"duration_ns", strides * kStride},
          {"data", {{"X1:A", std::move(a)}, {"X1:B", std::move(b)}}}};
}

TEST(RightStreamOutcome, SourceThatStopsEarlyLeavesGapsUpToTheEnd) {
  Json script = trace("fill", 3 * kStride, nullptr);
  deliver(script, "A", 0, 1);
  deliver(script, "B", 0, 2);
  deliver(script, "A", 1, 3);
  const Json blocks = right_stream_outcome(script)["blocks"];
  EXPECT_EQ(blocks, Json::array({block(0, {1}, {2}), block(1, {3}, {nullptr}),
                                 block(2, {nullptr}, {nullptr})}));
}

TEST(RightStreamOutcome, NothingThatStartsAtTheEndIsDelivered) {
  Json script = trace("skip", kStride, nullptr);
  for (const std::int64_t slot : {0, 1}) {
    deliver(script, "A", slot, 1);
    deliver(script, "B", slot, 2);
  }
  EXPECT_EQ(right_stream_outcome(script)["blocks"], Json::array({block(0, {1}, {2})}));
}

TEST(RightStreamOutcome, WithoutAnEndWhatOneStreamHasIsDelivered) {
  Json script = trace("skip", nullptr, nullptr);
  deliver(script, "A", 0, 1);
  deliver(script, "A", 2, 3);
  EXPECT_EQ(right_stream_outcome(script)["blocks"],
            Json::array({block(0, {1}, {nullptr}), block(2, {3}, {nullptr})}));
}

TEST(RightStreamOutcome, LastOutputIsCutShortByTheEnd) {
  Json script = trace("fill", 3 * kStride, 2 * kStride);
  for (const std::int64_t slot : {0, 1, 2}) {
    deliver(script, "A", slot, static_cast<int>(slot));
    deliver(script, "B", slot, 9);
  }
  EXPECT_EQ(right_stream_outcome(script)["blocks"],
            Json::array({block(0, {0, 1}, {9, 9}), block(2, {2}, {9})}));
}

TEST(RightStreamOutcome, LiveStreamDeliversNothingThatStartsAtItsEnd) {
  Json script = trace("fill", kStride, nullptr);
  script["mux"]["start"] = nullptr;
  script["expect"] = Json::array({block(0, {1}, {2}), block(1, {3}, {4})});
  EXPECT_EQ(right_stream_outcome(script)["blocks"], Json::array({block(0, {1}, {2})}));
}

}  // namespace
}  // namespace arrakis::vectors
