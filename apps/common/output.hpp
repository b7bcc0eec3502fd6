#pragma once

/// Results on standard output.

#include <string_view>

namespace arrakis::console {

/// Thrown when nobody reads the output any more; programs then end quietly, with status 0.
struct OutputClosed {};

/// Writes to a file descriptor, whole texts at a time, and says so when that fails.
///
/// SIGPIPE must be ignored (StopSignals does). Not safe from several threads at once.
class Output {
 public:
  explicit Output(int fd) : fd_(fd) {}
  [[nodiscard]] int fd() const { return fd_; }
  /// Writes all of `text` at once. Throws OutputClosed, or Error(io) that gives the reason.
  void write(std::string_view text);

 private:
  int fd_;
};

}
