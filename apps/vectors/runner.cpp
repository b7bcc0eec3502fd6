#include "vectors/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <ostream>
#include <system_error>

#include "vectors/exceptions.hpp"
#include "vectors/handlers.hpp"

namespace arrakis::vectors {
namespace {

namespace fs = std::filesystem;

using Handler = void (*)(const VectorFile&, FileReport&);

struct Entry {
  std::string_view file;
  Handler handler;  ///< nullptr: not in this version
};
/// The files of the format at the top of a folder.
constexpr std::array kFiles = {
    Entry{"budgets.json", replay_budgets},
    Entry{"channels.json", replay_channels},
    Entry{"descriptors.json", replay_descriptors},
    Entry{"durations.json", replay_durations},
    Entry{"mux.json", replay_mux},
    Entry{"partitioning.json", nullptr},
    Entry{"policy.json", replay_policy},
    Entry{"queue.json", replay_queue},
    Entry{"replay.json", replay_replay},
    Entry{"routing.json", nullptr},
    Entry{"stream.json", replay_stream},
    Entry{"time.json", replay_time},
    Entry{"topics.json", replay_topics},
    Entry{"urls.json", replay_urls},
};
/// Sub-folders in which every JSON file is one, or goes with, a vector.
constexpr std::array<std::string_view, 3> kFolders = {"flight", "kafka", "schemas"};
/// Lists the names in its folder; the files themselves are found without it.
constexpr std::string_view kIndexFile = "kafka/INDEX.json";

Handler handler_of_flight(std::string_view name, const Json& content) {
  if (name == "flight/assemble.json") return replay_assemble;
  if (content.contains("blocks")) return replay_column_batches;
  if (content.contains("rows")) return replay_result_batches;
  return nullptr;
}

Handler handler_of(std::string_view name, const Json& content) {
  if (name.starts_with("flight/")) return handler_of_flight(name, content);
  if (name.starts_with("kafka/")) return replay_kafka_message;
  if (name == "schemas/schemas.json") return replay_schemas;
  const auto* const entry = std::ranges::find(kFiles, name, &Entry::file);
  return entry == kFiles.end() ? nullptr : entry->handler;
}

bool is_known(std::string_view name) {
  if (name == kIndexFile) return false;
  return name.find('/') != std::string_view::npos ||
         std::ranges::find(kFiles, name, &Entry::file) != kFiles.end();
}

void add_json_files(const fs::path& folder, const std::string& prefix,
                    std::vector<std::string>& names) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") {
      names.push_back(prefix + entry.path().filename().string());
    }
  }
}

std::vector<std::string> find_files(const fs::path& folder) {
  std::vector<std::string> names;
  add_json_files(folder, "", names);
  for (const std::string_view sub : kFolders) {
    add_json_files(folder / sub, std::string(sub) + "/", names);
  }
  std::ranges::sort(names);
  return names;
}

/// The parsed file; nothing, and a failure reported, when it can't be read.
std::optional<Json> read_json(const fs::path& path, FileReport& report) {
  std::ifstream input(path, std::ios::binary);
  if (!input) {
    report.fail("file", "cannot be read");
    return {};
  }
  try {
    return Json::parse(input);
  } catch (const std::exception& thrown) {
    report.fail("file", std::string("is not JSON: ") + thrown.what());
    return {};
  }
}

FileReport replay_file(const fs::path& folder, const std::string& name) {
  FileReport report(name);
  std::optional<Json> content = read_json(folder / name, report);
  if (!content) return report;
  if (!content->is_object()) {
    report.fail("file", "is not a JSON object");
    return report;
  }
  const Handler handler = handler_of(name, *content);
  if (handler == nullptr) {
    report.no_handler("");
    return report;
  }
  const VectorFile file{name, (folder / name).parent_path(), *std::move(content)};
  try {
    handler(file, report);
  } catch (const std::exception& thrown) {
    report.fail("file", std::string("is malformed: ") + thrown.what());
  }
  return report;
}

std::string on_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// The list called `key` in the file; nothing, and a failure reported, when there is none.
const Json* list_at(const VectorFile& file, FileReport& report, const std::string& key) {
  const auto found = file.content.find(key);
  if (found != file.content.end() && found->is_array()) return &*found;
  report.fail("file", fmt::format("has no list \"{}\"", key));
  return nullptr;
}

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

void FileReport::judge(std::string_view family, const std::string& name, const Finding& finding) {
  const ExceptionRule* rule = find_exception(file_, family);
  if (rule != nullptr && rule->when == ExceptionRule::When::vector_is_wrong &&
      finding.vector_is_right) {
    rule = nullptr;
  }
  const std::string label =
      family.empty() || name.starts_with(family) ? name : fmt::format("{} ({})", name, family);
  if (rule == nullptr) {
    if (finding.difference.empty()) {
      ++passed_;
    } else {
      fail(label, finding.difference);
    }
    return;
  }
  if (finding.difference.empty()) {
    fail(label, fmt::format("no longer differs from the vector, but is excepted: {}", rule->rule));
  } else if (!finding.error.empty()) {
    fail(label, fmt::format("excepted ({}), but not right: {}", rule->rule, finding.error));
  } else if (!finding.vector_error.empty()) {
    fail(label, fmt::format("excepted ({}), but the vector is wrong in another way: {}", rule->rule,
                            finding.vector_error));
  } else {
    ++excepted_;
  }
}

void FileReport::fail(const std::string& name, const std::string& message) {
  failures_.push_back(on_one_line(fmt::format("{}: {}", name, message)));
}

void FileReport::print(std::ostream& out) const {
  const bool is_counted = passed_ + excepted_ + failures_.size() > 0;
  if (!is_counted && unhandled_.size() == 1 && unhandled_.front().empty()) {
    out << file_ << ": no handler\n";
    return;
  }
  out << fmt::format("{}: {} passed, {} failed, {} excepted", file_, passed_, failed(), excepted_);
  for (const std::string& part : unhandled_) out << "; " << part << ": no handler";
  out << '\n';
  for (const std::string& failure : failures_) out << "  " << failure << '\n';
}

void replay_traces(const VectorFile& file, FileReport& report, Finding (*replay)(const Json&)) {
  const Json* traces = list_at(file, report, "traces");
  if (traces == nullptr) return;
  std::size_t number = 0;
  for (const Json& trace : *traces) {
    std::string name = text_at(trace, "id");
    if (name.empty()) name = fmt::format("traces[{}]", number);
    report.run(text_at(trace, "family"), name, [&] { return replay(trace); });
    ++number;
  }
}

void replay_section(const VectorFile& file, FileReport& report, const std::string& section,
                    Finding (*replay)(const Json&)) {
  const Json* cases = list_at(file, report, section);
  if (cases == nullptr) return;
  std::size_t number = 0;
  for (const Json& item : *cases) {
    report.run(section, fmt::format("{}[{}]", section, number), [&] { return replay(item); });
    ++number;
  }
}

Summary replay_folder(const std::filesystem::path& folder, std::ostream& out) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return {.problem = fmt::format("{}: no such folder", folder.string())};
  }
  const std::vector<std::string> names = find_files(folder);
  if (std::ranges::none_of(names, is_known)) {
    return {.problem = fmt::format("{}: holds no vectors", folder.string())};
  }
  Summary summary;
  for (const std::string& name : names) {
    if (name == kIndexFile) continue;
    const FileReport report = replay_file(folder, name);
    report.print(out);
    summary.passed += report.passed();
    summary.failed += report.failed();
  }
  out << fmt::format("{} passed, {} failed\n", summary.passed, summary.failed) << std::flush;
  return summary;
}

}  // namespace arrakis::vectors
