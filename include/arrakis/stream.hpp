#pragma once

/// Streams: blocks of many channels in order of time, from wherever they come.
///
///     arrakis::BlockStream stream(std::make_unique<arrakis::KafkaReader>(url, channels));
///     for (const arrakis::SeriesBlock& block : stream) use(block["H1:A-B"].values<float>());

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/export.hpp"
#include "arrakis/fwd.hpp"
#include "arrakis/mux.hpp"
#include "arrakis/source.hpp"
#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

class StreamEngine;  // what runs a stream; not public

struct StreamOptions {
  /// First instant wanted, to the nanosecond. None: live, from now.
  std::optional<GpsTime> start;
  /// Exclusive end. None: for ever. Not together with `duration`.
  std::optional<GpsTime> end;
  /// Length of the stream, from `start` or, live, from the first block.
  std::optional<Duration> duration;
  GapPolicy on_gap = GapPolicy::fill;
  DropPolicy on_drop = DropPolicy::ignore;
  /// Length of a block; a positive multiple of the channels' common stride, which is the default.
  std::optional<Duration> stride;
  /// How long after its start a slot is waited for, > 0; none: as the channels' max_latency says.
  std::optional<Duration> timeout;
  /// The same for streams of which no channel has a max_latency; none: wait for ever when any
  /// stream has none.
  std::optional<Duration> fallback_timeout;
  /// Deliver whole blocks also where they reach beyond [start, end).
  bool whole_blocks = false;
  /// Parts further ahead of now than this (and than the stream's deadline) are refused.
  Duration future_limit = std::chrono::seconds(10);
  /// Bytes of samples that a request with a start holds while it waits for its slowest stream;
  /// streams that are ahead by more are held back at their source. One block is always held.
  std::size_t buffer_bytes = std::size_t{64} << 20U;
  /// Receives events on the thread that calls next(). May be empty; must not throw; may cancel().
  std::function<void(const Event&)> on_event;
  /// Put before stream names in log lines.
  std::string label;
  /// May be set while the stream runs: deadlines go by the old time for as long as blocks of now,
  /// by that time, keep coming. Must outlive the stream.
  const Clock* clock = &system_clock();
};

/// Counters since the stream began; every loss is in one of them.
struct StreamStats {
  std::uint64_t blocks = 0;             ///< delivered
  std::uint64_t parts = 0;              ///< received
  std::uint64_t gap_slots = 0;          ///< slots delivered as gaps, summed over streams
  std::uint64_t skipped_strides = 0;    ///< left out by GapPolicy::skip
  std::uint64_t late = 0;               ///< parts that came after their slot was delivered
  std::uint64_t before_start = 0;       ///< parts before the first instant wanted; no loss
  std::uint64_t overflow = 0;           ///< parts dropped because a live stream ran too far ahead
  std::uint64_t misaligned = 0;         ///< parts off the stride's grid
  std::uint64_t stride_mismatched = 0;  ///< parts whose length is not the stride
  std::uint64_t future = 0;             ///< parts too far ahead of now
  std::uint64_t reconnects = 0;         ///< times that the stream was set up anew
};

/// One time grid over the streams of one or several sources.
///
/// One thread calls next(); cancel(), close() and stats() may be called from any. Waits in one
/// place for data, deadlines, cancellation and the caller's own limit.
class ARRAKIS_API BlockStream {
 public:
  /// Opens the sources. Throws Error(invalid_argument) for options that contradict each other, and
  /// what Source::open throws; then every source is closed again. A pointer to a source stays valid
  /// until the stream is destroyed, for what only that source can tell or do.
  explicit BlockStream(std::unique_ptr<Source> source, StreamOptions options = {});
  explicit BlockStream(std::vector<std::unique_ptr<Source>> sources, StreamOptions options = {});
  /// Closes the sources.
  ~BlockStream();
  BlockStream(BlockStream&&) noexcept;
  BlockStream& operator=(BlockStream&&) noexcept;

  enum class Status {
    block,    ///< there is a block
    timeout,  ///< nothing within the wait
    end,      ///< no block will come again
  };
  struct Next {
    Status status = Status::timeout;
    SeriesBlock block;  ///< empty unless status is block
    explicit operator bool() const { return status == Status::block; }
  };
  /// The next block; waits at most `wait` (zero: not at all), for ever when none. Throws Error(gap)
  /// under GapPolicy::raise and what Source::poll throws (the stream has then ended), and
  /// Error(late_data) under DropPolicy::raise (it goes on).
  Next next(std::optional<Duration> wait = {});

  /// Makes a waiting or later next() return `end`, from any thread.
  void cancel();
  /// cancel(), and closes the sources: two seconds at most. Idempotent.
  void close();

  [[nodiscard]] StreamStats stats() const;
  /// Where to go on after the last block that next() gave, for StreamRequest::resume; a line of
  /// text. Empty before the first block, and of a stream that no Client made.
  [[nodiscard]] std::string resume_token() const;
  /// All channels, in the order of the sources' streams.
  [[nodiscard]] const ChannelSet& channels() const;
  /// Length of a block.
  [[nodiscard]] Duration stride() const;

  /// Input iteration over the blocks until the end; waits as next() without a limit. The stream
  /// must not be moved meanwhile.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = SeriesBlock;
    using difference_type = std::ptrdiff_t;
    using pointer = const SeriesBlock*;
    using reference = const SeriesBlock&;

    Iterator() = default;
    reference operator*() const { return next_.block; }
    pointer operator->() const { return &next_.block; }
    Iterator& operator++() {
      next_ = stream_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t /*end*/) {
      return !it.next_;
    }

   private:
    friend class BlockStream;
    explicit Iterator(BlockStream* stream) : stream_(stream), next_(stream->next()) {}
    BlockStream* stream_ = nullptr;
    Next next_;
  };
  Iterator begin() { return Iterator(this); }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

 private:
  friend class Client;
  explicit BlockStream(std::unique_ptr<StreamEngine> engine);
  std::unique_ptr<StreamEngine> engine_;
};

}  // namespace arrakis::inline v1
