#pragma once

/// Where the blocks come from that `arrakis publish` sends.

#include <memory>
#include <optional>
#include <string>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/files.hpp"
#include "arrakis/time.hpp"
#include "generators.hpp"

namespace arrakis::cli {

/// Blocks in order of time, of one length. Not safe from several threads at once.
class BlockFeed {
 public:
  virtual ~BlockFeed() = default;
  /// The next block, nothing after the last. Throws Error.
  virtual std::optional<SeriesBlock> next() = 0;
};

/// The blocks of a file, cut to `stride`; the first begins at `start`, where that is given, and the
/// others as long after it as in the file.
class FileFeed final : public BlockFeed {
 public:
  FileFeed(BlockReader reader, Duration stride, std::optional<GpsTime> start);
  std::optional<SeriesBlock> next() override;

 private:
  BlockReader reader_;
  Duration stride_;
  std::optional<GpsTime> start_;
  std::optional<Duration> shift_;
  SeriesBlock block_;  // being cut; its next piece begins at `at_`
  GpsTime at_;
};

/// Generated blocks from `start` on, for ever.
class GeneratorFeed final : public BlockFeed {
 public:
  GeneratorFeed(Generator generator, Duration stride, GpsTime start)
      : generator_(std::move(generator)), stride_(stride), time_(start) {}
  std::optional<SeriesBlock> next() override;

 private:
  Generator generator_;
  Duration stride_;
  GpsTime time_;
};

/// The same samples and gaps, beginning at `time`.
SeriesBlock moved_to(const SeriesBlock& block, GpsTime time);

}
