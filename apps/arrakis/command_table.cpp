#include <memory>

#include "command.hpp"
#include "describe_command.hpp"
#include "fetch_command.hpp"
#include "find_command.hpp"
#include "info_commands.hpp"
#include "stream_command.hpp"

namespace arrakis::cli {
namespace {

template <typename T>
std::unique_ptr<Command> make() {
  return std::make_unique<T>();
}

constexpr std::string_view kFindDetails = R"(Examples:
  arrakis find 'H1:CAL-'                names that begin so
  arrakis find --glob '*STRAIN*'        names that hold it
  arrakis find . --min-rate 16384 --json
)";

constexpr std::string_view kDescribeDetails = R"(Examples:
  arrakis describe H1:CAL-STRAIN --json
  arrakis describe 'H1:CAL-*' - < names.txt
)";

constexpr std::string_view kStreamDetails =
    R"(Prints on a terminal a table that is redrawn as blocks arrive; else one line a
block (time in GPS seconds, latency, then each channel with its first and last
sample). Latency is now minus the block's start, so it includes the block's own
length.

Times:
  GPS seconds ("1126259462.391", exact to the nanosecond), ISO 8601
  ("2015-09-14T09:50:45", UTC unless a zone is given), "now", "yesterday",
  "@UNIX", "-10m", "2 minutes ago".

Spans:
  seconds ("0.25") or numbers with units ("10m", "1h30m", "250ms").

Examples:
  arrakis stream 'H1:CAL-*'
  arrakis stream H1:CAL-STRAIN --start -10m --duration 1m --json
  arrakis stream 'H1:CAL-*' -o night.h5
  arrakis stream --kafka-url localhost:9092 --metadata channels.jsonl 'H1:*'
)";

constexpr std::string_view kFetchDetails =
    R"(With --start: the span up to --end or of --duration, else a single block.
Without: the next block of now, or as many as last --duration.

Times:
  GPS seconds ("1126259462.391", exact to the nanosecond), ISO 8601
  ("2015-09-14T09:50:45", UTC unless a zone is given), "now", "yesterday",
  "@UNIX", "-10m", "2 minutes ago".

Spans:
  seconds ("0.25") or numbers with units ("10m", "1h30m", "250ms").

Examples:
  arrakis fetch H1:CAL-STRAIN --start 1126259460 --duration 4 --json
  arrakis fetch 'H1:CAL-*' --start -1h --end now -o hour.h5
)";

}  // namespace

const std::vector<CommandEntry>& command_table() {
  static const std::vector<CommandEntry> kCommands{
      {"find", {"search", "list"}, "Find channels by name", kFindDetails, make<FindCommand>},
      {"count", {}, "Count channels", kFindDetails, make<CountCommand>},
      {"describe", {"show"}, "Describe channels", kDescribeDetails, make<DescribeCommand>},
      {"stream", {}, "Stream blocks of channels", kStreamDetails, make<StreamCommand>},
      {"fetch", {}, "Fetch a span of channels' data", kFetchDetails, make<FetchCommand>},
      {"server-info", {}, "Show what a server says of itself", {}, make<ServerInfoCommand>},
      {"domains", {}, "List the domains that servers hold", {}, make<DomainsCommand>},
      {"scope-map", {}, "Print as JSON which servers hold what", {}, make<ScopeMapCommand>},
      {"replays", {}, "List the replays", {}, make<ReplaysCommand>},
  };
  return kCommands;
}

}
