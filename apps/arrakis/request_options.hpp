#pragma once

/// The options of commands that read data: which channels, which span, in what way.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arrakis/client.hpp"
#include "options.hpp"

namespace arrakis::cli {

class RequestOptions {
 public:
  /// Whether the user says what becomes of gaps; else they are filled.
  enum class Gaps { chosen, filled };
  explicit RequestOptions(Gaps gaps = Gaps::chosen) : gaps_(gaps) {}

  void add_to(OptionAdder& add);
  /// The request, with channels as they were written.
  [[nodiscard]] StreamRequest request(const ArgumentReader& read) const;
  /// A file of channels, "-" for standard input: no server is asked.
  [[nodiscard]] const std::optional<std::string>& metadata() const { return metadata_; }

 private:
  void read_span(StreamRequest& request, const ArgumentReader& read) const;
  void read_replay(StreamRequest& request) const;
  void check_metadata() const;

  Gaps gaps_;
  std::vector<std::string> channels_, properties_;
  std::optional<std::string> start_, end_, duration_, stride_, on_gap_, kafka_url_, metadata_;
  std::optional<std::string> replay_id_, replay_start_, replay_end_, give_up_after_;
  bool no_fast_forward_ = false;
  bool no_reconnect_ = false;
};

}
