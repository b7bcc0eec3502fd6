#pragma once

/// Replays a folder of golden vectors: finds the files, hands each to its handler, counts.

#include <cstddef>
#include <exception>
#include <filesystem>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace arrakis::vectors {

using Json = nlohmann::json;

/// One file of vectors.
struct VectorFile {
  std::string name;              ///< relative to the folder given: "kafka/zero_rows.json"
  std::filesystem::path folder;  ///< where the files that it names lie
  Json content;
};

/// What replaying one case found. The last three matter only where an exception holds.
struct Finding {
  /// How the outcome differs from the vector; empty: not at all.
  std::string difference = {};
  /// Whether the vector states the right answer, told without this build's own answer.
  bool vector_is_right = true;
  /// How the outcome differs from the right answer; empty: not at all.
  std::string error = {};
  /// How the vector differs from the wrong answer that the exception is about; empty: not at all.
  std::string vector_error = {};
};

/// The results of one file.
class FileReport {
 public:
  explicit FileReport(std::string file) : file_(std::move(file)) {}

  /// Counts one case. Where an exception holds for it (exceptions.hpp), it must differ from the
  /// vector and agree with the right answer, and the vector must be wrong in the known way;
  /// elsewhere the outcome must equal the vector.
  void judge(std::string_view family, const std::string& name, const Finding& finding);
  /// Calls `replay`, which returns a Finding, and judges that; what it throws is a failure.
  template <typename Replay>
  void run(std::string_view family, const std::string& name, Replay&& replay) {
    try {
      judge(family, name, replay());
    } catch (const std::exception& thrown) {
      fail(name, std::string("stopped by: ") + thrown.what());
    }
  }
  void fail(const std::string& name, const std::string& message);
  /// Says that a part of the file can't be replayed by this version.
  void no_handler(std::string part) { unhandled_.push_back(std::move(part)); }

  [[nodiscard]] std::size_t passed() const { return passed_; }
  [[nodiscard]] std::size_t failed() const { return failures_.size(); }
  [[nodiscard]] std::size_t excepted() const { return excepted_; }
  /// One line, and one more for each failure.
  void print(std::ostream& out) const;

 private:
  std::string file_;
  std::size_t passed_ = 0;
  std::size_t excepted_ = 0;
  std::vector<std::string> failures_;
  std::vector<std::string> unhandled_;
};

/// Replays each element of `content.traces`; its "id" names it, its "family" decides about
/// exceptions.
void replay_traces(const VectorFile& file, FileReport& report, Finding (*replay)(const Json&));
/// Replays each element of the list `content[section]`; the section is the family.
void replay_section(const VectorFile& file, FileReport& report, const std::string& section,
                    Finding (*replay)(const Json&));

struct Summary {
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::string problem;  ///< why nothing could be replayed; empty when something was
};
/// Replays every vector file under `folder`, printing a line for each and the totals at the end.
Summary replay_folder(const std::filesystem::path& folder, std::ostream& out);

}  // namespace arrakis::vectors
