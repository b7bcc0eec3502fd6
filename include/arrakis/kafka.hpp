#pragma once

/// Reading from and publishing to Kafka.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/error.hpp"
#include "arrakis/export.hpp"
#include "arrakis/source.hpp"
#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

/// `length` characters A-Z and 0-9 from the system's cryptographic source.
ARRAKIS_API std::string random_alphanum(std::size_t length);
/// A consumer group id of 16 such characters: no two readers ever share one.
ARRAKIS_API std::string generate_groupid();

/// What a FastForwardPolicy answers to an observation.
enum class LagAction {
  ok,         ///< deliver
  recovered,  ///< deliver; the reader has caught up after a skip
  forward,    ///< skip to the present
};
ARRAKIS_API std::string_view to_string(LagAction action);

/// Decides when a reader that has fallen behind should skip its backlog: after a stream has been
/// over its latency budget without interruption for max(grace_floor, grace_budgets * budget).
/// Not safe from several threads at once.
class ARRAKIS_API FastForwardPolicy {
 public:
  struct Options {
    /// Grace in units of the stream's budget; at or below zero the policy never forwards.
    double grace_budgets = 1.0;
    /// The least grace, in seconds.
    double grace_floor = 10.0;
    /// Monotonic seconds; empty: the machine's.
    std::function<double()> clock;
  };

  FastForwardPolicy() : FastForwardPolicy(Options{}) {}
  explicit FastForwardPolicy(Options options);

  /// Seconds that a stream with this budget may stay over it.
  [[nodiscard]] double grace(Duration budget) const;
  /// `lag` is now minus the block's time. A budget of zero or less means no limit. Equality counts
  /// as within budget, and as past grace.
  LagAction observe(std::string_view stream, Duration lag, Duration budget);
  /// The reader has skipped: every stream starts anew, and the next one within budget answers
  /// `recovered` once no stream is over budget.
  void forwarded();

 private:
  Options options_;
  /// Since when a stream has been over its budget, in the clock's seconds.
  std::map<std::string, double, std::less<>> behind_since_;
  bool forwarded_ = false;
};

struct ReaderOptions {
  /// Whether a stream that stays over its latency budget may skip its backlog. Only the caller
  /// knows whether losing data is acceptable, so the default is no.
  bool fast_forward = false;
  /// Its clock, when empty, is that of OpenOptions.
  FastForwardPolicy::Options policy;
  /// Limit of open() and of each question to the broker.
  Duration timeout = std::chrono::seconds(10);
  /// How far before `start` to look in the broker's index, because that index knows when a message
  /// was published, not the time of its samples.
  Duration start_margin = std::chrono::seconds(1);
  /// How often to look for topics that are missing.
  Duration missing_topic_interval = std::chrono::seconds(1);
  /// Bytes that librdkafka may fetch ahead; none: 1 MiB a partition, between 4 and 64 MiB.
  std::optional<std::size_t> prefetch_bytes;
  /// Received bytes that parts handed over may pin; beyond it parts are copied, and counted. None:
  /// twice the prefetch, at most 24 MiB more than it.
  std::optional<std::size_t> borrowed_bytes;
  /// After an error that librdkafka calls fatal: go on with a new client from where each partition
  /// was, instead of throwing Error(broker_fatal) from poll().
  bool restart_after_fatal = false;
  /// Further librdkafka properties; they win over the reader's own.
  std::map<std::string, std::string> properties;
};

/// Counters since open(); every loss is in one of them.
struct ReaderStats {
  std::uint64_t messages = 0;          ///< taken from the broker
  std::uint64_t bytes = 0;             ///< of those
  std::uint64_t parts = 0;             ///< handed over
  std::uint64_t bad_messages = 0;      ///< could not be decoded
  std::uint64_t no_rows = 0;           ///< held no wanted channel
  std::uint64_t dropped_rows = 0;      ///< rows of the wrong type or length
  std::uint64_t before_start = 0;      ///< parts before the first instant wanted; no loss
  std::uint64_t consume_errors = 0;    ///< errors reported by librdkafka
  std::uint64_t skipped_messages = 0;  ///< passed over, or not handed over, by a skip
  std::uint64_t purged_messages = 0;   ///< deleted by the broker before they were read
  std::uint64_t stale_messages = 0;    ///< of before a move, or repeats; no loss
  std::uint64_t copied_parts = 0;      ///< copied because too many bytes were borrowed
  std::uint64_t borrowed_bytes = 0;    ///< pinned at present
  std::uint64_t fast_forwards = 0;
  std::uint64_t recreated_topics = 0;    ///< found deleted and made again
  std::uint64_t revived_partitions = 0;  ///< assigned anew because they had fallen silent
  std::uint64_t restarts = 0;            ///< of the librdkafka client
  std::size_t missing_topics = 0;        ///< at present
};

/// Reads the topics of a set of channels, every topic's partitions directly assigned, without a
/// consumer group.
///
/// A Source: give it to a BlockStream, or call poll(). One thread polls; close(), stats(),
/// exhausted() and fast_forward() may be called from any. A reader takes one librdkafka handle and,
/// for questions to the broker, a second one and a thread.
class ARRAKIS_API KafkaReader final : public Source {
 public:
  /// `bootstrap` is "host:port[,host:port…]"; the channels need partition_id, partition_index and
  /// stride. Does not contact the broker. Throws Error(invalid_argument) or Error(precondition)
  /// that names the channel or the property.
  KafkaReader(std::string bootstrap, const ChannelSet& channels, ReaderOptions options = {});
  ~KafkaReader() override;
  KafkaReader(const KafkaReader&) = delete;
  KafkaReader& operator=(const KafkaReader&) = delete;

  [[nodiscard]] const std::vector<StreamInfo>& streams() const override;
  /// Finds the topics and their start. Missing ones are reported once and picked up when they
  /// appear. Throws Error(broker_unavailable) that names the broker when it does not answer within
  /// the timeout.
  void open(const OpenOptions& options) override;
  bool poll(Sink& sink) override;
  void set_wakeup(std::function<void()> wake) override;
  void pause(std::size_t stream) override;
  void resume(std::size_t stream) override;
  [[nodiscard]] bool caught_up(std::size_t stream) override;
  [[nodiscard]] bool exhausted() override;
  [[nodiscard]] bool done() const override;
  void close() override;

  /// Waits until poll() may find something, at most `limit`; for use without a BlockStream. False:
  /// nothing came.
  bool wait(Duration limit);
  /// Moves every partition that is behind to the first message published at or after `time` (to
  /// the end when none), never backwards, and returns how many moved. When the broker does not
  /// answer within `timeout` it goes to the end, with a warning. Parts older than `time` are not
  /// handed over by polls that begin after this returns.
  std::size_t fast_forward(std::optional<GpsTime> time = {},
                           Duration timeout = std::chrono::seconds(10));
  [[nodiscard]] ReaderStats stats() const;

 private:
  friend struct KafkaReaderPeer;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

struct PublisherOptions {
  /// How long a call may take; none: as long as librdkafka tries, which is five minutes a message
  /// (its property message.timeout.ms).
  std::optional<Duration> timeout;
  /// Blocks that may be on their way at once, and bytes of their messages; what is more waits,
  /// except that one block is always let through.
  std::size_t max_in_flight = 64;
  std::size_t max_in_flight_bytes = std::size_t{64} << 20U;
  /// How long the destructor waits for what is on its way.
  Duration close_timeout = std::chrono::seconds(10);
  /// Refuse a block whose time is no multiple of the channels' stride, which would disturb every
  /// reader.
  bool require_grid = true;
  /// Refuse a block that begins further ahead of now, as readers do; none: send it.
  std::optional<Duration> future_limit = std::chrono::seconds(10);
  /// Send the channels that a block lacks as gaps; else they are not sent, and named once in a
  /// warning. Costs a copy of such a block.
  bool fill_missing = false;
  /// Further librdkafka properties; they win over the publisher's own.
  std::map<std::string, std::string> properties;
  /// Must outlive the publisher.
  const Clock* clock = &system_clock();
};

/// Counters since the publisher was made.
struct PublisherStats {
  std::uint64_t blocks = 0;           ///< confirmed whole
  std::uint64_t messages = 0;         ///< confirmed
  std::uint64_t bytes = 0;            ///< of those
  std::uint64_t failed_blocks = 0;    ///< of which a message was not delivered
  std::uint64_t refused_blocks = 0;   ///< not sent: they broke a rule, or there was no room in time
  std::uint64_t timeouts = 0;         ///< blocks that publish() gave up waiting for
  std::uint64_t new_clients = 0;      ///< librdkafka gave up for good and was started anew
  std::uint64_t in_flight = 0;        ///< blocks on their way at present
  std::uint64_t in_flight_bytes = 0;  ///< of their messages
};

/// Writes blocks, one message a partition, in the format of every Arrakis peer. Messages are
/// stamped with the time at which they were published, where readers look up where to start.
///
/// One thread at a time, except stats(). Costs one librdkafka handle and its threads, and at most
/// max_in_flight_bytes and one block; beyond that calls wait.
class ARRAKIS_API KafkaPublisher {
 public:
  /// What became of a block that was published asynchronously: nothing when confirmed. Must not
  /// throw: what it throws is logged. May call publish_async() as long as there is room, nothing
  /// else that sends or waits, and must not destroy the publisher.
  using Completion = std::function<void(const SeriesBlock& block, const std::optional<Error>&)>;

  /// The channels need partition_id, partition_index and one common stride. Does not contact the
  /// broker. Throws as KafkaReader, also for channels whose samples can't travel together.
  KafkaPublisher(std::string bootstrap, ChannelSet channels, PublisherOptions options = {});
  /// Waits, at most close_timeout, for what is on its way. What is then not confirmed has failed:
  /// completions are called with that, the number is logged.
  ~KafkaPublisher();
  KafkaPublisher(const KafkaPublisher&) = delete;
  KafkaPublisher& operator=(const KafkaPublisher&) = delete;

  /// Sends the block and waits until all of its messages are confirmed. The block may hold a
  /// subset of the channels. Throws Error: not_found (a channel that this publisher doesn't have),
  /// invalid_argument (a channel described differently; a duration that is not the stride; a time
  /// off the grid, in the future, or not after that of the last block which is confirmed or on its
  /// way; a message that is too large), delivery_failed (names topics and reasons), timeout. After
  /// a timeout delivery goes on; when it fails after all, the next call throws delivery_failed for
  /// it, once, and sends nothing of its own. A block that failed or timed out may be published
  /// again; what had arrived of it is then there twice.
  void publish(const SeriesBlock& block);
  /// Sends the block and returns; `done` is called, in the order of the blocks, from inside a later
  /// call of this publisher. Waits while there is no room, and throws as publish(); timeout says
  /// that the block was not sent. A block that failed may be published again when none after it is
  /// on its way or confirmed.
  void publish_async(const SeriesBlock& block, Completion done);
  /// Waits until everything is confirmed or has failed, at most `timeout`. False: not everything.
  bool flush(Duration timeout);

  /// Safe from any thread.
  [[nodiscard]] PublisherStats stats() const;
  [[nodiscard]] Duration stride() const;
  [[nodiscard]] const ChannelSet& channels() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace arrakis::inline v1
