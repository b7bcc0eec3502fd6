#include "soak/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <variant>

namespace arrakis::soak {

Judge::Judge(const Ledger& ledger, const std::vector<Topic>& topics)
    : ledger_(ledger), topics_(topics), newest_(topics.size(), -1) {}

std::optional<std::string> Judge::check(const SeriesBlock& block) {
  ++tally_.blocks;
  if (end_ && block.time() != *end_) {
    return fmt::format("a block at GPS {} follows one that ends at {}", format_time(block.time()),
                       format_time(*end_));
  }
  end_ = block.end();
  if (block.duration() != ledger_.stride()) {
    return fmt::format("the block at GPS {} is {} ns long", format_time(block.time()),
                       block.duration().count());
  }
  const std::int64_t number = ledger_.number_at(block.time());
  for (std::size_t t = 0; t < topics_.size(); ++t) {
    if (auto wrong = check_topic(block, t, number)) return wrong;
  }
  return std::nullopt;
}

std::optional<std::string> Judge::check_topic(const SeriesBlock& block, std::size_t topic,
                                              std::int64_t number) {
  const ChannelSet& channels = topics_[topic].channels;
  const auto describe = [&](const std::string& what) {
    return fmt::format("block {} of {} (GPS {}): {}", number, topics_[topic].name,
                       format_time(block.time()), what);
  };
  std::size_t gap_channels = 0;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const Series series = block[channels[c].name()];
    if (series.gap_count() == series.size()) {
      ++gap_channels;
      continue;
    }
    if (series.has_gaps()) return describe("a channel is a gap in part");
    const auto values = series.values<float>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] == sample_value(number, c, i)) continue;
      return describe(fmt::format("sample {} of {} is {}, not {}", i, channels[c].name(), values[i],
                                  sample_value(number, c, i)));
    }
  }
  if (gap_channels == channels.size()) {
    note_gap(topic, number);
    return std::nullopt;
  }
  if (gap_channels > 0) return describe("some channels are gaps, others are not");
  if (ledger_.look_up(topic, number).fate == Fate::unsent) return describe("was never sent");
  ++tally_.data;
  newest_[topic] = number;
  return std::nullopt;
}

void Judge::note_gap(std::size_t topic, std::int64_t number) {
  ++tally_.gaps;
  const Ledger::Entry entry = ledger_.look_up(topic, number);
  if (entry.may_be_lost || ledger_.time_of(number) < skipped_to_) return;
  gaps_.push_back({topic, number, entry.fate == Fate::confirmed});
}

void Judge::on_event(const Event& event) {
  std::visit(
      [this](const auto& e) {
        using E = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<E, events::SkippedAhead>) {
          skipped_to_ = std::max(skipped_to_, e.target);
        } else if constexpr (std::is_same_v<E, events::OutageBegan>) {
          ++outages_[e.stream];
        } else if constexpr (std::is_same_v<E, events::OutageEnded>) {
          --outages_[e.stream];
        } else if constexpr (std::is_same_v<E, events::TopicMissing>) {
          ++missing_topics_[e.topic];
        } else if constexpr (std::is_same_v<E, events::TopicAppeared>) {
          --missing_topics_[e.topic];
        }
      },
      event);
}

std::string Judge::count_missing() {
  std::string first;
  for (const Gap& gap : gaps_) {
    const Ledger::Entry entry = ledger_.look_up(gap.topic, gap.number);
    // What was confirmed only later may have been read, too late, or lost with its topic.
    if (entry.fate != Fate::confirmed || (!gap.was_confirmed && entry.may_be_lost)) continue;
    if (tally_.missing++ == 0) {
      first = fmt::format("block {} of {}", gap.number, topics_[gap.topic].name);
    }
  }
  gaps_.clear();
  return first;
}

std::optional<std::string> Judge::settle(const StreamStats& stream, const ReaderStats& reader) {
  const std::string first = count_missing();
  const std::uint64_t counted =
      stream.late + stream.overflow + reader.skipped_messages + reader.purged_messages;
  if (tally_.missing > counted) {
    return fmt::format(
        "{} confirmed block(s) never came, the first is {}, but only {} are counted "
        "(late {}, overflow {}, skipped {}, purged {})",
        tally_.missing, first, counted, stream.late, stream.overflow, reader.skipped_messages,
        reader.purged_messages);
  }
  if (stream.blocks != tally_.blocks || stream.gap_slots != tally_.gaps) {
    return fmt::format("delivered {} block(s) with {} gap slot(s), but counted {} and {}",
                       tally_.blocks, tally_.gaps, stream.blocks, stream.gap_slots);
  }
  const std::uint64_t refused = stream.late + stream.before_start + stream.overflow +
                                stream.misaligned + stream.stride_mismatched + stream.future;
  if (tally_.data + refused > stream.parts) {
    return fmt::format("{} part(s) were received, but {} delivered and {} refused", stream.parts,
                       tally_.data, refused);
  }
  for (const auto& [name, open] : outages_) {
    if (open != 0) return fmt::format("{}: {} outage(s) began that did not end", name, open);
  }
  for (const auto& [name, open] : missing_topics_) {
    if (open != 0) return fmt::format("{}: missing {} time(s) more than it appeared", name, open);
  }
  return std::nullopt;
}

std::optional<std::string> Judge::settle_without_loss() {
  const std::string first = count_missing();
  if (tally_.missing == 0) return std::nullopt;
  return fmt::format("{} confirmed block(s) of the past did not come, the first is {}",
                     tally_.missing, first);
}

}
