#include <memory>

#include "command.hpp"
#include "describe_command.hpp"
#include "exec_command.hpp"
#include "fetch_command.hpp"
#include "find_command.hpp"
#include "gaps_command.hpp"
#include "info_commands.hpp"
#include "lag_command.hpp"
#include "publish_command.hpp"
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

Examples:
  arrakis stream 'H1:CAL-*'
  arrakis stream H1:CAL-STRAIN --start -10m --duration 1m --json
  arrakis stream 'H1:CAL-*' -o night.h5
  arrakis stream --kafka-url localhost:9092 --metadata channels.jsonl 'H1:*'
)";

constexpr std::string_view kFetchDetails =
    R"(With --start: the span up to --end or of --duration, else a single block.
Without: the next block of now, or as many as last --duration.

Examples:
  arrakis fetch H1:CAL-STRAIN --start 1126259460 --duration 4 --json
  arrakis fetch 'H1:CAL-*' --start -1h --end now -o hour.h5
)";

constexpr std::string_view kPublishDetails =
    R"(Publishes blocks to Kafka, to where the server says. A block is sent when its
time has come, counted from the first, which begins when it is sent or at
--start. Stops at the end of INPUT, after --duration or by Ctrl-C, and then
waits until all is confirmed.

Examples:
  arrakis publish --publisher CAL --generate sine --frequency 10 --dropout 0.01
  arrakis publish --publisher CAL run.arrow --start now
  arrakis stream --json H1:A-B | arrakis publish --publisher COPY -
)";

constexpr std::string_view kGapsDetails =
    R"(Prints a line a segment: start, end, length, channel. With an end of the
request, what has not come until then is missing too.

Exit status 3 says that something is missing, 0 that nothing is.

Examples:
  arrakis gaps 'H1:CAL-*' --start -1h --end now
  arrakis gaps 'H1:CAL-*' --duration 1m --any --json
)";

constexpr std::string_view kLagDetails =
    R"(Reads every partition by itself and shows of each: age (since the newest block
ended), lag (how long after its last sample that block arrived), percentiles and
worst of all lags, blocks a second, blocks that did not come in time, and the
share of samples that are gaps. On a terminal a table, else a line a partition
and interval.

Examples:
  arrakis lag 'H1:CAL-*'
  arrakis lag 'H1:CAL-*' --duration 1m --json
)";

constexpr std::string_view kExecDetails = R"(The exit status is the program's.

Example:
  arrakis -u grpc://data.example.org exec -- python3 analysis.py
)";

}  // namespace

const std::vector<CommandEntry>& command_table() {
  static const std::vector<CommandEntry> kCommands{
      {"find", {"search", "list"}, "Find channels by name", kFindDetails, make<FindCommand>},
      {"count", {}, "Count channels", kFindDetails, make<CountCommand>},
      {"describe", {"show"}, "Describe channels", kDescribeDetails, make<DescribeCommand>},
      {"stream", {}, "Stream blocks of channels", kStreamDetails, make<StreamCommand>},
      {"fetch", {}, "Fetch a span of channels' data", kFetchDetails, make<FetchCommand>},
      {"publish",
       {},
       "Publish blocks of a file or a generated signal",
       kPublishDetails,
       make<PublishCommand>},
      {"lag", {}, "Show how far behind each partition is", kLagDetails, make<LagCommand>},
      {"gaps", {}, "List what is missing", kGapsDetails, make<GapsCommand>},
      {"server-info", {}, "Show what a server says of itself", {}, make<ServerInfoCommand>},
      {"domains", {}, "List the domains that servers hold", {}, make<DomainsCommand>},
      {"scope-map", {}, "Print as JSON which servers hold what", {}, make<ScopeMapCommand>},
      {"replays", {}, "List the replays", {}, make<ReplaysCommand>},
      {"exec",
       {"proxy"},
       "Run a program with ARRAKIS_SERVER set to the server",
       kExecDetails,
       make<ExecCommand>},
  };
  return kCommands;
}

}
