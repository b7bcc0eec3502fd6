#include "arrakis/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "wire/block_data.hpp"
#include "wire/column_part.hpp"

namespace arrakis::inline v1 {
namespace {

struct EventText {
  std::string operator()(const events::OutageBegan& event) const {
    return fmt::format("{}: outage: {}", event.stream, event.reason);
  }
  std::string operator()(const events::OutageEnded& event) const {
    if (event.lost == 0) return fmt::format("{}: works again, nothing lost", event.stream);
    return fmt::format("{}: works again, {} lost", event.stream, event.lost);
  }
  std::string operator()(const events::TopicMissing& event) const {
    return fmt::format("topic {} does not exist; its channels are gaps until it appears",
                       event.topic);
  }
  std::string operator()(const events::TopicAppeared& event) const {
    return fmt::format("topic {} has appeared", event.topic);
  }
  std::string operator()(const events::SkippedAhead& event) const {
    return fmt::format("{}: skipped ahead to GPS {}, was {} behind, {} partition{} moved",
                       event.stream, format_time(event.target), format_duration(event.lag),
                       event.partitions_moved, event.partitions_moved == 1 ? "" : "s");
  }
  std::string operator()(const events::Recovered& event) const {
    return fmt::format("{}: caught up, {} behind", event.stream, format_duration(event.lag));
  }
  std::string operator()(const events::DataLost& event) const {
    return fmt::format("{}: {} lost: {}", event.stream, event.count, event.reason);
  }
};

}  // namespace

std::string to_string(const Event& event) { return std::visit(EventText{}, event); }

std::string describe(const StreamInfo& stream) {
  if (stream.channels.empty()) return fmt::format("no channels ({})", stream.id);
  const auto first =
      std::min_element(stream.channels.begin(), stream.channels.end(),
                       [](const Channel& a, const Channel& b) { return a.name() < b.name(); });
  if (stream.channels.size() == 1) return fmt::format("{} ({})", first->name(), stream.id);
  return fmt::format("{} +{} more ({})", first->name(), stream.channels.size() - 1, stream.id);
}

BlockPartPtr to_part(const SeriesBlock& block, const ChannelSet& channels) {
  if (block.size() != channels.size()) {
    throw Error(Errc::precondition, fmt::format("a block of {} channels for a stream of {}",
                                                block.size(), channels.size()));
  }
  std::vector<Samples> samples;
  std::size_t bytes = 0;
  samples.reserve(channels.size());
  const auto owners = std::make_shared<std::vector<std::shared_ptr<const void>>>();
  for (const Channel& channel : channels) {
    const std::optional<std::size_t> index = block.channels().find(channel.name());
    if (!index || !matches(block.channels()[*index], channel)) {
      throw Error(Errc::precondition,
                  fmt::format("the block has no channel {}", describe(channel)));
    }
    const Series series = block.at(*index);
    if (!series.empty() && series.time() != block.time()) {
      throw Error(Errc::precondition,
                  fmt::format("the first sample of '{}' is at {} ns, not at the block's {} ns",
                              channel.name(), series.time().ns(), block.time().ns()));
    }
    bytes += series.bytes().size();
    samples.push_back({series.bytes().data(), series.size(), series.validity(),
                       series.validity_offset(), series.gap_count(), true});
    const std::shared_ptr<const void>& owner = BlockData::owner_of(series);
    if (owners->empty() || owners->back() != owner) owners->push_back(owner);
  }
  return std::make_shared<ColumnPart>(block.time(), block.duration(), std::move(samples), owners,
                                      bytes);
}

}  // namespace arrakis::inline v1
