#include "lag_figures.hpp"

#include <algorithm>
#include <utility>

namespace arrakis::cli {

LagTable::LagTable(std::vector<std::string> partitions) : rows_(partitions.size()) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].counted.partition = std::move(partitions[i]);
  }
}

void LagTable::add(std::size_t index, const SeriesBlock& block, GpsTime now, Duration monotonic) {
  Row& row = rows_[index];
  LagFigures& counted = row.counted;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const Series series = block.at(i);
    counted.samples += series.size();
    counted.gap_samples += series.gap_count();
  }
  if (block.is_all_gap()) {
    ++counted.missing_blocks;
    return;
  }
  ++counted.blocks;
  row.rate.count(monotonic);
  const Duration lag = now - block.end();
  row.lags.add(lag);
  counted.worst = std::max(counted.worst.value_or(lag), lag);
  if (row.newest_end && block.end() <= *row.newest_end) return;
  row.newest_end = block.end();
  counted.lag = lag;
}

LagFigures LagTable::figures(std::size_t index, GpsTime now) const {
  const Row& row = rows_[index];
  LagFigures figures = row.counted;
  figures.blocks_per_second = row.rate.per_second();
  if (!row.newest_end) return figures;
  figures.age = now - *row.newest_end;
  figures.p50 = row.lags.percentile(0.5);
  figures.p90 = row.lags.percentile(0.9);
  figures.p99 = row.lags.percentile(0.99);
  return figures;
}

std::vector<LagFigures> LagTable::figures(GpsTime now) const {
  std::vector<LagFigures> all;
  all.reserve(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) all.push_back(figures(i, now));
  return all;
}

}
