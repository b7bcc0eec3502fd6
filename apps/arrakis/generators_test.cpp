#include "generators.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "arrakis/error.hpp"
#include "testing/channels.hpp"

namespace arrakis::cli {
namespace {

using ::testing::HasSubstr;

constexpr GpsTime kStart = GpsTime::from_seconds(1'400'000'000);
constexpr Duration kSecond = std::chrono::seconds(1);

ChannelSet set_of(std::vector<Channel> channels) { return ChannelSet(std::move(channels)); }
Channel fast(const std::string& name, DataType type = DataType::float64) {
  return {name, type, SampleRate(256)};
}

std::vector<double> values(const SeriesBlock& block, std::size_t channel = 0) {
  const Series series = block.at(channel);
  std::vector<double> all;
  for (std::size_t i = 0; i < series.size(); ++i) all.push_back(series.value_as_double(i));
  return all;
}

TEST(Waveform, NamesReadBackAndOthersAreNone) {
  for (const Waveform waveform :
       {Waveform::sine, Waveform::chirp, Waveform::noise, Waveform::ramp}) {
    EXPECT_EQ(parse_waveform(to_string(waveform)), waveform);
  }
  EXPECT_EQ(parse_waveform("square"), std::nullopt);
}

TEST(Generator, SampleDependsOnItsTimeAndNotOnTheBlockAroundIt) {
  const ChannelSet channels = set_of({fast("X1:A"), fast("X1:B", DataType::int32)});
  for (const Waveform waveform :
       {Waveform::sine, Waveform::chirp, Waveform::noise, Waveform::ramp}) {
    const Generator generator(channels, {.waveform = waveform,
                                         .amplitude = 1000,
                                         .seed = 3,
                                         .dropout = 0.3,
                                         .dropout_length = std::chrono::milliseconds(125)});
    const SeriesBlock whole = generator.block(kStart, kSecond);
    std::vector<SeriesBlock> pieces(16);
    for (int i = 15; i >= 0; --i) {
      pieces[static_cast<std::size_t>(i)] =
          generator.block(kStart + i * kSecond / 16, kSecond / 16);
    }
    const SeriesBlock joined = concatenate(pieces);
    for (std::size_t c = 0; c < 2; ++c) {
      for (std::size_t i = 0; i < 256; ++i) {
        ASSERT_EQ(joined.at(c).is_gap(i), whole.at(c).is_gap(i)) << to_string(waveform);
        if (whole.at(c).is_gap(i)) continue;
        ASSERT_EQ(joined.at(c).value_as_double(i), whole.at(c).value_as_double(i));
      }
    }
  }
}

TEST(Generator, SineIsExactFourteenHundredMillionSecondsAfterTheEpoch) {
  const Generator generator(set_of({fast("X1:A")}),
                            {.amplitude = 2, .offset = 5, .frequency = 10.25});
  const std::vector<double> samples = values(generator.block(kStart + kSecond, kSecond));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    // 1400000001 * 10.25 has the fraction 0.25.
    const double cycles = 0.25 + 10.25 * static_cast<double>(i) / 256;
    EXPECT_NEAR(samples[i], 5 + 2 * std::sin(2 * std::numbers::pi * cycles), 1e-9) << i;
  }
}

TEST(Generator, ChirpPassesZeroAsOftenAsItsFrequenciesSay) {
  const Generator generator(
      set_of({fast("X1:A")}),
      {.waveform = Waveform::chirp, .frequency = 2, .end_frequency = 18, .period = 4 * kSecond});
  const auto crossings = [&](int second) {
    const std::vector<double> samples = values(generator.block(kStart + second * kSecond, kSecond));
    int count = 0;
    for (std::size_t i = 1; i < samples.size(); ++i) {
      count += (samples[i - 1] < 0) != (samples[i] < 0) ? 1 : 0;
    }
    return count;
  };
  EXPECT_NEAR(crossings(0), 8, 2);   // 4 Hz in the middle of the first second
  EXPECT_NEAR(crossings(3), 32, 2);  // 16 Hz in that of the last
  EXPECT_NEAR(crossings(4), 8, 2);   // and again
}

TEST(Generator, RampRisesFromOffsetThroughEachPeriod) {
  const Generator generator(
      set_of({fast("X1:A")}),
      {.waveform = Waveform::ramp, .amplitude = 8, .offset = -1, .period = 2 * kSecond});
  const std::vector<double> samples = values(generator.block(kStart, 2 * kSecond));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    EXPECT_DOUBLE_EQ(samples[i], -1 + 8 * static_cast<double>(i) / 512);
  }
}

TEST(Generator, NoiseHasTheDeviationAskedForAndItsOwnForEachChannelAndSeed) {
  const ChannelSet channels = set_of({fast("X1:A"), fast("X1:B")});
  const auto noise = [&](std::uint64_t seed) {
    return Generator(channels, {.waveform = Waveform::noise, .amplitude = 3, .seed = seed})
        .block(kStart, 64 * kSecond);
  };
  const SeriesBlock block = noise(1);
  const std::vector<double> a = values(block, 0);
  double squares = 0;
  double sum = 0;
  for (const double sample : a) {
    sum += sample;
    squares += sample * sample;
  }
  const auto count = static_cast<double>(a.size());
  EXPECT_NEAR(sum / count, 0, 0.15);
  EXPECT_NEAR(std::sqrt(squares / count), 3, 0.15);
  EXPECT_NE(a, values(block, 1));
  EXPECT_NE(a, values(noise(2), 0));
  EXPECT_EQ(a, values(noise(1), 0));
}

TEST(Generator, DropoutsTakeTheShareOfTimeAskedForInWholePieces) {
  const Generator generator(set_of({fast("X1:A"), fast("X1:B")}),
                            {.dropout = 0.25, .dropout_length = std::chrono::milliseconds(500)});
  const SeriesBlock block = generator.block(kStart, 500 * kSecond);
  const Series series = block.at(0);
  std::size_t missing = 0;
  for (std::size_t piece = 0; piece < 1000; ++piece) {
    for (std::size_t i = 1; i < 128; ++i) {
      ASSERT_EQ(series.is_gap(piece * 128), series.is_gap(piece * 128 + i));
    }
    missing += series.is_gap(piece * 128) ? 1U : 0U;
  }
  EXPECT_NEAR(static_cast<double>(missing), 250, 60);
  EXPECT_NE(block.at(0).gap_count(), 0U);
  bool differ = false;
  for (std::size_t i = 0; i < series.size(); ++i) {
    differ = differ || series.is_gap(i) != block.at(1).is_gap(i);
  }
  EXPECT_TRUE(differ);
}

TEST(Generator, IntegersAreRoundedAndEndAtTheirTypesLimits) {
  const auto extremes = [](DataType type) {
    const Generator generator(set_of({fast("X1:A", type)}), {.amplitude = 1e30, .frequency = 16});
    const std::vector<double> samples = values(generator.block(kStart, kSecond));
    return std::pair(*std::min_element(samples.begin(), samples.end()),
                     *std::max_element(samples.begin(), samples.end()));
  };
  EXPECT_EQ(extremes(DataType::int8), std::pair(-128.0, 127.0));
  EXPECT_EQ(extremes(DataType::uint16), std::pair(0.0, 65535.0));
  EXPECT_EQ(extremes(DataType::uint64).second, 18446744073709551615.0);
  const Generator generator(set_of({fast("X1:A", DataType::int16)}),
                            {.waveform = Waveform::ramp, .amplitude = 2, .period = kSecond});
  EXPECT_EQ(values(generator.block(kStart, kSecond))[192], 2);  // 1.5
}

TEST(Generator, OptionsThatMakeNoSenseAreRefusedWithTheirValue) {
  const auto refusal = [](const GeneratorOptions& options) -> std::string {
    try {
      const Generator generator(set_of({fast("X1:A")}), options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::invalid_argument);
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(refusal({.amplitude = NAN}), HasSubstr("amplitude"));
  EXPECT_THAT(refusal({.frequency = -1}), HasSubstr("frequency must be zero or more Hz, not -1"));
  EXPECT_THAT(refusal({.period = Duration::zero()}), HasSubstr("period"));
  EXPECT_THAT(refusal({.dropout = 1.5}), HasSubstr("between 0 and 1, not 1.5"));
  EXPECT_THAT(refusal({.dropout_length = -kSecond}), HasSubstr("length of a drop-out"));
}

TEST(Generator, DurationThatIsNoWholeNumberOfSamplesIsRefused) {
  const Generator generator(set_of({Channel("X1:A", DataType::int8, SampleRate(16))}));
  EXPECT_THROW(static_cast<void>(generator.block(kStart, std::chrono::milliseconds(100))), Error);
}

}  // namespace
}
