#include "bench/stride_messages.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "bench/synthetic.hpp"
#include "wire/part.hpp"
#include "wire/row_decoder.hpp"

namespace arrakis::bench {
namespace {

TEST(StrideMessages, AreWhatAPublisherWouldSendAtThatTime) {
  const Shape shape{.partitions = 2, .channels = 3, .rate = 32, .type = DataType::int16};
  const ChannelSet channels = make_channels(shape, "P");
  StrideMessages messages(channels);
  ASSERT_EQ(messages.size(), 2U);
  const GpsTime time = GpsTime::from_seconds(std::int64_t{1'400'000'000});
  const auto expected = encode_messages(make_samples(channels, time, 1));
  for (std::size_t i = 0; i < 2; ++i) {
    messages.set_time(i, time);
    EXPECT_EQ(messages.topic(i), expected[i].topic);
    const std::span<const std::byte> bytes = messages.bytes(i);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
              expected[i].bytes);
  }
}

TEST(Synthetic, RateThatDoesNotFillAStrideIsRefused) {
  EXPECT_THROW(make_channels({.rate = 17}, "P"), Error);
}

}
}
