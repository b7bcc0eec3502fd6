/// Interoperability with the Python stack over a real broker: the reference's server and Publisher
/// write and we read; we write and the reference's KafkaReader and muxer read. Both sides know the
/// samples by the formula that also stands in formula.py.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "arrakis/arrakis.hpp"
#include "testing/channels.hpp"
#include "testing/real_broker.hpp"

namespace arrakis {
namespace {

using testing::kStride;
using testing::RealBroker;

constexpr int kBlocks = 40;

int value(std::size_t channel, int block, std::size_t sample) {
  return (static_cast<int>(channel) * 31 + block * 7 + static_cast<int>(sample) * 3) % 120;
}
bool is_gap(std::size_t channel, int block, std::size_t sample) {
  return channel % 2 == 0 && (static_cast<int>(channel + sample) + block) % 7 == 0;
}

struct Layout {
  const char* name;
  DataType type;
  int rate;
};
const std::vector<Layout>& layouts() {
  static const std::vector<Layout> kAll = {
      {"X1:INT-I8", DataType::int8, 64},      {"X1:INT-U8", DataType::uint8, 64},
      {"X1:INT-I16", DataType::int16, 128},   {"X1:INT-U16", DataType::uint16, 32},
      {"X1:INT-I32", DataType::int32, 16},    {"X1:INT-U32", DataType::uint32, 64},
      {"X1:INT-I64", DataType::int64, 64},    {"X1:INT-U64", DataType::uint64, 64},
      {"X1:FLT-F32", DataType::float32, 256}, {"X1:FLT-F64", DataType::float64, 512},
  };
  return kAll;
}

class Interop : public ::testing::Test {
 protected:
  Interop() {
    std::string name = (std::filesystem::temp_directory_path() / "arrakis-interop-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string run_script(const std::string& script, GpsTime start) const {
    return testing::run(
        fmt::format("PYTHONDONTWRITEBYTECODE=1 '{}' '{}/tests/interop/{}' {} {} '{}' 2>'{}' || {{ "
                    "cat '{}'; exit 1; }}",
                    testing::python(), ARRAKIS_SOURCE_DIR, script, broker_.bootstrap(), start.ns(),
                    metadata(), log(), log()));
  }
  [[nodiscard]] std::string metadata() const { return folder_ + "/metadata.jsonl"; }
  [[nodiscard]] std::string log() const { return folder_ + "/log"; }

  RealBroker& broker_ = RealBroker::get();
  std::string folder_;
  const GpsTime start_ = testing::on_grid(system_clock().now()) - std::chrono::seconds(60);
};

TEST_F(Interop, WhatTheReferencePublishesComesOutOfOurStreamWithEqualValuesGapsAndTimes) {
  run_script("publish.py", start_);
  std::ifstream file(metadata());
  const ChannelSet channels(read_channels(file, metadata()));
  ASSERT_EQ(channels.size(), layouts().size());

  StreamOptions options;
  options.start = start_;
  options.end = start_ + kBlocks * kStride;
  BlockStream stream(std::make_unique<KafkaReader>(broker_.bootstrap(), channels), options);
  int blocks = 0;
  for (const SeriesBlock& block : stream) {
    ASSERT_EQ(block.time(), start_ + blocks * kStride);
    for (std::size_t c = 0; c < layouts().size(); ++c) {
      const Series series = block[layouts()[c].name];
      ASSERT_EQ(series.channel().data_type(), layouts()[c].type);
      ASSERT_EQ(series.size(), static_cast<std::size_t>(layouts()[c].rate) / 16);
      for (std::size_t i = 0; i < series.size(); ++i) {
        ASSERT_EQ(series.is_gap(i), is_gap(c, blocks, i)) << layouts()[c].name << ' ' << blocks;
        if (series.is_gap(i)) continue;
        ASSERT_EQ(series.value_as_double(i), value(c, blocks, i)) << layouts()[c].name << ' ' << i;
      }
    }
    ++blocks;
  }
  EXPECT_EQ(blocks, kBlocks);
  EXPECT_EQ(stream.stats().late + stream.stats().stride_mismatched + stream.stats().misaligned, 0U);
}

TEST_F(Interop, WhatWePublishIsReadByTheReferenceWithEqualValuesGapsAndTimes) {
  std::vector<Channel> described;
  std::ofstream file(metadata());
  for (std::size_t c = 0; c < layouts().size(); ++c) {
    const Layout& layout = layouts()[c];
    described.push_back(testing::make_channel(layout.name, "OURS" + random_alphanum(6),
                                              static_cast<std::uint32_t>(c), layout.type,
                                              layout.rate));
    broker_.create_topic(topic_of(described.back()));
    file << to_json(described.back()) << '\n';
  }
  file.close();
  const ChannelSet channels(described);

  KafkaPublisher publisher(broker_.bootstrap(), channels);
  for (int b = 0; b < kBlocks; ++b) {
    BlockBuilder builder(start_ + b * kStride, channels);
    for (std::size_t c = 0; c < layouts().size(); ++c) {
      visit_type(layouts()[c].type, [&](auto zero) {
        using T = decltype(zero);
        const std::size_t count = static_cast<std::size_t>(layouts()[c].rate) / 16;
        std::vector<T> samples(count);
        std::vector<bool> gaps(count);
        for (std::size_t i = 0; i < count; ++i) {
          samples[i] = static_cast<T>(value(c, b, i));
          gaps[i] = is_gap(c, b, i);
        }
        builder.set<T>(layouts()[c].name, samples, gaps);
      });
    }
    publisher.publish_async(builder.build(),
                            [](const SeriesBlock&, const std::optional<Error>& error) {
                              if (error) ADD_FAILURE() << error->what();
                            });
  }
  ASSERT_TRUE(publisher.flush(std::chrono::seconds(30)));
  EXPECT_EQ(run_script("read.py", start_), "ok 40 3160 185\n");
}

}
}
