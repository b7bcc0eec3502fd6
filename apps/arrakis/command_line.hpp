#pragma once

/// What the user asked for, read from the command line and the environment and checked.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "arrakis/mux.hpp"
#include "arrakis/time.hpp"
#include "common/program_log.hpp"

namespace arrakis::cli {

/// arrakis stream
struct StreamCommand {
  std::string kafka_url;
  std::string metadata;  ///< a file, or "-" for standard input
  std::vector<std::string> channels;
  std::optional<GpsTime> start;
  std::optional<GpsTime> end;
  std::optional<Duration> duration;
  GapPolicy on_gap = GapPolicy::fill;
  std::optional<Duration> stride;
  bool json = false;
  bool latency = false;
  bool fast_forward = true;  ///< where nothing older than now was asked for
  std::map<std::string, std::string> properties;
};

/// Something to print, and nothing else to do: help or the version.
struct PrintText {
  std::string text;
};

/// A command line that can't be used; `message` is one line that names the argument.
struct UsageError {
  std::string message;
};

struct CommandLine {
  std::variant<StreamCommand, PrintText, UsageError> command;
  console::LogThreshold log;
};

/// Looks up a variable of the environment; nullptr when it is not set.
using Environment = std::function<const char*(const char* name)>;

/// Reads the arguments, without the program's name. Relative times count from `now`. Never throws
/// for what a user can write.
CommandLine parse_command_line(const std::vector<std::string>& arguments,
                               const Environment& environment, GpsTime now);

/// "live", "live for 10 s", "live until GPS 1400000000", "from GPS 1400000000",
/// "GPS [1400000000, 1400000010)": which span of time is streamed.
std::string span_text(const StreamCommand& command);

}
