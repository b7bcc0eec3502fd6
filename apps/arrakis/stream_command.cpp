#include "stream_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "arrakis/error.hpp"
#include "arrakis/stream.hpp"
#include "block_printer.hpp"
#include "common/output.hpp"
#include "common/program.hpp"
#include "common/screen.hpp"
#include "stream_source.hpp"

namespace arrakis::cli {
namespace {

std::unique_ptr<BlockPrinter> make_printer(Format format, console::Output& output,
                                           console::ProgramLog& log, const BlockStream& stream) {
  if (format != Format::table) return std::make_unique<FormatPrinter>(output, format);
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

}  // namespace

void StreamCommand::add_options(OptionAdder& add) {
  request_options_.add_to(add);
  format_options_.add_to(add);
  add.flag("--latency", latency_,
           "Print each block's latency on standard error (a live table shows it anyway)");
  file_.add_to(add);
}

void StreamCommand::check(const ArgumentReader& read) {
  format_ = format_options_.chosen();
  request_ = request_options_.request(read);
  if (request_.end && !request_.start && *request_.end <= read.now()) {
    refuse("--end", "is past, and there is no --start");
  }
  file_.check();
  if (file_.given() && format_ != Format::table) {
    refuse("--output", "not allowed with a form for standard output");
  }
}

int StreamCommand::run(Session& session) {
  BlockStream stream = StreamSource(session, request_, request_options_.metadata()).open();
  const console::ScopedStopAction cancel_on_signal(session.signals, [&stream] { stream.cancel(); });
  if (file_.given()) {
    write_stream(session, stream, request_, file_);
  } else {
    print_blocks(session, stream);
  }
  report(stream.stats(), session.log);
  stream.close();
  const std::optional<int> signal = session.signals.received();
  return signal ? console::StopSignals::status(*signal) : console::kSuccess;
}

void StreamCommand::print_blocks(Session& session, BlockStream& stream) const {
  console::Output output(STDOUT_FILENO);
  const std::unique_ptr<BlockPrinter> printer = make_printer(format_, output, session.log, stream);
  const bool print_latencies = latency_ && !printer->shows_latency_in_place();
  ContiguityCheck contiguity;
  std::uint64_t number = 0;
  while (true) {
    const BlockStream::Next next = stream.next(printer->idle_interval());
    if (next.status == BlockStream::Status::end) break;
    if (next.status == BlockStream::Status::timeout) {
      printer->idle();
      continue;
    }
    printer->print(next.block);
    if (print_latencies) print_latency(number, system_clock().now() - next.block.time());
    ++number;
    if (request_.on_gap == GapPolicy::fill) contiguity.see(next.block);
  }
  printer->finish();
}

}
