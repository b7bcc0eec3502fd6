#include "stream_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iostream>
#include <memory>
#include <system_error>
#include <utility>

#include "arrakis/error.hpp"
#include "arrakis/json.hpp"
#include "arrakis/kafka.hpp"
#include "arrakis/stream.hpp"
#include "block_printer.hpp"
#include "common/output.hpp"
#include "common/program.hpp"
#include "common/screen.hpp"

namespace arrakis::cli {
namespace {

constexpr std::string_view kStandardInput = "-";
constexpr std::string_view kBlanks = " \t\r\n";

ChannelSet read_metadata(const std::string& path) {
  if (path == kStandardInput) return ChannelSet(read_channels(std::cin, "standard input"));
  std::ifstream file(path);
  if (!file) {
    throw Error(Errc::io,
                fmt::format("{} can't be read: {}", path, std::generic_category().message(errno)));
  }
  std::vector<Channel> channels = read_channels(file, path);
  if (file.bad()) throw Error(Errc::io, fmt::format("{} can't be read to its end", path));
  return ChannelSet(std::move(channels));
}

StreamOptions stream_options(const StreamCommand& command) {
  StreamOptions options;
  options.start = command.start;
  options.end = command.end;
  options.duration = command.duration;
  options.on_gap = command.on_gap;
  options.stride = command.stride;
  return options;
}

ReaderOptions reader_options(const StreamCommand& command) {
  ReaderOptions options;
  // Who asked for the past wants all of it.
  options.fast_forward = command.fast_forward && !command.start;
  options.properties = command.properties;
  return options;
}

std::unique_ptr<BlockPrinter> make_printer(const StreamCommand& command, console::Output& output,
                                           console::ProgramLog& log, const BlockStream& stream) {
  if (command.json) return std::make_unique<JsonPrinter>(output);
  const Clock& clock = system_clock();
  if (!console::can_redraw(output.fd())) {
    return std::make_unique<LinePrinter>(output, stream.channels(), clock);
  }
  return std::make_unique<TablePrinter>(output, log, stream.channels(), stream.stride(), clock);
}

/// What the stream lost, in words; empty when nothing.
std::string losses(const StreamStats& stats) {
  std::string text;
  const auto add = [&text](std::uint64_t count, std::string_view what) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  };
  add(stats.late, "late");
  add(stats.overflow, "over the limit");
  add(stats.misaligned, "off the grid");
  add(stats.stride_mismatched, "of another stride");
  add(stats.future, "too far ahead");
  return text;
}

void report(const StreamStats& stats, console::ProgramLog& log) {
  const std::string lost = losses(stats);
  log.write(LogLevel::info, fmt::format("{} blocks, {} gaps", stats.blocks, stats.gap_slots));
  if (!lost.empty()) {
    log.write(LogLevel::warning, fmt::format("messages dropped: {}", lost.substr(2)));
  }
}

/// Under GapPolicy::fill, blocks follow each other without a hole; anything else is a fault.
class ContiguityCheck {
 public:
  void see(const SeriesBlock& block) {
    const std::optional<GpsTime> expected = std::exchange(expected_, block.end());
    if (!expected || *expected == block.time()) return;
    throw Error(Errc::precondition, fmt::format("NON-CONTIGUOUS BLOCK: got {}, expected {}",
                                                format_time(block.time()), format_time(*expected)));
  }

 private:
  std::optional<GpsTime> expected_;
};

void print_blocks(const StreamCommand& command, BlockStream& stream, BlockPrinter& printer) {
  const bool print_latencies = command.latency && !printer.shows_latency_in_place();
  ContiguityCheck contiguity;
  std::uint64_t number = 0;
  while (true) {
    const BlockStream::Next next = stream.next(printer.idle_interval());
    if (next.status == BlockStream::Status::end) return;
    if (next.status == BlockStream::Status::timeout) {
      printer.idle();
      continue;
    }
    printer.print(next.block);
    if (print_latencies) print_latency(number, system_clock().now() - next.block.time());
    ++number;
    if (command.on_gap == GapPolicy::fill) contiguity.see(next.block);
  }
}

}  // namespace

std::vector<std::string> expand_names(const std::vector<std::string>& names, std::istream& input) {
  std::vector<std::string> expanded;
  for (const std::string& name : names) {
    if (name != kStandardInput) {
      expanded.push_back(name);
      continue;
    }
    std::string line;
    while (std::getline(input, line)) {
      const std::size_t begin = line.find_first_not_of(kBlanks);
      if (begin == std::string::npos || line[begin] == '#') continue;
      expanded.push_back(line.substr(begin, line.find_last_not_of(kBlanks) - begin + 1));
    }
  }
  return expanded;
}

int run_stream(const StreamCommand& command, console::ProgramLog& log,
               console::StopSignals& signals) {
  const ChannelSet channels =
      read_metadata(command.metadata).select(expand_names(command.channels, std::cin));
  if (channels.empty()) throw Error(Errc::invalid_argument, "no channel was named");
  auto reader = std::make_unique<KafkaReader>(command.kafka_url, channels, reader_options(command));
  log.write(LogLevel::info,
            fmt::format("streaming {} channel(s), {}", channels.size(), span_text(command)));

  BlockStream stream(std::move(reader), stream_options(command));
  console::Output output(STDOUT_FILENO);
  {
    const std::unique_ptr<BlockPrinter> printer = make_printer(command, output, log, stream);
    const console::ScopedStopAction cancel_on_signal(signals, [&stream] { stream.cancel(); });
    print_blocks(command, stream, *printer);
    printer->finish();
  }
  report(stream.stats(), log);
  stream.close();
  const std::optional<int> signal = signals.received();
  return signal ? console::StopSignals::status(*signal) : console::kSuccess;
}

}
