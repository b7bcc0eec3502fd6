#pragma once

/// A process for what must not count as ours: it answers in lines, and ends with its parent.

#include <sys/types.h>

#include <functional>
#include <string>

namespace arrakis::bench {

/// Not safe from several threads at once.
class ChildProcess {
 public:
  /// The child's end of the line.
  class Line {
   public:
    Line(int commands, int answers) : commands_(commands), answers_(answers) {}
    void answer(const std::string& text) const;
    /// Waits for the parent to speak. False: it has ended.
    [[nodiscard]] bool wait() const;
    /// Readable when the parent has spoken or ended.
    [[nodiscard]] int descriptor() const { return commands_; }

   private:
    int commands_;
    int answers_;
  };

  /// Forks, so there must be no other thread. What `work` throws is thrown by the next read_line().
  /// `name` is for messages.
  ChildProcess(std::string name, const std::function<void(const Line&)>& work);
  /// Waits until the process has ended, which it must do when wait() says so.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Lets the child's wait() return.
  void speak();
  /// The next answer. Throws Error with what went wrong in the child.
  std::string read_line();

 private:
  std::string name_;
  pid_t pid_ = 0;
  int commands_ = -1;
  int answers_ = -1;
};

}
