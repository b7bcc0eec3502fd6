#pragma once

/// The inside of a FlightReader. Its functions are in three files, by what they are about:
///   flight_reader.cpp         opening, polling, closing, and what others ask
///   flight_reader_thread.cpp  from the servers into the queues: a thread a stream
///   flight_reader_watch.cpp   deadlines of servers that say nothing: one thread

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/episode.hpp"
#include "flight/flight_reader.hpp"
#include "wire/column_decoder.hpp"

namespace arrakis::inline v1 {

/// One thread a stream reads; one watches; and somebody polls. What they share is under mutex_. The
/// threads keep the Impl alive.
class FlightReader::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(std::shared_ptr<Connector> connector, std::vector<StreamEndpoint> endpoints,
       FlightReaderOptions options);

  [[nodiscard]] const std::vector<StreamInfo>& streams() const { return infos_; }
  void open(const OpenOptions& options);
  bool poll(Source::Sink& sink);
  void set_wakeup(std::function<void()> wake);
  void set_paused(std::size_t stream, bool paused);
  bool caught_up(std::size_t stream);
  bool exhausted();
  bool done();
  void close();
  FlightReaderStats stats();

 private:
  using Steady = std::chrono::steady_clock;
  using Call = arrow::flight::internal::ClientDataStream;

  /// What the watching thread waits for the server of a stream to do.
  struct Watch {
    enum class Kind {
      nothing,
      answer,  ///< to the call
      batch,   ///< the next one
      status,  ///< after the last message
    };
    Kind kind = Kind::nothing;
    Steady::time_point since;
    Duration limit{};
  };

  /// One stream: its slices, its thread, and what the thread has read.
  struct Lane {
    std::size_t index = 0;
    std::vector<StreamEndpoint> slices;
    std::string label;                    ///< for messages
    std::optional<Duration> stall_bound;  ///< none: its channels promise no latency
    Duration settle_time{};               ///< data older than this will not come any more

    // Under mutex_.
    std::deque<BlockPartPtr> queue;
    std::size_t queue_bytes = 0;
    bool is_paused = false;
    bool waits_for_room = false;
    bool caught_up = false;
    bool has_live_slice_begun = false;
    bool has_ended = false;  ///< its thread has
    std::optional<Error> failure;
    std::shared_ptr<Call> call;  ///< which may be cancelled
    Watch watch;
    Watch::Kind expired = Watch::Kind::nothing;  ///< why the call was cancelled
    std::condition_variable room;

    // Its thread's own.
    GpsTime resume_at = GpsTime::min();  ///< what the slices before this one have reached
    Episode bad_batches;
  };

  /// How an attempt at one location went.
  struct Attempt {
    enum class End {
      complete,  ///< everything up to the slice's end has come
      empty,     ///< the server ended it without a batch, and there may be none
      failed,
      closed,  ///< by our side
    };
    End end = End::failed;
    bool had_batches = false;
    std::optional<Error> error;
  };
  /// One attempt while it runs.
  struct Reading {
    Lane& lane;
    const StreamEndpoint& slice;
    const ServerUrl& url;
    ColumnDecoder decoder;
    GpsTime from = GpsTime::min();
    GpsTime reached = GpsTime::min();
    bool had_batches = false;
    bool is_complete = false;
  };

  // The polling side.
  Lane* earliest();
  [[nodiscard]] bool is_drained() const;
  void take_from(Lane& lane, Source::Sink& sink, std::unique_lock<std::mutex>& lock, bool& goes_on);
  void throw_failure();
  [[nodiscard]] bool is_of_now(const Lane& lane, const BlockPart& part) const;
  void wake();

  // A stream's thread.
  void run(std::size_t stream);
  std::optional<Error> read_slice(Lane& lane, const StreamEndpoint& slice);
  [[nodiscard]] static std::vector<ServerUrl> locations_of(const Lane& lane,
                                                           const StreamEndpoint& slice,
                                                           std::vector<Error>& errors);
  Attempt attempt(Lane& lane, const StreamEndpoint& slice, const ServerUrl& url);
  std::optional<Error> await_server(StreamTransport& transport, const ServerUrl& url,
                                    const std::string& what);
  std::shared_ptr<Call> call(StreamTransport& transport, const Reading& reading,
                             arrow::Status& status);
  void read_messages(Call& call, Reading& reading);
  void take_batch(Reading& reading, ColumnResult result);
  bool enqueue(Lane& lane, BlockPartPtr part);
  Attempt ended(Reading& reading, const arrow::Status& status, const std::string& what);
  [[nodiscard]] Error expiry(const Reading& reading, Watch::Kind expired,
                             const std::string& what) const;
  void report_bad(Reading& reading, const std::string& reason);
  [[nodiscard]] bool is_settled(const Lane& lane, GpsTime end) const;
  bool is_closing();

  // The watching thread.
  void watch();
  void set_watch(Lane& lane, Watch::Kind kind, Duration limit);
  void expire(Lane& lane);

  const std::shared_ptr<Connector> connector_;
  const FlightReaderOptions options_;
  std::vector<StreamInfo> infos_;
  std::deque<Lane> lanes_;
  OpenOptions open_options_;

  mutable std::mutex mutex_;
  bool opened_ = false;
  bool closing_ = false;
  bool failed_ = false;
  bool wants_wake_ = true;  // poll() has found nothing
  FlightReaderStats stats_;
  std::condition_variable watch_changed_;
  std::condition_variable thread_ended_;
  std::size_t threads_running_ = 0;
  std::vector<std::thread> threads_;

  std::mutex wake_mutex_;
  std::function<void()> wake_callback_;
};

}  // namespace arrakis::inline v1
