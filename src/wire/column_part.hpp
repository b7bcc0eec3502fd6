#pragma once

/// Parts made of samples that lie anywhere in memory, a list of views and an owner.

#include <memory>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/fwd.hpp"
#include "arrakis/time.hpp"
#include "wire/part.hpp"

namespace arrakis::inline v1 {

class ColumnPart final : public BlockPart {
 public:
  /// `samples` by channel; their memory is kept alive by `owner` and aligned for the channel's
  /// type.
  ColumnPart(GpsTime time, Duration duration, std::vector<Samples> samples,
             std::shared_ptr<const void> owner, std::size_t bytes = 0);

  [[nodiscard]] Samples samples(std::size_t channel) const override;
  [[nodiscard]] bool has_gaps() const override { return has_gaps_; }

 private:
  std::vector<Samples> samples_;
  std::shared_ptr<const void> owner_;
  bool has_gaps_;
};

/// The block that one part is. `part` numbers its channels as `channels` does.
SeriesBlock block_of(ChannelSet channels, BlockPartPtr part);

}  // namespace arrakis::inline v1
