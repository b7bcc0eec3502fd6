#include "formats.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "arrakis/json.hpp"
#include "block_printer.hpp"
#include "common/sample_text.hpp"
#include "common/text.hpp"
#include "plain_table.hpp"
#include "pretty_json.hpp"
#include "python_text.hpp"

namespace arrakis::cli {
namespace {

constexpr std::size_t kIndent = 4;
/// Arrays of more samples are shown by their ends.
constexpr std::size_t kShownInJson = 16;
constexpr std::size_t kEdgeInJson = 3;
constexpr std::size_t kShownInTable = 3;
constexpr std::size_t kEdgeInTable = 1;
constexpr int kCaptionDigits = 4;

/// The text as a JSON string: one that needs no escapes but those of quotes.
std::string json_string(const std::string& text) { return "\"" + text + "\""; }

/// A block's JSON with each array as a string.
std::string abbreviated_json(const SeriesBlock& block) {
  std::string data;
  std::string channels;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const Channel& channel = block.channels()[i];
    // A set of one names a key as the library's own writer does.
    const std::string object = to_json(channel);
    const std::size_t begin = object.find(": ") + 2;
    const std::string key = object.substr(begin, object.find(", \"data_type\"") - begin);
    const std::string_view separator = i > 0 ? ", " : "";
    data += fmt::format("{}{}: {}", separator, key,
                        json_string(fmt::format("array(data={}, dtype={})",
                                                array_str(block.at(i), kShownInJson, kEdgeInJson),
                                                to_string(channel.data_type()))));
    channels += fmt::format("{}{}: {}", separator, key, object);
  }
  return fmt::format(R"({{"time_ns": {}, "data": {{{}}}, "channels": {{{}}}, "_duration_ns": {}}})",
                     block.time().ns(), data, channels, block.duration().count());
}

}  // namespace

void FormatOptions::add_to(OptionAdder& add, Listing listing) {
  add.group("Output");
  add.flag("--table", table_, "A table (default)");
  if (listing == Listing::yes) {
    add.flag("--table-full", table_full_, "A table with all of the channels' fields");
  }
  add.flag("--str", str_, "Names of channels, blocks as Python's str()");
  add.flag("--repr", repr_, "As Python's repr()");
  add.flag("--pprint", pprint_, "As Python's pprint");
  add.flag("--json", json_, "JSON, one object a line");
  add.flag("--json-pp", json_pp_, "JSON on many lines, for people");
  add.flag("--json-abrv", json_abrv_, "The same with long arrays as an abbreviated string");
}

Format FormatOptions::chosen() const {
  const std::initializer_list<std::pair<bool, std::pair<const char*, Format>>> all{
      {table_, {"--table", Format::table}},
      {table_full_, {"--table-full", Format::table_full}},
      {str_, {"--str", Format::str}},
      {repr_, {"--repr", Format::repr}},
      {pprint_, {"--pprint", Format::pprint}},
      {json_, {"--json", Format::json}},
      {json_pp_, {"--json-pp", Format::json_pp}},
      {json_abrv_, {"--json-abrv", Format::json_abrv}}};
  const std::pair<const char*, Format>* found = nullptr;
  for (const auto& [given, entry] : all) {
    if (!given) continue;
    if (found != nullptr) refuse(entry.first, fmt::format("not allowed with {}", found->first));
    found = &entry;
  }
  return found == nullptr ? Format::table : found->second;
}

std::string formatted(const Channel& channel, Format format) {
  switch (format) {
    case Format::str:
      return console::printable(channel.name());
    case Format::repr:
      return channel_repr(channel);
    case Format::pprint:
      return channel_pprint(channel);
    case Format::json_pp:
    case Format::json_abrv:
      return indented_json(to_json(channel), kIndent);
    case Format::json:
    case Format::table:
    case Format::table_full:
      break;
  }
  return to_json(channel);
}

std::string formatted(const SeriesBlock& block, Format format) {
  switch (format) {
    case Format::str:
    case Format::repr:
      return block_repr(block);
    case Format::pprint:
      return block_pprint(block);
    case Format::json_pp:
      return indented_json(to_json(block), kIndent);
    case Format::json_abrv:
      return indented_json(abbreviated_json(block), kIndent);
    case Format::json:
    case Format::table:
    case Format::table_full:
      break;
  }
  return to_json(block);
}

std::string block_table(const SeriesBlock& block, std::size_t width) {
  PlainTable table({{"channel"},
                    {"data_type"},
                    {"sample_rate", Align::right},
                    {"samples", Align::right},
                    {"has_gaps"},
                    {"data"}});
  for (const Channel& channel : sorted_by_name(block.channels())) {
    const Series series = block[channel.name()];
    table.add_row({console::printable(channel.name()), std::string(to_string(channel.data_type())),
                   channel.sample_rate().to_string(), std::to_string(series.size()),
                   series.has_gaps() ? "True" : "False",
                   array_str(series, kShownInTable, kEdgeInTable)});
  }
  table.set_caption(fmt::format("time: {} s, duration: {} s",
                                format_seconds(block.time(), kCaptionDigits),
                                console::seconds_text(block.duration(), kCaptionDigits)));
  return table.render(width);
}

}
