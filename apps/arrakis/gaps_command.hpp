#pragma once

/// arrakis gaps

#include <string>
#include <vector>

#include "command.hpp"
#include "gap_segments.hpp"
#include "request_options.hpp"

namespace arrakis::cli {

/// The exit status that says that something is missing.
constexpr int kGapsFound = 3;

class GapsCommand final : public Command {
 public:
  void add_options(OptionAdder& add) override;
  void check(const ArgumentReader& read) override;
  int run(Session& session) override;

 private:
  RequestOptions request_options_{RequestOptions::Gaps::filled};
  bool json_ = false, any_ = false, every_ = false;
  StreamRequest request_;
};

/// What is missing of one thing: a channel, or several together.
struct Missing {
  std::string name;
  SegmentList segments;
};
/// A line a segment, in order of time: "1400000000.0625 1400000000.125 0.0625 s H1:A-B".
std::string gap_lines(const std::vector<Missing>& missing);
/// The same as JSON, an object a line: {"channel": "H1:A-B", "start_ns": 1, "end_ns": 2}.
std::string gap_json(const std::vector<Missing>& missing);

}
