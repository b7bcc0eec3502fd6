#pragma once

/// Holds what one reader delivers against what was published.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arrakis/kafka.hpp"
#include "arrakis/stream.hpp"
#include "soak/ledger.hpp"

namespace arrakis::soak {

/// What a reader delivered, a slot being one topic's share of one block.
struct Tally {
  std::uint64_t blocks = 0;
  std::uint64_t data = 0;  ///< slots with data
  std::uint64_t gaps = 0;  ///< slots without
  std::uint64_t missing =
      0;  ///< of those, confirmed by the broker and not gone by an act or a skip
};

/// Not safe from several threads at once. The ledger and the topics must outlive it.
class Judge {
 public:
  Judge(const Ledger& ledger, const std::vector<Topic>& topics);

  /// Checks the next block; what is wrong with it, if anything: a time that does not follow, a
  /// value that was not published then, part of a topic's channels, a gap that nothing explains yet
  /// is only noted.
  std::optional<std::string> check(const SeriesBlock& block);
  void on_event(const Event& event);
  /// After the last block: what does not add up. Every missing slot must be in a counter of the
  /// reader or the stream, every gap must have been counted, every episode must have ended.
  std::optional<std::string> settle(const StreamStats& stream, const ReaderStats& reader);
  /// The same for a reader that had no excuse: it read what the broker had all along.
  std::optional<std::string> settle_without_loss();

  [[nodiscard]] const Tally& tally() const { return tally_; }
  /// The last slot with data of a topic; -1: none yet.
  [[nodiscard]] std::int64_t newest(std::size_t topic) const { return newest_[topic]; }

 private:
  /// A slot without data whose block may have been confirmed.
  struct Gap {
    std::size_t topic;
    std::int64_t number;
    bool was_confirmed;  // already when the gap was delivered
  };
  std::optional<std::string> check_topic(const SeriesBlock& block, std::size_t topic,
                                         std::int64_t number);
  void note_gap(std::size_t topic, std::int64_t number);
  /// Counts the gaps that nothing explains; names the first.
  std::string count_missing();

  const Ledger& ledger_;
  const std::vector<Topic>& topics_;
  std::optional<GpsTime> end_;  // of the last block
  GpsTime skipped_to_ = GpsTime::min();
  std::vector<Gap> gaps_;
  std::vector<std::int64_t> newest_;
  std::map<std::string, int> outages_;         // begun and not ended, by stream
  std::map<std::string, int> missing_topics_;  // and not appeared
  Tally tally_;
};

}
