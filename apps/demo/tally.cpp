#include "demo/tally.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/sample_text.hpp"

namespace arrakis::demo {

void Tally::add(const SeriesBlock& block, Duration age) {
  ++blocks_;
  span_ += block.duration();
  channels_ = block.size();
  ages_.add(age);
  bool has_gaps = false;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const Series series = block.at(i);
    const std::size_t silent =
        detector_.silent_samples(series.channel(), series.time(), block.end());
    samples_ += series.size() - series.gap_count();
    silent_samples_ += std::min(silent, series.gap_count());
    lost_samples_ += series.gap_count() - std::min(silent, series.gap_count());
    has_gaps = has_gaps || series.has_gaps();
  }
  if (has_gaps) ++blocks_with_gaps_;
}

std::vector<std::string> Tally::summary() const {
  if (blocks_ == 0) return {"no block came"};
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{} s   {} blocks of {} channels, {} samples",
                              console::seconds_text(span_, 1), blocks_, channels_, samples_));
  lines.push_back(silent_samples_ == 0
                      ? fmt::format("gaps     none")
                      : fmt::format("gaps     {} samples in {} blocks: {} dropping out",
                                    silent_samples_, blocks_with_gaps_, kFaultyChannel));
  lines.push_back(fmt::format("age      p50 {}, p99 {} from the last sample to the block here",
                              age_text(ages_.percentile(0.5)), age_text(ages_.percentile(0.99))));
  lines.push_back(lost_samples_ == 0 ? std::string("lost     nothing")
                                     : fmt::format("lost     {} samples", lost_samples_));
  return lines;
}

std::string age_text(Duration age) {
  if (age >= std::chrono::seconds(1)) return console::seconds_text(age, 2) + " s";
  return console::seconds_text(age * 1000, 1) + " ms";
}

}
