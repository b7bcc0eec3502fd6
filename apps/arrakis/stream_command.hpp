#pragma once

/// arrakis stream

#include <istream>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "common/program_log.hpp"
#include "common/stop_signals.hpp"

namespace arrakis::cli {

/// Does what the command says until the stream ends or a signal comes; returns the exit status.
/// Throws Error, and OutputClosed when nobody reads the output any more.
int run_stream(const StreamCommand& command, console::ProgramLog& log,
               console::StopSignals& signals);

/// `names` with every "-" replaced by the names read from `input`: one a line, trimmed, blank lines
/// and those that begin with '#' left out.
std::vector<std::string> expand_names(const std::vector<std::string>& names, std::istream& input);

}
