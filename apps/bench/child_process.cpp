#include "bench/child_process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "arrakis/error.hpp"

namespace arrakis::bench {
namespace {

/// How the two processes talk: a line begins with one of these.
constexpr char kReady = '+';
constexpr char kFailed = '-';

void write_line(int fd, char kind, const std::string& text) {
  const std::string line = kind + text + '\n';
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t count = ::write(fd, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // the parent is gone, which the next wait tells
    done += static_cast<std::size_t>(count);
  }
}

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) {
    throw Error(Errc::io, "no pipe: " + std::generic_category().message(errno));
  }
  return ends;
}

}

void ChildProcess::Line::answer(const std::string& text) const {
  write_line(answers_, kReady, text);
}

bool ChildProcess::Line::wait() const {
  char byte = 0;
  ssize_t count = 0;
  do {
    count = ::read(commands_, &byte, 1);
  } while (count < 0 && errno == EINTR);
  return count == 1;
}

ChildProcess::ChildProcess(std::string name, const std::function<void(const Line&)>& work)
    : name_(std::move(name)) {
  const std::array<int, 2> commands = make_pipe();
  const std::array<int, 2> answers = make_pipe();
  pid_ = ::fork();
  if (pid_ < 0) throw Error(Errc::io, "no process: " + std::generic_category().message(errno));
  if (pid_ == 0) {
    ::close(commands[1]);
    ::close(answers[0]);
    // The end of the parent is told by the pipe.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGINT, SIG_IGN);
    int status = EXIT_SUCCESS;
    try {
      work(Line(commands[0], answers[1]));
    } catch (const std::exception& error) {
      write_line(answers[1], kFailed, error.what());
      status = EXIT_FAILURE;
    }
    ::_exit(status);
  }
  ::close(commands[0]);
  ::close(answers[1]);
  commands_ = commands[1];
  answers_ = answers[0];
}

ChildProcess::~ChildProcess() {
  ::close(commands_);
  ::close(answers_);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ChildProcess::speak() {
  const char go = '\n';
  if (::write(commands_, &go, 1) != 1) throw Error(Errc::io, "the " + name_ + " is gone");
}

std::string ChildProcess::read_line() {
  std::string line;
  char byte = 0;
  for (;;) {
    const ssize_t count = ::read(answers_, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw Error(Errc::io, "the " + name_ + " ended without a word");
    if (byte == '\n') break;
    line += byte;
  }
  if (line.front() == kReady) return line.substr(1);
  throw Error(Errc::io, "the " + name_ + ": " + line.substr(1));
}

}
