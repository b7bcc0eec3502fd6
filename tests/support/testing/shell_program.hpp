#pragma once

/// Programs that tests run as a user would, with arguments and redirections for the shell.

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace arrakis::testing {

/// The text of a file, as much as there is of it.
inline std::string text_of_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// A command of bash that runs; its output goes into the files "out" and "err" of a folder. Killed
/// with this, unless it has been waited for.
class ShellProgram {
 public:
  struct Result {
    int status = -1;  ///< exit status, or 1000 + the signal that ended it
    std::string out, err;
  };

  /// `command` stands behind an "exec", so that signals reach the program itself.
  ShellProgram(std::string folder, const std::string& command) : folder_(std::move(folder)) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    const std::string redirected =
        "exec >'" + folder_ + "/out' 2>'" + folder_ + "/err'; exec " + command;
    ::execl("/bin/bash", "bash", "-c", redirected.c_str(), nullptr);
    ::_exit(127);
  }
  ~ShellProgram() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }
  ShellProgram(const ShellProgram&) = delete;
  ShellProgram& operator=(const ShellProgram&) = delete;

  void send(int signal) const { ::kill(pid_, signal); }
  /// Waits until it has printed so many lines.
  [[nodiscard]] bool wait_for_lines(
      std::size_t count, std::chrono::seconds patience = std::chrono::seconds(30)) const {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < deadline) {
      const std::string text = text_of_file(folder_ + "/out");
      if (static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) >= count) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  Result wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    Result result;
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    result.out = text_of_file(folder_ + "/out");
    result.err = text_of_file(folder_ + "/err");
    return result;
  }

 private:
  std::string folder_;
  pid_t pid_ = -1;
};

}  // namespace arrakis::testing
