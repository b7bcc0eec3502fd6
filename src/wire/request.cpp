#include "wire/request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "arrakis/error.hpp"
#include "core/quote.hpp"
#include "wire/json_text.hpp"

namespace arrakis::inline v1 {
namespace {

using nlohmann::json;

/// In the order of the variant's alternatives.
constexpr std::array<std::string_view, 6> kNames = {"Find",   "Count",   "Describe",
                                                    "Stream", "Publish", "Partition"};
static_assert(kNames.size() == std::variant_size_v<Request>);

// The arguments of each request, once, for writing and for reading: `Args` is called with each
// argument's name and member, and whether a request without it is refused.

template <typename Args>
void visit_args(Args& args, FindArgs& find) {
  args.required("pattern", find.pattern);
  args.data_types("data_type", find.data_type);
  args.required("min_rate", find.min_rate, 0);
  args.required("max_rate", find.max_rate);
  args.required("publisher", find.publisher);
  args.required("time", find.time);
  args.optional("replay_id", find.replay_id);
}
template <typename Args>
void visit_args(Args& args, DescribeRequest& describe) {
  args.required("channels", describe.channels);
  args.required("time", describe.time);
  args.optional("replay_id", describe.replay_id);
}
template <typename Args>
void visit_args(Args& args, StreamTicket& stream) {
  args.required("channels", stream.channels);
  args.required("start", stream.start);
  args.required("end", stream.end);
  args.optional("replay_start", stream.replay_start);
  args.optional("replay_end", stream.replay_end);
  args.optional("replay_id", stream.replay_id);
}
template <typename Args, typename T>
requires std::is_same_v<T, PublishRequest> || std::is_same_v<T, PartitionRequest>
void visit_args(Args& args, T& request) {
  args.required("publisher_id", request.publisher_id);
  args.optional("replay_id", request.replay_id);
}

class ArgsWriter {
 public:
  explicit ArgsWriter(std::string& out) : out_(out), object_(out) {}
  void close() { object_.close(); }

  template <typename T>
  void required(std::string_view key, const T& value, std::int64_t /*least*/ = 0) {
    object_.key(key);
    append(value);
  }
  template <typename T>
  void optional(std::string_view key, const T& value) {
    required(key, value);
  }
  void data_types(std::string_view key, const std::vector<std::string>& names) {
    required(key, names);
  }

 private:
  void append(const std::string& text) { append_json_string(out_, text); }
  void append(std::int64_t number) { out_ += fmt::format_int(number).c_str(); }
  void append(GpsTime time) { append(time.ns()); }
  void append(const std::vector<std::string>& texts) {
    out_ += '[';
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (i != 0) out_ += ", ";
      append(texts[i]);
    }
    out_ += ']';
  }
  template <typename T>
  void append(const std::optional<T>& value) {
    if (value) {
      append(*value);
    } else {
      out_ += "null";
    }
  }

  std::string& out_;
  JsonObjectWriter object_;
};

std::string expected_data_types() {
  return fmt::format("a list of {}", fmt::join(kQueryDataTypes, ", "));
}

class ArgsReader {
 public:
  ArgsReader(std::string_view request, const json& args) : request_(request), args_(args) {}

  template <typename T>
  void required(const char* key, T& value) {
    const json* argument = find(key);
    if (argument == nullptr) {
      throw Error(Errc::invalid_argument,
                  fmt::format("{} request: argument '{}' is missing", request_, key));
    }
    read(key, *argument, value);
  }
  void required(const char* key, std::int64_t& value, std::int64_t least) {
    required(key, value);
    if (value < least) {
      fail(key, fmt::format("an integer from {} on", least), args_.at(key));
    }
  }
  template <typename T>
  void optional(const char* key, T& value) {
    if (const json* argument = find(key)) read(key, *argument, value);
  }
  void data_types(const char* key, std::vector<std::string>& names) {
    required(key, names);
    for (const std::string& name : names) {
      if (std::ranges::find(kQueryDataTypes, name) != std::end(kQueryDataTypes)) continue;
      fail(key, expected_data_types(), json(name));
    }
  }

  /// The names that nobody asked for, sorted.
  [[nodiscard]] std::vector<std::string> unknown() const {
    std::vector<std::string> names;
    for (const auto& item : args_.items()) {
      if (std::ranges::find(known_, item.key()) == known_.end()) names.push_back(item.key());
    }
    std::ranges::sort(names);
    return names;
  }

 private:
  const json* find(const char* key) {
    known_.emplace_back(key);
    const auto found = args_.find(key);
    return found == args_.end() ? nullptr : &*found;
  }
  [[noreturn]] void fail(const char* key, std::string_view expected, const json& found) const {
    throw Error(Errc::invalid_argument, fmt::format("{} request: argument '{}' must be {}, not {}",
                                                    request_, key, expected, json_excerpt(found)));
  }

  void read(const char* key, const json& value, std::string& text) const {
    if (!value.is_string()) fail(key, "a string", value);
    text = value.get<std::string>();
  }
  void read(const char* key, const json& value, std::int64_t& number) const {
    const std::optional<std::int64_t> integer = json_integer(value);
    if (!integer) fail(key, "an integer", value);
    number = *integer;
  }
  void read(const char* key, const json& value, std::vector<std::string>& texts) const {
    if (!value.is_array()) fail(key, "a list of strings", value);
    for (const json& item : value) {
      if (!item.is_string()) fail(key, "a list of strings", item);
      texts.push_back(item.get<std::string>());
    }
  }
  void read(const char* key, const json& value, std::optional<std::string>& text) const {
    text.reset();
    if (value.is_null()) return;
    if (!value.is_string()) fail(key, "a string or null", value);
    text = value.get<std::string>();
  }
  void read(const char* key, const json& value, std::optional<GpsTime>& time) const {
    time.reset();
    if (value.is_null()) return;
    const std::optional<std::int64_t> ns = json_integer(value);
    if (!ns) fail(key, "an integer of nanoseconds or null", value);
    time = GpsTime::from_ns(*ns);
  }

  std::string_view request_;
  const json& args_;
  std::vector<std::string_view> known_;
};

[[noreturn]] void throw_protocol(const std::string& message) {
  throw Error(Errc::protocol, message);
}

json parse_object(std::string_view command) {
  json object;
  try {
    object = json::parse(command.begin(), command.end());
  } catch (const json::parse_error& error) {
    throw_protocol(fmt::format("a command is JSON text; this is not, at byte {}", error.byte));
  } catch (const json::out_of_range&) {
    throw_protocol("a number in a command is greater than any that a double holds");
  }
  if (!object.is_object()) {
    throw_protocol(fmt::format("a command is a JSON object, not {}", json_excerpt(object)));
  }
  return object;
}

const json* find(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

template <std::size_t kIndex = 0>
Request default_request(std::size_t wanted) {
  if constexpr (kIndex + 1 < std::variant_size_v<Request>) {
    if (wanted != kIndex) return default_request<kIndex + 1>(wanted);
  }
  return Request(std::in_place_index<kIndex>);
}

Request empty_request(const json& object) {
  const json* name = find(object, "request");
  if (name == nullptr) throw_protocol("a command without 'request'");
  const auto* const known = name->is_string()
                                ? std::ranges::find(kNames, name->get_ref<const std::string&>())
                                : kNames.end();
  if (known == kNames.end()) {
    throw_protocol(fmt::format("'request' must be one of {}, not {}", fmt::join(kNames, ", "),
                               json_excerpt(*name)));
  }
  return default_request(static_cast<std::size_t>(known - kNames.begin()));
}

std::optional<std::string> version_of(const json& object, std::string_view request) {
  const json* version = find(object, "version");
  if (version == nullptr) return std::nullopt;
  if (!version->is_string()) {
    throw Error(Errc::invalid_argument,
                fmt::format("{} request: 'version' must be a string, not {}", request,
                            json_excerpt(*version)));
  }
  return version->get<std::string>();
}

/// Somebody's text without quotes, on one line and not long.
std::string shown(std::string_view text) {
  const std::string in_quotes = quoted(text, 60);
  return in_quotes.substr(1, in_quotes.size() - 2);
}

void refuse_unknown(std::string_view request, const std::vector<std::string>& names,
                    const std::optional<std::string>& version) {
  if (names.empty()) return;
  constexpr std::size_t kMaxNames = 10;
  std::vector<std::string> texts;
  for (const std::string& name : names) {
    texts.push_back(texts.size() < kMaxNames ? shown(name) : "…");
    if (texts.size() > kMaxNames) break;
  }
  const std::string sender = version ? fmt::format("request schema {}", shown(*version))
                                     : "request predates schema versioning";
  throw Error(Errc::invalid_argument,
              fmt::format("unknown {} argument(s): {} ({}; server schema {})", request,
                          fmt::join(texts, ", "), sender, kSchemaVersion));
}

}  // namespace

std::optional<SchemaVersion> parse_schema_version(std::string_view text) {
  std::array<int, 2> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t dot = text.find('.');
    if (i == 0 && dot == std::string_view::npos) return std::nullopt;
    std::string_view part = text.substr(0, dot);
    // Python's int() passes over blanks around a number.
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), numbers[i]);
    if (error != std::errc() || end != part.data() + part.size()) return std::nullopt;
    if (i == 0) text.remove_prefix(dot + 1);
  }
  return SchemaVersion{numbers[0], numbers[1]};
}

std::optional<bool> supports(const std::optional<std::string>& version, SchemaVersion least) {
  const std::optional<SchemaVersion> parsed =
      version ? parse_schema_version(*version) : std::nullopt;
  if (!parsed) return std::nullopt;
  return *parsed >= least;
}

std::string_view name_of(const Request& request) { return kNames.at(request.index()); }

std::string to_command(const Request& request) {
  std::string out;
  JsonObjectWriter object(out);
  object.key("request");
  append_json_string(out, name_of(request));
  object.key("args");
  ArgsWriter args(out);
  Request copy = request;
  std::visit([&](auto& alternative) { visit_args(args, alternative); }, copy);
  args.close();
  object.key("version");
  append_json_string(out, kSchemaVersion);
  object.close();
  return out;
}

ReceivedRequest parse_command(std::string_view command) {
  const json object = parse_object(command);
  ReceivedRequest received{.request = empty_request(object), .version = {}};
  const std::string_view name = name_of(received.request);
  const json* args = find(object, "args");
  if (args == nullptr) throw_protocol(fmt::format("a {} command without 'args'", name));
  if (!args->is_object()) {
    throw_protocol(
        fmt::format("{} request: 'args' must be an object, not {}", name, json_excerpt(*args)));
  }
  received.version = version_of(object, name);
  ArgsReader reader(name, *args);
  std::visit([&](auto& alternative) { visit_args(reader, alternative); }, received.request);
  refuse_unknown(name, reader.unknown(), received.version);
  return received;
}

}  // namespace arrakis::inline v1
