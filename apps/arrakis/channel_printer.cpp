#include "channel_printer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "common/text.hpp"
#include "plain_table.hpp"

namespace arrakis::cli {
namespace {

constexpr std::size_t kHeldRows = 1000;
constexpr std::size_t kProgressRows = 100;
/// Enough that the cost of a write does not show, and no more than a pipe takes at once.
constexpr std::size_t kBufferBytes = 65536;
constexpr std::size_t kShortColumns = 4;
constexpr std::size_t kLeastStrideWidth = 11;
constexpr std::string_view kNone = "None";

const std::vector<Column>& short_columns() {
  static const std::vector<Column> kColumns{
      {"name"}, {"data_type"}, {"sample_rate", Align::right}, {"stride", Align::right}};
  return kColumns;
}

const std::vector<Column>& all_columns() {
  static const std::vector<Column> kColumns{{"name"},
                                            {"data_type"},
                                            {"sample_rate", Align::right},
                                            {"time", Align::right},
                                            {"publisher"},
                                            {"partition_id"},
                                            {"partition_index", Align::right},
                                            {"stride", Align::right},
                                            {"max_latency", Align::right},
                                            {"replay_id"}};
  return kColumns;
}

const std::vector<Column>& columns_of(Format format) {
  return format == Format::table_full ? all_columns() : short_columns();
}

bool is_table(Format format) { return format == Format::table || format == Format::table_full; }

std::string cell(const std::optional<std::string>& text) {
  return text ? console::printable(*text) : std::string(kNone);
}
std::string cell(const std::optional<Duration>& duration) {
  return duration ? std::to_string(duration->count()) : std::string(kNone);
}
std::string cell(const std::optional<GpsTime>& time) {
  return time ? std::to_string(time->ns()) : std::string(kNone);
}
std::string cell(const std::optional<std::uint32_t>& number) {
  return number ? std::to_string(*number) : std::string(kNone);
}

std::string with_thousands(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

void print_to_stderr(std::string_view text) {
  try {
    console::Output(STDERR_FILENO).write(text);
  } catch (const console::OutputClosed&) {  // the listing may still be wanted
  }
}

}  // namespace

ChannelPrinter::ChannelPrinter(console::Output& output, Format format, std::size_t width,
                               bool progress)
    : output_(output),
      format_(format),
      width_(width),
      progress_(progress && is_table(format)),
      columns_(columns_of(format).size()) {}

void ChannelPrinter::add(const Channel& channel) {
  ++count_;
  if (!is_table(format_)) {
    buffer_ += formatted(channel, format_);
    buffer_ += '\n';
    flush_when_full();
    return;
  }
  if (!widths_.empty()) {
    append_line(row_of(channel));
    return;
  }
  rows_.push_back(row_of(channel));
  if (progress_ && rows_.size() % kProgressRows == 0) show_progress();
  if (rows_.size() == kHeldRows) begin_long_table();
}

void ChannelPrinter::finish() {
  if (progress_) clear_progress();
  if (!rows_.empty()) {
    PlainTable table(columns_of(format_));
    for (Row& row : rows_) table.add_row(std::move(row));
    buffer_ = table.render(width_);
  }
  output_.write(buffer_);
  if (progress_ && !widths_.empty()) print_to_stderr(with_thousands(count_) + " channels\n");
}

ChannelPrinter::Row ChannelPrinter::row_of(const Channel& channel) const {
  Row row;
  row.reserve(columns_);
  row.push_back(console::printable(channel.name()));
  row.emplace_back(to_string(channel.data_type()));
  row.push_back(channel.sample_rate().to_string());
  if (columns_ == kShortColumns) {
    row.push_back(cell(channel.stride));
    return row;
  }
  row.push_back(cell(channel.time));
  row.push_back(cell(channel.publisher));
  row.push_back(cell(channel.partition_id));
  row.push_back(cell(channel.partition_index));
  row.push_back(cell(channel.stride));
  row.push_back(cell(channel.max_latency));
  row.push_back(cell(channel.replay_id));
  return row;
}

void ChannelPrinter::begin_long_table() {
  if (progress_) clear_progress();
  Row headings;
  for (const Column& column : columns_of(format_)) {
    headings.emplace_back(column.heading);
    widths_.push_back(std::max(column.heading.size(),
                               column.heading == "stride" ? kLeastStrideWidth : std::size_t{0}));
  }
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < columns_; ++i) {
      widths_[i] = std::max(widths_[i], console::display_width(row[i]));
    }
  }
  append_line(headings);
  for (const Row& row : rows_) append_line(row);
  rows_.clear();
}

void ChannelPrinter::append_line(const Row& row) {
  const std::vector<Column>& columns = columns_of(format_);
  for (std::size_t i = 0; i < columns_; ++i) {
    if (i > 0) buffer_ += "  ";
    const std::size_t used = console::display_width(row[i]);
    const std::size_t fill = widths_[i] - std::min(widths_[i], used);
    if (columns[i].align == Align::right) buffer_.append(fill, ' ');
    buffer_ += row[i];
    if (columns[i].align == Align::left) buffer_.append(fill, ' ');
  }
  buffer_.erase(buffer_.find_last_not_of(' ') + 1);
  buffer_ += '\n';
  flush_when_full();
}

void ChannelPrinter::flush_when_full() {
  if (buffer_.size() < kBufferBytes) return;
  output_.write(buffer_);
  buffer_.clear();
}

void ChannelPrinter::show_progress() const {
  print_to_stderr(fmt::format("\rretrieving channels... {} so far", with_thousands(count_)));
}

void ChannelPrinter::clear_progress() { print_to_stderr("\r\x1b[K"); }

}
