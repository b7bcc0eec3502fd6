#pragma once

/// What the user asked for, read from the command line and the environment and checked.

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "arrakis/client.hpp"
#include "arrakis/time.hpp"
#include "command.hpp"
#include "common/program_log.hpp"
#include "options.hpp"

namespace arrakis::cli {

/// Something to print, and nothing else to do: help, the version, a completion script.
struct PrintText {
  std::string text;
};

/// Man pages to be written into a folder.
struct WriteManPages {
  std::string folder;
};

/// What can be read but not be done; `message` is one line.
struct Refusal {
  std::string message;
};

struct CommandLine {
  std::variant<std::unique_ptr<Command>, PrintText, WriteManPages, UsageError, Refusal> action;
  console::LogThreshold log = {};
  ClientOptions client = {};
};

/// Reads the arguments, without the program's name. Relative times count from `now`. Long options
/// may be abbreviated, and those before the command may stand after it. Never throws for what a
/// user can write.
CommandLine parse_command_line(const std::vector<std::string>& arguments,
                               const Environment& environment, GpsTime now);

/// Writes a page arrakis.1 and one for each command; throws Error(io).
void write_man_pages(const std::string& folder);

}
