#pragma once

/// Ports and processes of the servers that tests start.

#include <sys/types.h>

namespace arrakis::testing {

/// A port of the loopback interface that is free together with the next one. No other test program
/// gets it while this lives, although nobody listens yet or for the moment: a local socket's name
/// stands for it, which the kernel gives back when the process ends.
class PortPair {
 public:
  PortPair();
  ~PortPair();
  PortPair(const PortPair&) = delete;
  PortPair& operator=(const PortPair&) = delete;

  [[nodiscard]] int first() const { return port_; }
  [[nodiscard]] int second() const { return port_ + 1; }

 private:
  int port_ = 0;
  int claim_ = -1;
};

/// Whether somebody accepts connections at a port of the loopback interface.
bool is_listened_to(int port);

/// Whether the process still runs; a dead one that nobody has waited for does not.
bool is_running(pid_t pid);

/// Stops a process as a debugger would (SIGSTOP); returns when it does nothing any more.
void freeze(pid_t pid);

}  // namespace arrakis::testing
