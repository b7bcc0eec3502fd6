#include "common/output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <thread>

#include "arrakis/error.hpp"

namespace arrakis::console {
namespace {

TEST(Output, AClosedPipeIsNoError) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  ::close(pipe[0]);
  auto* const before = std::signal(SIGPIPE, SIG_IGN);
  Output output(pipe[1]);
  EXPECT_THROW(output.write("text"), OutputClosed);
  std::signal(SIGPIPE, before);
  ::close(pipe[1]);
}

TEST(Output, AFullDiskIsAnErrorWithItsReason) {
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  Output output(full);
  try {
    output.write("text");
    FAIL() << "written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::io);
    EXPECT_STREQ(error.what(), "the output can't be written: No space left on device");
  }
  ::close(full);
}

TEST(Output, WaitsForASlowReaderOfANonBlockingPipe) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  ASSERT_EQ(::fcntl(pipe[1], F_SETFL, O_NONBLOCK), 0);
  constexpr std::size_t kMoreThanAPipeHolds = 1 << 20;
  std::size_t received = 0;
  std::thread reader([&] {
    std::array<char, 4096> buffer{};
    ssize_t count = 0;
    while ((count = ::read(pipe[0], buffer.data(), buffer.size())) > 0) {
      received += static_cast<std::size_t>(count);
    }
  });
  Output(pipe[1]).write(std::string(kMoreThanAPipeHolds, 'x'));
  ::close(pipe[1]);
  reader.join();
  ::close(pipe[0]);
  EXPECT_EQ(received, kMoreThanAPipeHolds);
}

}  // namespace
}
