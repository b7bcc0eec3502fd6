#pragma once

/// The inside of a KafkaReader. Its functions are in six files, by what they are about:
///   reader.cpp             opening, closing, and what others ask
///   reader_poll.cpp        from librdkafka's queue to the sink
///   reader_assignment.cpp  which partitions are read, and from where
///   reader_control.cpp     the control thread: questions to the broker that take time
///   reader_forward.cpp     skips to the present
///   reader_watch.cpp       partitions and clients that have fallen silent

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "arrakis/kafka.hpp"
#include "core/episode.hpp"
#include "kafka/broker_queries.hpp"
#include "kafka/handle.hpp"
#include "kafka/limits.hpp"
#include "kafka/loan.hpp"
#include "kafka/reader_state.hpp"

namespace arrakis::inline v1 {

/// The component that log lines of the reader name.
inline constexpr std::string_view kReaderLog = "kafka";

inline double in_seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

/// Two threads at most are inside: the one that polls, and the control thread, which asks the
/// broker what takes time and applies the answers. Both take mutex_; no question is asked under it.
class KafkaReader::Impl {
 public:
  Impl(std::string bootstrap, const ChannelSet& channels, ReaderOptions options);
  ~Impl() { close(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] const std::vector<StreamInfo>& streams() const { return infos_; }
  void open(const OpenOptions& options);
  bool poll(Source::Sink& sink);
  void set_wakeup(std::function<void()> wake);
  void set_paused(std::size_t stream, bool paused);
  bool caught_up(std::size_t stream);
  bool exhausted();
  bool done();
  void close();
  bool wait(Duration limit);
  std::size_t fast_forward(std::optional<GpsTime> time, Duration timeout);
  ReaderStats stats();

 private:
  friend struct KafkaReaderPeer;
  using Steady = std::chrono::steady_clock;

  /// A skip that the policy asked for and the control thread looks up the target of.
  struct Forward {
    std::size_t stream;
    GpsTime target;
    Duration lag;
  };
  /// What the broker said about where to skip to; an offset at or before the position skips
  /// nothing.
  struct ForwardPlan {
    struct Move {
      std::size_t partition;
      std::uint64_t generation;
      std::int64_t offset;
    };
    std::vector<Move> moves;
  };
  /// What to do with a partition that has no message as recent as the target.
  enum class Unresolved {
    go_to_end,  ///< the caller wants nothing older
    stay,       ///< its source is late, and a skip would only lose what there is
  };

  // Opening.
  std::shared_ptr<Handle> make_consumer();
  std::shared_ptr<Handle> make_questioner();
  void listen(const std::shared_ptr<Handle>& handle);
  [[nodiscard]] std::vector<std::string> topic_names() const;
  std::vector<std::size_t> note_topics(std::span<const TopicDescription> found);
  bool is_closing();

  // Polling.
  bool deliver_held(Source::Sink& sink);
  bool refill();
  bool take(MessagePtr message, Source::Sink& sink);
  bool hand_over(std::size_t partition, BlockPartPtr part, Source::Sink& sink);
  void hold(std::size_t partition, BlockPartPtr part);
  void notice_silence(std::size_t index, const rd_kafka_message_t& message);
  [[nodiscard]] bool is_full() const;
  void revived(std::size_t partition);
  bool is_held_back(std::size_t stream, GpsTime part_time) const;
  void judge_lag(std::size_t stream, GpsTime part_time);
  void report_decode(std::size_t stream, const Partition& partition, std::int64_t offset,
                     const DecodeResult& result);
  void consume_error(rd_kafka_resp_err_t error, const std::string& reason);
  bool is_still_away(const std::string& reason);
  void on_message_error(const rd_kafka_message_t& message);
  std::optional<std::size_t> partition_of(const rd_kafka_message_t& message);
  void stash_batch();
  void flush_events(Source::Sink& sink);

  // Assignment; under mutex_.
  std::size_t add_partition(std::size_t topic, std::int32_t number);
  void assign(std::span<const std::size_t> partitions, std::span<const std::int64_t> offsets);
  void unassign(std::size_t partition);
  void move(std::size_t partition, std::int64_t offset);
  void clear_suspicion(std::size_t topic, bool drop);
  void begin_anew(std::size_t index, const TopicDescription& found);
  void topic_appeared(std::size_t index, const TopicDescription& found);
  void topic_vanished(std::size_t index);
  void topic_recreated(std::size_t index, const TopicDescription& found);
  void add_partitions(std::size_t topic, std::int32_t count);

  // Control thread.
  void control();
  void control_step(const BrokerQueries& queries, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] std::vector<std::size_t> partitions_in(Partition::State state) const;
  void check_topics(const BrokerQueries& queries, std::span<const std::size_t> asked);
  void compare_topic(std::size_t index, const TopicDescription& now);
  void place_lost(const BrokerQueries& queries);
  void place_new(const BrokerQueries& queries);
  [[nodiscard]] std::int64_t fetched_end(const Partition& partition) const;
  void watch_silence(const BrokerQueries& queries);
  void revive(std::size_t index, std::int64_t end);
  void restart_consumer();
  void refresh_ends(const BrokerQueries& queries);
  void run_forward(const BrokerQueries& queries, const Forward& forward);
  ForwardPlan plan_forward(const BrokerQueries& queries, std::optional<GpsTime> time,
                           Duration timeout, Unresolved unresolved);
  std::size_t apply_forward(const ForwardPlan& plan, std::optional<GpsTime> time);
  [[nodiscard]] Duration topic_interval() const;

  void wake();
  [[nodiscard]] std::string label(std::size_t stream) const { return describe(infos_[stream]); }
  std::vector<PartitionKey> keys_of(std::span<const std::size_t> partitions) const;

  const std::string bootstrap_;
  const ReaderOptions options_;
  std::size_t prefetch_bytes_ = 0;
  std::size_t borrowed_limit_ = 0;
  std::vector<StreamInfo> infos_;

  std::mutex mutex_;
  std::condition_variable control_wanted_;
  bool opened_ = false;
  bool closing_ = false;
  bool closed_ = false;
  bool failed_ = false;
  std::optional<Error> failure_;  // to be thrown by the next poll
  const Clock* clock_ = nullptr;
  GpsTime start_ = GpsTime::min();
  std::vector<StreamState> streams_;
  std::vector<Topic> topics_;
  std::vector<Partition> partitions_;
  std::map<std::string, std::size_t, std::less<>> topic_by_name_;
  std::shared_ptr<Lender> lender_;
  /// For questions to the broker: on the handle that fetches, every answer would wait for a fetch.
  std::shared_ptr<Handle> questions_;
  QueuePtr queue_;
  std::vector<MessagePtr> batch_;
  std::size_t batch_next_ = 0;
  std::size_t batch_limit_ = 1;      // messages in the next batch
  bool batch_was_full_ = false;      // there may be more, of which librdkafka tells nobody again
  Steady::time_point batch_at_{};    // when the batch was taken
  Steady::time_point drained_at_{};  // when librdkafka had nothing more for us
  std::size_t suspects_ = 0;         // suspect topics
  std::size_t suspect_bytes_ = 0;    // of parts held because of that
  std::size_t last_topic_ = 0;
  std::vector<Event> events_;
  Episode consume_errors_;
  std::set<std::int32_t> away_nodes_;  // could not be reached, and have not delivered since
  ReaderStats stats_;

  std::optional<FastForwardPolicy> policy_;
  std::optional<Forward> forward_;
  bool source_was_late_ = false;

  std::thread control_;
  bool topics_wanted_ = false;  // somebody noticed that a topic has changed
  bool restart_wanted_ = false;
  Steady::time_point restarted_at_{};
  Steady::time_point topics_checked_at_{};
  Steady::time_point answered_at_{};  // when the broker last answered about the topics
  Steady::time_point watched_at_{};
  Steady::time_point placed_at_{};
  Steady::time_point ends_wanted_until_{};
  Steady::time_point ends_known_at_{};

  std::mutex wake_mutex_;
  std::condition_variable woken_;
  std::function<void()> wake_callback_;
  bool wake_pending_ = false;
};

/// For tests that do to a reader's librdkafka client what a fault would.
struct KafkaReaderPeer {
  static rd_kafka_t* client(const KafkaReader& reader) {
    const std::unique_lock lock(reader.impl_->mutex_);
    return reader.impl_->lender_->handle()->get();
  }
};

}
