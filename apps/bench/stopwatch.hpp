#pragma once

/// Wall and CPU time since it was made.

#include <chrono>
#include <ctime>

namespace arrakis::bench {

class Stopwatch {
 public:
  [[nodiscard]] double wall() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  /// Of all threads of the process, in seconds.
  [[nodiscard]] double cpu() const { return process_cpu() - cpu_begin_; }

 private:
  static double process_cpu() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  }
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double cpu_begin_ = process_cpu();
};

}
