#include "block_printer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "arrakis/json.hpp"

namespace arrakis::cli {
namespace {

const GpsTime kStart = GpsTime::from_seconds(1'400'000'000);
constexpr Duration kStride = std::chrono::microseconds(62'500);

class FixedClock final : public Clock {
 public:
  [[nodiscard]] GpsTime now() const override { return time; }
  [[nodiscard]] Duration monotonic() const override { return time.since_epoch(); }
  GpsTime time = kStart + std::chrono::microseconds(71'234);
};

SeriesBlock block_at(GpsTime time) {
  const ChannelSet channels({Channel("X1:B-STATE", DataType::int32, SampleRate(16)),
                             Channel("X1:A-WAVE", DataType::float32, SampleRate(64))});
  const bool gap[] = {true};
  return BlockBuilder(time, channels)
      .set("X1:B-STATE", std::vector<std::int32_t>{0}, gap)
      .set("X1:A-WAVE", std::vector<float>{0.5F, 1, 1.5F, 2})
      .build();
}

class PrinterTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::pipe2(pipe_.data(), O_NONBLOCK), 0);
    output_.emplace(pipe_[1]);
  }
  void TearDown() override {
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }
  std::string written() {
    std::array<char, 65536> buffer{};
    const ssize_t count = ::read(pipe_[0], buffer.data(), buffer.size());
    return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
  }

  std::array<int, 2> pipe_{};
  std::optional<console::Output> output_;
  FixedClock clock_;
};

TEST_F(PrinterTest, LineHasTimeLatencyAndChannelsByName) {
  const SeriesBlock block = block_at(kStart);
  LinePrinter printer(*output_, block.channels(), clock_);
  printer.print(block);
  EXPECT_EQ(written(),
            "1400000000.0000  latency 0.071234 s  X1:A-WAVE [0.5, ..., 2]  X1:B-STATE gap\n");
}

TEST_F(PrinterTest, LineShowsTimeExactly) {
  const SeriesBlock block = block_at(kStart + Duration(1));
  EXPECT_EQ(block_line(block, {}, kStride), "1400000000.000000001  latency 0.062500 s");
}

TEST_F(PrinterTest, JsonIsOneObjectALine) {
  FormatPrinter printer(*output_, Format::json);
  const SeriesBlock block = block_at(kStart);
  printer.print(block);
  printer.print(block);
  EXPECT_EQ(written(), to_json(block) + "\n" + to_json(block) + "\n");
}

TEST_F(PrinterTest, TableWaitsThenShowsTheBlockAndItsLatency) {
  const SeriesBlock block = block_at(kStart);
  console::ProgramLog log({std::nullopt});
  TablePrinter printer(*output_, log, block.channels(), kStride, clock_);
  EXPECT_NE(written().find("waiting for the first block (0 s)"), std::string::npos);
  clock_.time += std::chrono::seconds(1);
  printer.print(block);
  const std::string text = written();
  EXPECT_NE(text.find("time: 1400000000.0000 s, duration: 0.0625 s, latency: 1.071234 s"),
            std::string::npos)
      << text;
  EXPECT_LT(text.find("X1:A-WAVE"), text.find("X1:B-STATE"));
}

TEST_F(PrinterTest, TableIsNotRedrawnForEveryBlockOfAFastStream) {
  const SeriesBlock block = block_at(kStart);
  console::ProgramLog log({std::nullopt});
  TablePrinter printer(*output_, log, block.channels(), kStride, clock_);
  written();
  printer.print(block);
  EXPECT_EQ(written(), "");
  EXPECT_LT(*printer.idle_interval(), std::chrono::milliseconds(100));  // but soon
  printer.idle();
  EXPECT_NE(written().find("1400000000.0000"), std::string::npos);
}

TEST_F(PrinterTest, TableShowsTheLastBlockAtTheEnd) {
  const SeriesBlock block = block_at(kStart);
  console::ProgramLog log({std::nullopt});
  TablePrinter printer(*output_, log, block.channels(), kStride, clock_);
  printer.print(block);
  written();
  printer.finish();
  EXPECT_NE(written().find("1400000000.0000"), std::string::npos);
}

}  // namespace
}
