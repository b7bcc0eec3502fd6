#include "lag_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "arrakis/error.hpp"
#include "common/output.hpp"
#include "common/program.hpp"
#include "common/screen.hpp"
#include "lag_figures.hpp"
#include "lag_view.hpp"
#include "stream_source.hpp"

namespace arrakis::cli {
namespace {

/// A thread and a stream each.
constexpr std::size_t kMostPartitions = 64;
constexpr std::string_view kNoPartition = "(no partition)";

/// The channels of each partition; those without one, by publisher, where that is known.
std::map<std::string, std::vector<Channel>> by_partition(const ChannelSet& channels) {
  std::map<std::string, std::vector<Channel>> groups;
  for (const Channel& channel : channels) {
    const std::string fallback = channel.publisher.value_or(std::string(kNoPartition));
    groups[channel.partition_id.value_or(fallback)].push_back(channel);
  }
  if (groups.size() > kMostPartitions) {
    throw Error(Errc::invalid_argument,
                fmt::format("the channels are in {} partitions; lag watches at most {}",
                            groups.size(), kMostPartitions));
  }
  return groups;
}

/// Reads a stream a partition, each on a thread of its own, so that none waits for another.
class LagWatch {
 public:
  LagWatch(std::vector<std::string> names, std::vector<BlockStream> streams)
      : streams_(std::move(streams)), table_(std::move(names)), running_(streams_.size()) {
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      threads_.emplace_back([this, i] { watch(i); });
    }
  }
  ~LagWatch() {
    stop();
    for (std::thread& thread : threads_) thread.join();
  }
  LagWatch(const LagWatch&) = delete;
  LagWatch& operator=(const LagWatch&) = delete;

  void stop() {
    for (BlockStream& stream : streams_) stream.cancel();
  }
  /// Waits until all streams have ended, or one has failed; at most `limit`. Throws what it failed
  /// with.
  bool wait_for_end(Duration limit) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit, [this] { return running_ == 0 || failure_ != nullptr; });
    if (failure_) std::rethrow_exception(failure_);
    return running_ == 0;
  }
  [[nodiscard]] std::vector<LagFigures> figures(GpsTime now) const {
    const std::lock_guard lock(mutex_);
    return table_.figures(now);
  }

 private:
  void watch(std::size_t index) {
    std::exception_ptr failure;
    try {
      while (const BlockStream::Next next = streams_[index].next()) {
        const Clock& clock = system_clock();
        const std::lock_guard lock(mutex_);
        table_.add(index, next.block, clock.now(), clock.monotonic());
      }
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    --running_;
    if (failure && !failure_) failure_ = failure;
    changed_.notify_all();
  }

  std::vector<BlockStream> streams_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  LagTable table_;
  std::size_t running_;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

/// Shows figures: in a table that is redrawn, or as lines.
class LagPrinter {
 public:
  LagPrinter(console::ProgramLog& log, bool json) : log_(log), output_(STDOUT_FILENO), json_(json) {
    if (json || !console::can_redraw(output_.fd())) return;
    screen_.emplace(output_);
    if (::isatty(STDERR_FILENO) != 0) log_.set_screen(&*screen_);
  }
  ~LagPrinter() { log_.set_screen(nullptr); }
  LagPrinter(const LagPrinter&) = delete;
  LagPrinter& operator=(const LagPrinter&) = delete;

  void print(const std::vector<LagFigures>& figures, GpsTime now) {
    if (screen_) {
      const console::TerminalSize size = console::terminal_size(output_.fd());
      const std::size_t height = size.rows > 2 ? size.rows - 2 : 1;
      screen_->draw(lag_table(figures, size.columns, height));
      return;
    }
    std::string lines;
    for (const LagFigures& each : figures) {
      lines += (json_ ? lag_json(each, now) : lag_line(each, now)) + "\n";
    }
    output_.write(lines);
  }

 private:
  console::ProgramLog& log_;
  console::Output output_;
  bool json_;
  std::optional<console::Screen> screen_;
};

}  // namespace

void LagCommand::add_options(OptionAdder& add) {
  request_options_.add_to(add);
  add.group("Output");
  add.value("--interval", interval_text_, "SPAN", "Between two printings (default: 1 s)");
  add.flag("--json", json_, "JSON, one object a partition and interval");
}

void LagCommand::check(const ArgumentReader& read) {
  request_ = request_options_.request(read);
  interval_ = ArgumentReader::span("--interval", interval_text_).value_or(interval_);
}

int LagCommand::run(Session& session) {
  const StreamSource source(session, request_, request_options_.metadata());
  std::vector<std::string> names;
  std::vector<BlockStream> streams;
  for (auto& [name, channels] : by_partition(source.channels())) {
    names.push_back(name);
    streams.push_back(source.open(ChannelSet(std::move(channels))));
  }
  LagWatch watch(std::move(names), std::move(streams));
  const console::ScopedStopAction stop_on_signal(session.signals, [&watch] { watch.stop(); });
  LagPrinter printer(session.log, json_);
  bool ended = false;
  while (!ended) {
    ended = watch.wait_for_end(interval_);
    const GpsTime now = system_clock().now();
    printer.print(watch.figures(now), now);
  }
  const std::optional<int> signal = session.signals.received();
  return signal ? console::StopSignals::status(*signal) : console::kSuccess;
}

}
