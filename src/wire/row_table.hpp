#pragma once

/// Rows of (time, id, data) as memory, and which row is which channel.
///
/// The decoder makes a RowTable from a message's bytes, the Arrow conversion from a record batch's
/// buffers; RowMapper checks it and RowPart hands out its samples.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "arrakis/channel.hpp"
#include "arrakis/fwd.hpp"
#include "arrakis/time.hpp"
#include "core/result.hpp"
#include "wire/aligned_bytes.hpp"
#include "wire/bitmap.hpp"
#include "wire/part.hpp"

namespace arrakis::inline v1 {

/// Three columns. Nothing in it is trusted or aligned: RowMapper::map() checks every size.
struct RowTable {
  std::size_t rows = 0;
  std::span<const std::byte> times;  ///< int64 a row, none null
  std::span<const std::byte> ids;    ///< uint32 or int32 a row
  bool signed_ids = false;
  Bitmap id_validity;
  std::span<const std::byte> offsets;  ///< int32 or int64 a row and one more
  bool large_offsets = false;
  Bitmap list_validity;
  DataType type = DataType::int8;     ///< of the samples
  std::span<const std::byte> values;  ///< `value_count` samples, which the offsets index
  std::size_t value_count = 0;
  Bitmap validity;  ///< of the samples
};

/// Where each channel's samples lie among a table's values; the same for every message that looks
/// like the one it was made of.
struct RowLayout {
  struct Span {
    std::size_t first = 0;  ///< sample
    std::size_t size = 0;   ///< 0: the channel is absent
  };
  std::vector<Span> spans;  ///< by channel
  Span covered;             ///< from the first channel's samples to the last's
  DataType type = DataType::int8;
  std::size_t sample_bytes = 1;
  Duration duration{};           ///< of each present channel
  bool complete = false;         ///< no channel is absent
  std::size_t wanted_rows = 0;   ///< rows of a wanted channel; 0: nothing here is for us
  bool usable = false;           ///< one of those has samples, or is a null list, which is a gap
  std::size_t dropped_rows = 0;  ///< rows without an id, and wanted ones of a wrong type or length
  std::string drop_reason;       ///< of the first row dropped
};

/// Finds the rows of a stream's channels. Immutable, safe from any thread.
class RowMapper {
 public:
  /// Throws Error(precondition) that names a channel without a partition_index, or two with the
  /// same.
  explicit RowMapper(ChannelSet channels);

  /// Checks the whole table. Rows of unknown ids are passed over; of rows with one id the last
  /// wins; a null list is an absent channel; a row of another type than its channel's, of no
  /// samples, or of another duration than its channel's stride (without one: than most rows) is
  /// dropped and its channel absent. Error(decode) for what makes the table unusable.
  [[nodiscard]] Result<RowLayout> map(const RowTable& table) const;

  [[nodiscard]] const ChannelSet& channels() const { return channels_; }

 private:
  ChannelSet channels_;
  std::unordered_map<std::uint32_t, std::uint32_t> channel_of_id_;
  std::optional<Duration> stride_;  // the first that a channel has
};

/// One table's samples by the layout that map() made of it.
class RowPart final : public BlockPart {
 public:
  /// `values` and `validity` as in the table, kept alive by `owner`.
  RowPart(GpsTime time, std::shared_ptr<const RowLayout> layout, const std::byte* values,
          Bitmap validity, std::shared_ptr<const void> owner);

  [[nodiscard]] Samples samples(std::size_t channel) const override;
  [[nodiscard]] bool has_gaps() const override;

 private:
  std::shared_ptr<const RowLayout> layout_;
  std::shared_ptr<const void> owner_;
  AlignedBytes values_;  // those covered
  Bitmap validity_;
};

/// The time of the table's first row. rows > 0, checked by map().
GpsTime first_time(const RowTable& table);

}  // namespace arrakis::inline v1
