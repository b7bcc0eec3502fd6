#pragma once

/// Where the library's log lines go. The library never prints by itself. @since 0.1

#include <functional>
#include <string_view>

#include "arrakis/export.hpp"

namespace arrakis::inline v1 {

enum class LogLevel { debug, info, warning, error };

ARRAKIS_API std::string_view to_string(LogLevel level);

/// Receives one line without a line end. Called from any thread, one call at a time, and must not
/// throw nor call set_log_sink; what the library would log because of calls from inside the sink is
/// dropped. `component` is the part that speaks: "kafka", "mux", "stream",
/// "librdkafka".
using LogSink =
    std::function<void(LogLevel level, std::string_view component, std::string_view message)>;

/// Sends lines of `least` and above to `sink`; an empty sink (the initial state) discards all.
/// Safe from any thread; when it returns, the sink before it is no longer running.
ARRAKIS_API void set_log_sink(LogSink sink, LogLevel least = LogLevel::info);

}  // namespace arrakis::inline v1
