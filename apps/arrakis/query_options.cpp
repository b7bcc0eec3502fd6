#include "query_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace arrakis::cli {
namespace {

constexpr std::array kQueryTypes{DataType::uint32, DataType::uint64,  DataType::int32,
                                 DataType::int64,  DataType::float32, DataType::float64};
constexpr std::int64_t kMaxRate = 4294967295;

DataType data_type_argument(const std::string& text) {
  const std::optional<DataType> type = parse_data_type(text);
  if (type && std::find(kQueryTypes.begin(), kQueryTypes.end(), *type) != kQueryTypes.end()) {
    return *type;
  }
  refuse("--data-type",
         fmt::format("'{}' is none of uint32, uint64, int32, int64, float32, float64", text));
}

}  // namespace

void QueryOptions::add_to(OptionAdder& add, const char* pattern_help) {
  add.positional("PATTERN", pattern_, pattern_help);
  add.flag("--glob", glob_, "PATTERN is a glob with *, ? and [...] for the whole name");
  add.values("--data-type,--dtype", data_types_, "DTYPE",
             "Sample type, such as float32; may be repeated");
  add.value("--min-rate", min_rate_, "INT", "Least sample rate, Hz");
  add.value("--max-rate", max_rate_, "INT", "Greatest sample rate, Hz");
  add.values("--publisher", publishers_, "ID", "Publisher; may be repeated");
  add.value("--time", time_, "TIME", "Channels as they were then (default: now)");
  add.value("--replay-id", replay_id_, "ID", "Channels of this replay");
}

Query QueryOptions::query(const ArgumentReader& read) const {
  Query query;
  if (pattern_) query.pattern = glob_ ? regex_of_glob(*pattern_) : *pattern_;
  for (const std::string& text : data_types_) query.data_types.push_back(data_type_argument(text));
  query.min_rate = ArgumentReader::integer("--min-rate", min_rate_, 0, kMaxRate).value_or(0);
  query.max_rate = ArgumentReader::integer("--max-rate", max_rate_, 0, kMaxRate).value_or(kMaxRate);
  query.publishers = publishers_;
  query.time = read.time("--time", time_);
  query.replay_id = replay_id_;
  return query;
}

std::string regex_of_glob(std::string_view glob) {
  constexpr std::string_view kSpecial = "\\^$.|+(){}[]";
  std::string regex;
  for (std::size_t i = 0; i < glob.size(); ++i) {
    const char c = glob[i];
    // The first ']' of a set is a member of it.
    const std::size_t end = c == '[' ? glob.find(']', i + 2) : std::string_view::npos;
    if (c == '*') {
      regex += ".*";
    } else if (c == '?') {
      regex += '.';
    } else if (end != std::string_view::npos) {
      std::string set(glob.substr(i + 1, end - i - 1));
      if (set[0] == '!') set[0] = '^';
      for (std::size_t at = set.find('\\'); at != std::string::npos; at = set.find('\\', at + 2)) {
        set.insert(at, "\\");
      }
      regex.append("[").append(set).append("]");
      i = end;
    } else {
      if (kSpecial.find(c) != std::string_view::npos) regex += '\\';
      regex += c;
    }
  }
  return regex + "$";
}

}
