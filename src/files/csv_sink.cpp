#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "arrakis/json.hpp"
#include "files/block_sink.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20U;

// As RFC 4180 quotes.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

template <typename T>
void append_number(std::string& out, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    fmt::format_to(std::back_inserter(out), "{}", value);  // the shortest that reads back equal
  } else {
    // int8 would be a character.
    using Written = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    const fmt::format_int text(static_cast<Written>(value));
    out.append(text.data(), text.size());
  }
}

/// The lines of one block: the sample times of all channels, in order, each once.
class BlockLines {
 public:
  BlockLines(const SeriesBlock& block, std::string_view gap) : gap_(gap) {
    for (std::size_t i = 0; i < block.size(); ++i) add(block.at(i));
  }

  /// Appends the next line; false when there is none.
  bool append_next(std::string& out) {
    const std::optional<GpsTime> time = next_time();
    if (!time) return false;
    out += format_time(*time);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      out += ',';
      const Clock& clock = clocks_[clock_of_[i]];
      if (clock.time == *time && clock.next < clock.size) {
        append_sample(out, columns_[i], clock.next);
      }
    }
    out += '\n';
    for (Clock& clock : clocks_) {
      if (clock.next < clock.size && clock.time == *time) advance(clock);
    }
    return true;
  }

 private:
  /// Channels whose samples have the same times.
  struct Clock {
    std::size_t column;  // the first of them
    std::size_t size;
    std::size_t next;
    GpsTime time;  // of sample `next`
  };

  void add(const Series& series) {
    const auto same = std::find_if(clocks_.begin(), clocks_.end(), [&](const Clock& clock) {
      const Series& other = columns_[clock.column];
      return clock.size == series.size() && other.time() == series.time() &&
             other.channel().sample_rate() == series.channel().sample_rate();
    });
    clock_of_.push_back(static_cast<std::size_t>(same - clocks_.begin()));
    if (same == clocks_.end()) {
      clocks_.push_back({columns_.size(), series.size(), 0, series.time()});
    }
    columns_.push_back(series);
  }

  [[nodiscard]] std::optional<GpsTime> next_time() const {
    std::optional<GpsTime> first;
    for (const Clock& clock : clocks_) {
      if (clock.next < clock.size && (!first || clock.time < *first)) first = clock.time;
    }
    return first;
  }

  void advance(Clock& clock) const {
    ++clock.next;
    clock.time = columns_[clock.column].time_at(clock.next);
  }

  void append_sample(std::string& out, const Series& series, std::size_t i) const {
    if (series.is_gap(i)) {
      out += gap_;
      return;
    }
    visit_type(series.channel().data_type(),
               [&]<typename T>(T) { append_number(out, series.values<T>()[i]); });
  }

  std::string_view gap_;
  std::vector<Series> columns_;
  std::vector<std::size_t> clock_of_;
  std::vector<Clock> clocks_;
};

class CsvSink final : public BlockSink {
 public:
  CsvSink(PendingFile& file, const ChannelSet& channels, GapForm gaps)
      : file_(file), gap_(gaps == GapForm::nan ? "nan" : "") {
    file_.write(header(channels, gaps));
  }

  void write(const SeriesBlock& block) override {
    const std::uint64_t before = file_.size();
    try {
      write_lines(block);
    } catch (const Error&) {
      file_.truncate(before);  // to the end of the block before
      throw;
    }
  }
  void finish() override {}

 private:
  static std::string header(const ChannelSet& channels, GapForm gaps) {
    std::string text =
        "# arrakis blocks as CSV, version 1\n"
        "# time: GPS seconds of a sample, exact. A channel that is not sampled at a line's time "
        "has an empty cell.\n";
    text += fmt::format("# gaps: {}\n", gaps == GapForm::nan
                                            ? "nan. Where a sample is missing stands nan"
                                            : "mask. Where a sample is missing the cell is empty");
    std::string names = "time";
    for (const Channel& channel : channels) {
      text += fmt::format("# channel: {}\n", to_json(channel));
      names += ',' + csv_cell(channel.name());
    }
    return text + names + '\n';
  }

  void write_lines(const SeriesBlock& block) {
    BlockLines lines(block, gap_);
    text_.clear();
    while (lines.append_next(text_)) {
      if (text_.size() < kBufferBytes) continue;
      file_.write(text_);
      text_.clear();
    }
    file_.write(text_);
  }

  PendingFile& file_;
  std::string_view gap_;
  std::string text_;
};

}  // namespace

std::unique_ptr<BlockSink> make_csv_sink(PendingFile& file, const ChannelSet& channels,
                                         GapForm gaps) {
  return std::make_unique<CsvSink>(file, channels, gaps);
}

}  // namespace arrakis::inline v1
