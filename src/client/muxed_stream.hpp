#pragma once

/// The engine of a stream whose sources stay the same.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "arrakis/error.hpp"
#include "arrakis/mux.hpp"
#include "arrakis/source.hpp"
#include "client/stream_engine.hpp"
#include "core/episode.hpp"
#include "core/steady_time.hpp"
#include "wire/block_data.hpp"
#include "wire/part.hpp"

namespace arrakis::inline v1 {

/// The streams of one set of sources on one grid, until they end or fail.
class MuxedStream final : public StreamEngine, Source::Sink {
 public:
  /// Opens the sources; throws as BlockStream's constructor.
  MuxedStream(std::vector<std::unique_ptr<Source>> sources, StreamOptions options);
  ~MuxedStream() override { MuxedStream::close(); }
  MuxedStream(const MuxedStream&) = delete;
  MuxedStream& operator=(const MuxedStream&) = delete;

  BlockStream::Next next(std::optional<Duration> wait) override;
  void cancel() override;
  void close() override;
  [[nodiscard]] StreamStats stats() const override;
  [[nodiscard]] const ChannelSet& channels() const override { return layout_->channels(); }
  [[nodiscard]] Duration stride() const override { return mux_->schedule().stride(); }

 private:
  using PartMux = Mux<BlockPartPtr>;

  /// One stream as the multiplexer numbers it.
  struct Feed {
    Source* source = nullptr;
    std::size_t index = 0;  // as its source numbers it
    bool armed = false;
    bool paused = false;
    Episode misplaced;
  };

  // Sink
  bool on_part(std::size_t stream, BlockPartPtr part) override;
  void on_event(const Event& event) override { events_.push_back(event); }

  bool poll_sources();
  bool arm_feeds();
  void balance_feeds();
  [[nodiscard]] bool is_far_ahead(std::size_t index) const;
  [[nodiscard]] bool may_go_on(std::size_t index) const;
  [[nodiscard]] std::size_t slots_in_block(std::size_t index) const;
  bool report_late(std::size_t index, GpsTime time);
  void refuse(std::size_t index, std::uint64_t& counter, const BlockPart& part, const char* why);
  void finish_if_complete(GpsTime now);
  std::optional<SeriesBlock> serve();
  std::optional<SeriesBlock> serve_tail();
  std::optional<SeriesBlock> pull(std::optional<Duration> length);
  std::optional<SeriesBlock> emit(PartMux::Output& output);
  std::vector<PartSlot> cover(const PartMux::Output& output, std::size_t stream) const;
  void end_stream();
  void deliver_events();
  void publish_stats();
  [[nodiscard]] bool is_live() const { return !options_.start.has_value(); }
  [[nodiscard]] std::optional<GpsTime> wake_time();
  void wait_until(std::optional<std::chrono::steady_clock::time_point> limit);
  void wake();

  StreamOptions options_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<Feed> feeds_;
  SteadyTime time_;
  std::vector<std::size_t> first_feed_;  // by source
  std::shared_ptr<const BlockLayout> layout_;
  std::optional<PartMux> mux_;
  std::optional<GpsTime> end_;
  Duration longest_timeout_{};

  // The thread that calls next().
  std::size_t polling_ = 0;      // the source being polled
  std::size_t next_source_ = 0;  // whose turn it is to be first
  bool got_parts_ = false;
  GpsTime poll_time_;       // when the sources were polled last
  GpsTime deadline_time_;   // deadlines up to here may have passed
  bool completed_ = false;  // told the multiplexer that nothing more comes
  bool ended_ = false;
  std::size_t stored_bytes_ = 0;  // of the parts in the multiplexer, with a start
  PartMux::Output output_;
  std::optional<PartMux::Output> tail_;  // of a tail flush under GapPolicy::skip
  std::vector<Event> events_;
  std::optional<Error> failure_;
  StreamStats counts_;

  mutable std::mutex mutex_;
  std::condition_variable woken_;
  bool wake_pending_ = false;
  bool cancelled_ = false;
  StreamStats stats_;
  std::atomic<bool> closed_{false};
};

}  // namespace arrakis::inline v1
