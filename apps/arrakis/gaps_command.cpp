#include "gaps_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "common/output.hpp"
#include "common/program.hpp"
#include "common/text.hpp"
#include "stream_source.hpp"

namespace arrakis::cli {
namespace {

struct Entry {
  Segment segment;
  const std::string* name;
};

std::vector<Entry> in_order(const std::vector<Missing>& missing) {
  std::vector<Entry> entries;
  for (const Missing& each : missing) {
    for (const Segment& segment : each.segments) entries.push_back({segment, &each.name});
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.segment.start, *a.name) < std::tie(b.segment.start, *b.name);
  });
  return entries;
}

std::vector<Missing> missing_of_channels(const GapSegments& gaps) {
  std::vector<Missing> missing;
  for (std::size_t i = 0; i < gaps.channels().size(); ++i) {
    missing.push_back({gaps.channels()[i].name(), gaps.of(i)});
  }
  return missing;
}

std::optional<GpsTime> end_of(const StreamRequest& request) {
  if (request.end) return request.end;
  if (request.start && request.duration) return *request.start + *request.duration;
  return std::nullopt;
}

}  // namespace

std::string gap_lines(const std::vector<Missing>& missing) {
  std::string lines;
  for (const Entry& entry : in_order(missing)) {
    const Duration length = entry.segment.end - entry.segment.start;
    lines += fmt::format("{} {} {} s {}\n", format_time(entry.segment.start),
                         format_time(entry.segment.end), format_time(GpsTime() + length),
                         console::printable(*entry.name));
  }
  return lines;
}

std::string gap_json(const std::vector<Missing>& missing) {
  std::string lines;
  for (const Entry& entry : in_order(missing)) {
    const std::string name =
        nlohmann::json(*entry.name).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    lines += fmt::format(R"({{"channel": {}, "start_ns": {}, "end_ns": {}}})", name,
                         entry.segment.start.ns(), entry.segment.end.ns());
    lines += '\n';
  }
  return lines;
}

void GapsCommand::add_options(OptionAdder& add) {
  request_options_.add_to(add);
  add.group("Output");
  add.flag("--any", any_,
           "When at least one of the channels is missing, instead of each channel's");
  add.flag("--every", every_, "When every channel is missing");
  add.flag("--json", json_, "JSON, one object a segment");
}

void GapsCommand::check(const ArgumentReader& read) {
  request_ = request_options_.request(read);
  if (any_ && every_) refuse("--every", "not allowed with --any");
}

int GapsCommand::run(Session& session) {
  BlockStream stream = StreamSource(session, request_, request_options_.metadata()).open();
  const console::ScopedStopAction cancel_on_signal(session.signals, [&stream] { stream.cancel(); });
  GapSegments gaps(stream.channels(), request_.start);
  while (const BlockStream::Next next = stream.next()) gaps.add(next.block);
  const std::optional<GpsTime> end = end_of(request_);
  const bool complete = !session.signals.received();
  if (end && complete) gaps.finish(*end);
  stream.close();

  std::vector<Missing> missing;
  if (any_) {
    missing.push_back({"any", gaps.any()});
  } else if (every_) {
    missing.push_back({"every", gaps.every()});
  } else {
    missing = missing_of_channels(gaps);
  }
  const std::string text = json_ ? gap_json(missing) : gap_lines(missing);
  console::Output(STDOUT_FILENO).write(text);
  session.log.write(LogLevel::info,
                    fmt::format("any channel missing: {} in {} segments",
                                format_duration(total(gaps.any())), gaps.any().size()));
  return text.empty() ? console::kSuccess : kGapsFound;
}

}
