#include "output_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "arrakis/error.hpp"
#include "common/output.hpp"
#include "common/sample_text.hpp"
#include "common/screen.hpp"
#include "common/text.hpp"

namespace arrakis::cli {
namespace {

/// Between two drawings of the progress.
constexpr Duration kRedrawInterval = std::chrono::milliseconds(200);
constexpr double kMegabyte = 1e6;

/// How much of the request has come, on one line of a terminal.
class Progress {
 public:
  Progress(console::ProgramLog& log, const StreamRequest& request)
      : log_(log), output_(STDERR_FILENO), start_(request.start), length_(length_of(request)) {
    if (!length_ || !console::can_redraw(STDERR_FILENO)) return;
    screen_.emplace(output_);
    log_.set_screen(&*screen_);
  }
  ~Progress() {
    if (!screen_) return;
    log_.set_screen(nullptr);
    try {
      screen_->draw({});
    } catch (...) {  // nobody watches any more
    }
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(GpsTime until, std::uint64_t blocks, std::uint64_t bytes, std::uint64_t gaps) {
    if (!screen_) return;
    const Duration now = system_clock().monotonic();
    if (drawn_ && now - *drawn_ < kRedrawInterval) return;
    drawn_ = now;
    const Duration done = std::clamp(until - *start_, Duration::zero(), *length_);
    const double share = static_cast<double>(done.count()) / static_cast<double>(length_->count());
    std::string line =
        fmt::format("{} of {} s ({:.0f} %), {} blocks, {:.1f} MB", console::seconds_text(done, 1),
                    console::seconds_text(*length_, 1), 100 * share, blocks,
                    static_cast<double>(bytes) / kMegabyte);
    if (gaps > 0) line += fmt::format(", {} with gaps", gaps);
    const std::size_t width = console::terminal_size(output_.fd()).columns;
    screen_->draw({{console::shorten(line, width), console::Style::faint}});
  }
  /// Live requests begin with their first block.
  void begin(GpsTime time) {
    if (!start_) start_ = time;
  }

 private:
  static std::optional<Duration> length_of(const StreamRequest& request) {
    if (request.duration) return request.duration;
    if (request.start && request.end) return *request.end - *request.start;
    return std::nullopt;
  }

  console::ProgramLog& log_;
  console::Output output_;
  std::optional<console::Screen> screen_;
  std::optional<GpsTime> start_;
  std::optional<Duration> length_;
  std::optional<Duration> drawn_;
};

/// What has been written.
struct Written {
  std::optional<GpsTime> begin, end;
  std::uint64_t blocks = 0, gaps = 0;
};

void write_one(BlockWriter& writer, const SeriesBlock& block, Written& written) {
  writer.write(block);
  if (!written.begin) written.begin = block.time();
  written.end = block.end();
  ++written.blocks;
  if (block.has_gaps()) ++written.gaps;
}

void copy_blocks(BlockStream& stream, BlockWriter& writer, Progress& progress, Written& written) {
  while (const BlockStream::Next next = stream.next()) {
    write_one(writer, next.block, written);
    progress.begin(*written.begin);
    progress.show(*written.end, written.blocks, writer.bytes(), written.gaps);
  }
}

void close(Session& session, BlockWriter& writer, const Written& written, const std::string& path) {
  writer.close();
  session.log.write(
      LogLevel::info,
      fmt::format("{}: {} blocks ({} with gaps), {:.1f} MB, GPS [{}, {})", path, written.blocks,
                  written.gaps, static_cast<double>(writer.bytes()) / kMegabyte,
                  format_time(*written.begin), format_time(*written.end)));
}

}  // namespace

void OutputFileOptions::add_to(OptionAdder& add) {
  add.group("Output");
  add.value("-o,--output", path_, "FILE",
            "Write the blocks into FILE instead: .arrow, .parquet, .h5, .csv or .npz. It appears "
            "whole, when all is done");
  add.value("--gaps", gaps_, "mask|nan",
            "In FILE, keep gaps as a mask (default) or as NaN, where the format has no nulls");
  add.flag("--no-overwrite", no_overwrite_, "Fail when FILE is there already");
}

void OutputFileOptions::check() {
  if (!path_) {
    if (gaps_) refuse("--gaps", "requires --output");
    if (no_overwrite_) refuse("--no-overwrite", "requires --output");
    return;
  }
  if (path_->empty()) refuse("--output", "is empty");
  try {
    format_ = file_format_of(*path_);
  } catch (const Error& error) {
    refuse("--output", error.what());
  }
  if (!gaps_) return;
  if (*gaps_ != "mask" && *gaps_ != "nan") {
    refuse("--gaps", fmt::format("'{}' is neither mask nor nan", *gaps_));
  }
  gap_form_ = *gaps_ == "nan" ? GapForm::nan : GapForm::mask;
}

FileOptions OutputFileOptions::options() const {
  FileOptions options;
  options.gaps = gap_form_;
  options.overwrite = !no_overwrite_;
  return options;
}

void write_stream(Session& session, BlockStream& stream, const StreamRequest& request,
                  const OutputFileOptions& file) {
  BlockWriter writer(file.path(), file.format(), stream.channels(), file.options());
  Written written;
  std::exception_ptr failure;
  {
    Progress progress(session.log, request);
    try {
      copy_blocks(stream, writer, progress, written);
    } catch (const Error&) {
      failure = std::current_exception();
    }
  }
  if (written.blocks > 0) close(session, writer, written, file.path());
  if (failure) std::rethrow_exception(failure);
  if (written.blocks == 0 && !session.signals.received()) {
    throw Error(Errc::no_data, fmt::format("no data came; {} was not written", file.path()));
  }
}

void write_block(Session& session, const SeriesBlock& block, const OutputFileOptions& file) {
  BlockWriter writer(file.path(), file.format(), block.channels(), file.options());
  Written written;
  write_one(writer, block, written);
  close(session, writer, written, file.path());
}

}
