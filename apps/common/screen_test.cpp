#include "common/screen.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace arrakis::console {
namespace {

/// Sets an environment variable, or unsets it, for the length of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = ::getenv(name)) old_ = old, had_ = true;
    set(value);
  }
  ~Variable() { set(had_ ? old_.c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  void set(const char* value) const {
    if (value != nullptr) {
      ::setenv(name_, value, 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

class ScreenTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::pipe2(pipe_.data(), O_NONBLOCK), 0); }
  void TearDown() override {
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }
  /// What was written since the last call.
  std::string written() {
    std::array<char, 65536> buffer{};
    const ssize_t count = ::read(pipe_[0], buffer.data(), buffer.size());
    return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
  }

  Variable no_color_{"NO_COLOR", nullptr};
  Variable columns_{"COLUMNS", nullptr};
  Variable lines_{"LINES", nullptr};
  Variable term_{"TERM", "xterm"};
  std::array<int, 2> pipe_{};
};

TEST_F(ScreenTest, DrawsOverWhatItDrewBefore) {
  Output output(pipe_[1]);
  Screen screen(output);
  screen.draw({{"one"}, {"two"}});
  EXPECT_EQ(written(), "one\x1b[K\ntwo\x1b[K\n\x1b[J");
  screen.draw({{"three"}});
  EXPECT_EQ(written(), "\r\x1b[2Athree\x1b[K\n\x1b[J");
}

TEST_F(ScreenTest, StylesAreCodesAroundTheText) {
  Output output(pipe_[1]);
  Screen(output).draw({{"one", Style::heading}, {"two", Style::alert}});
  EXPECT_EQ(written(), "\x1b[1mone\x1b[0m\x1b[K\n\x1b[33mtwo\x1b[0m\x1b[K\n\x1b[J");
}

TEST_F(ScreenTest, NoColorMeansNoStyles) {
  no_color_.set("1");
  Output output(pipe_[1]);
  Screen(output).draw({{"one", Style::heading}});
  EXPECT_EQ(written(), "one\x1b[K\n\x1b[J");
}

TEST_F(ScreenTest, OtherTextScrollsAwayAboveTheDrawing) {
  Output output(pipe_[1]);
  Screen screen(output);
  screen.print_above("log");
  EXPECT_EQ(written(), "log\x1b[K\n\x1b[J");
  screen.draw({{"one"}});
  written();
  screen.print_above("log");
  EXPECT_EQ(written(), "\r\x1b[1Alog\x1b[K\none\x1b[K\n\x1b[J");
}

TEST_F(ScreenTest, LinesThatANarrowerTerminalWrappedAreCounted) {
  Output output(pipe_[1]);
  Screen screen(output);
  columns_.set("10");
  screen.draw({{"0123456789"}, {"01234"}});
  written();
  columns_.set("5");
  screen.draw({{"x"}});
  EXPECT_EQ(written().substr(0, 5), "\r\x1b[3A");
}

TEST_F(ScreenTest, SizeIsThatOfAnOrdinaryTerminalWhenThereIsNone) {
  EXPECT_EQ(terminal_size(pipe_[1]).columns, 80U);
  EXPECT_EQ(terminal_size(pipe_[1]).rows, 24U);
}

TEST_F(ScreenTest, ColumnsAndLinesWin) {
  columns_.set("132");
  lines_.set("50");
  EXPECT_EQ(terminal_size(pipe_[1]).columns, 132U);
  EXPECT_EQ(terminal_size(pipe_[1]).rows, 50U);
  for (const char* bad : {"", "0", "-5", "wide", "80x", "99999999999999999999999"}) {
    columns_.set(bad);
    EXPECT_EQ(terminal_size(pipe_[1]).columns, 80U) << bad;
  }
}

TEST_F(ScreenTest, OnlyATerminalThatCanMoveItsCursorIsRedrawn) {
  EXPECT_FALSE(can_redraw(pipe_[1]));
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  EXPECT_TRUE(can_redraw(terminal));
  term_.set("dumb");
  EXPECT_FALSE(can_redraw(terminal));
  term_.set(nullptr);
  EXPECT_FALSE(can_redraw(terminal));
  ::close(terminal);
}

}  // namespace
}
