#include "block_feed.hpp"

#include <memory>
#include <span>
#include <utility>

namespace arrakis::cli {

FileFeed::FileFeed(BlockReader reader, Duration stride, std::optional<GpsTime> start)
    : reader_(std::move(reader)), stride_(stride), start_(start) {}

std::optional<SeriesBlock> FileFeed::next() {
  while (at_ >= block_.end()) {
    std::optional<SeriesBlock> read = reader_.next();
    if (!read) return std::nullopt;
    block_ = std::move(*read);
    at_ = block_.time();
  }
  if (!shift_) shift_ = start_ ? *start_ - at_ : Duration::zero();
  SeriesBlock piece = block_.duration() == stride_ ? block_ : block_.clip(at_, at_ + stride_);
  at_ = at_ + stride_;
  return *shift_ == Duration::zero() ? piece : moved_to(piece, piece.time() + *shift_);
}

std::optional<SeriesBlock> GeneratorFeed::next() {
  const GpsTime time = time_;
  time_ = time_ + stride_;
  return generator_.block(time, stride_);
}

SeriesBlock moved_to(const SeriesBlock& block, GpsTime time) {
  BlockBuilder builder(time, block.channels());
  for (std::size_t i = 0; i < block.size(); ++i) {
    const Series series = block.at(i);
    const auto gaps = std::make_unique<bool[]>(series.size());
    for (std::size_t n = 0; n < series.size(); ++n) gaps[n] = series.is_gap(n);
    builder.set_bytes(series.channel().name(), series.channel().data_type(), series.bytes(),
                      std::span(gaps.get(), series.size()));
  }
  return builder.build();
}

}
