#pragma once

/// Texts of --help and the man pages that several commands share. A line without indent that ends
/// in a colon is a heading.

#include <string_view>

namespace arrakis::cli {

constexpr std::string_view kGlobalOptionsHint =
    R"(Options of the program itself, such as --url and -q, may stand before or after
the command: see 'arrakis --help'. Long options may be abbreviated.
)";

/// For commands with an option of type TIME.
constexpr std::string_view kTimesText = R"(Times:
  GPS seconds ("1126259462.391", exact to the nanosecond), ISO 8601
  ("2015-09-14T09:50:45", UTC unless a zone is given), "now", "yesterday",
  "@UNIX", "-10m", "2 minutes ago".

)";
/// For those with one of type SPAN.
constexpr std::string_view kSpansText = R"(Spans:
  seconds ("0.25") or numbers with units ("10m", "1h30m", "250ms").

)";

constexpr std::string_view kExitStatusText = R"(Exit status:
  0    done, or nobody reads the output any more
  1    failed; one line "error: ..." or, when a server refused or could not be
       reached, "request error: ..." on standard error
  2    unusable command line
  3    'gaps' found gaps
  130  stopped by Ctrl-C, 143 by SIGTERM; output is complete up to then
)";

constexpr std::string_view kEnvironmentText = R"(Environment:
  ARRAKIS_SERVER       default of --url
  ARRAKIS_TOKEN        bearer token; also SCITOKEN, SCITOKEN_FILE, BEARER_TOKEN
                       and BEARER_TOKEN_FILE, as usual
  ARRAKIS_ONGAP        default of --on-gap
  ARRAKIS_ONDROP       what to do with data that come too late: ignore, warn or
                       raise
  ARRAKIS_LOG_LEVEL    least level of log lines: debug, info (default), warning,
                       error, critical, or a number; -q and -v win over it
  ARRAKIS_KAFKA_DEBUG  librdkafka's debug contexts, such as "broker,fetch"
  COLUMNS, LINES       size of tables, instead of the terminal's
  NO_COLOR             when not empty, live tables have no colours
)";

constexpr std::string_view kUrlText = R"(URLs of Arrakis servers:
  [SCHEME://]HOST[:PORT]

  SCHEME is grpc (default) or grpc+tls; PORT is 31206 unless given; an IPv6
  address stands in brackets.

  Without --url the variable ARRAKIS_SERVER gives it; without that the server
  is grpc://localhost:31206.

Examples:
  grpc://data.example.org
  grpc+tls://data.example.org:443
  [::1]:31206
  :31300                   port 31300 of this machine
)";

}
