#include "gap_segments.hpp"

#include <algorithm>
#include <utility>

namespace arrakis::cli {

GapSegments::GapSegments(ChannelSet channels, std::optional<GpsTime> start)
    : channels_(std::move(channels)), known_until_(start), segments_(channels_.size()) {}

void GapSegments::add(const SeriesBlock& block) {
  add_time_until(block.time());
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    const std::optional<std::size_t> place = block.channels().find(channels_[i].name());
    if (!place) {
      add_segment(i, {block.time(), block.end()});
    } else if (const Series series = block.at(*place); series.has_gaps()) {
      add_samples(i, series, block.end());
    }
  }
  known_until_ = std::max(*known_until_, block.end());
}

void GapSegments::finish(GpsTime end) { add_time_until(end); }

SegmentList GapSegments::any() const { return where_missing(1); }
SegmentList GapSegments::every() const { return where_missing(channels_.size()); }

bool GapSegments::empty() const {
  return std::all_of(segments_.begin(), segments_.end(),
                     [](const SegmentList& list) { return list.empty(); });
}

// What lies between the last block and `time` was not sent.
void GapSegments::add_time_until(GpsTime time) {
  if (!known_until_) known_until_ = time;
  if (time <= *known_until_) return;
  for (std::size_t i = 0; i < channels_.size(); ++i) add_segment(i, {*known_until_, time});
  known_until_ = time;
}

void GapSegments::add_samples(std::size_t channel, const Series& series, GpsTime block_end) {
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (!series.is_gap(i)) continue;
    std::size_t end = i + 1;
    while (end < series.size() && series.is_gap(end)) ++end;
    add_segment(channel,
                {series.time_at(i), end == series.size() ? block_end : series.time_at(end)});
    i = end;
  }
}

void GapSegments::add_segment(std::size_t channel, Segment segment) {
  SegmentList& list = segments_[channel];
  if (segment.start >= segment.end) return;
  if (!list.empty() && segment.start <= list.back().end) {
    list.back().end = std::max(list.back().end, segment.end);
  } else {
    list.push_back(segment);
  }
}

SegmentList GapSegments::where_missing(std::size_t least) const {
  std::vector<std::pair<GpsTime, int>>
      edges;  // +1 where a channel goes missing, -1 where it is back
  for (const SegmentList& list : segments_) {
    for (const Segment& segment : list) {
      edges.emplace_back(segment.start, 1);
      edges.emplace_back(segment.end, -1);
    }
  }
  std::sort(edges.begin(), edges.end());
  SegmentList found;
  std::size_t missing = 0;
  for (auto edge = edges.begin(); edge != edges.end();) {
    const GpsTime time = edge->first;
    const bool was_missing = missing >= least;
    for (; edge != edges.end() && edge->first == time; ++edge) {
      edge->second > 0 ? ++missing : --missing;
    }
    const bool is_missing = missing >= least;
    if (is_missing && !was_missing) found.push_back({time, time});
    if (!is_missing && was_missing) found.back().end = time;
  }
  return found;
}

Duration total(const SegmentList& segments) {
  Duration sum{};
  for (const Segment& segment : segments) sum += segment.end - segment.start;
  return sum;
}

}
