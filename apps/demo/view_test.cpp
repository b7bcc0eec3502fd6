#include "demo/view.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

namespace arrakis::demo {
namespace {

const GpsTime kOn = GpsTime::from_seconds(1'400'000'000);

TEST(LineView, PrintsOneLineASecond) {
  Detector detector(kOn, 1);
  Instrument auxiliaries = std::move(detector.take_instruments()[1]);
  Tally tally(detector);
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_NONBLOCK), 0);
  console::Output output(pipe[1]);
  LineView view(output);
  for (int i = 0; i < 33; ++i) {
    const SeriesBlock block =
        auxiliaries.next_block().with_gaps_for(ChannelSet(detector.channels()));
    tally.add(block, std::chrono::milliseconds(1));
    view.show(block, tally);
  }
  ::close(pipe[1]);
  std::array<char, 4096> buffer{};
  const ssize_t count = ::read(pipe[0], buffer.data(), buffer.size());
  ::close(pipe[0]);
  const std::string text(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(StatusLine, SaysHowFarAndHowFresh) {
  Detector detector(kOn, 1);
  Instrument strain = std::move(detector.take_instruments()[0]);
  Tally tally(detector);
  const SeriesBlock block = strain.next_block().with_gaps_for(detector.channels());
  tally.add(block, {});
  const std::string line = status_line(block, tally, std::chrono::microseconds(3200));
  EXPECT_EQ(line.substr(0, 59), "   0 s      1 blocks  age  3.2 ms  gaps   1  X1:CAL-STRAIN ");
  EXPECT_NE(line.find("X1:GRD-LOCK_STATE gap"), std::string::npos) << line;
}

}  // namespace
}
