#pragma once

/// The numbers of the Kafka layer, each with its unit and its reason. What an operator may want to
/// change is also an option of the class that uses it.

#include <chrono>
#include <cstddef>

#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

/// No two readers share a group; 36^16 makes a clash impossible in practice.
constexpr std::size_t kGroupIdLength = 16;

/// Largest message of every Arrakis peer: wide partitions make large messages.
constexpr std::size_t kMaxMessageBytes = 10'000'000;

/// Largest answer to a fetch, also for many partitions: one message that is kept pins all of it.
/// No less than a message.
constexpr std::size_t kMaxResponseBytes = kMaxMessageBytes;

/// Between two messages of one answer lie headers, and the part of a partition's next message that
/// did not fit into its share of the answer (librdkafka's fetch.message.max.bytes, 1 MiB).
constexpr std::size_t kMaxGapInResponse = (1 << 20) + 4096;

/// Messages taken from librdkafka in one poll: enough to pay for its lock, few enough that a poll
/// stays under a millisecond.
constexpr std::size_t kPollBatch = 256;
/// So many bytes in one poll, if messages are as large as they were: what was taken no longer
/// counts as fetched ahead.
constexpr std::size_t kPollBatchBytes = std::size_t{8} << 20U;

/// Each fetch names every partition, so one a message costs their number squared: with more streams
/// than this, what comes within ten milliseconds is fetched together.
constexpr std::size_t kMostForSingleFetches = 64;

/// Bytes held because their topic's id is being compared, beyond which no more are taken.
constexpr std::size_t kMaxSuspectBytes = std::size_t{8} << 20U;

/// A reader holds by itself 64 MiB and twice its prefetch at most. With a large prefetch that
/// leaves room for so much on loan beyond as much again as the prefetch.
constexpr std::size_t kBorrowedBeyondPrefetch = std::size_t{24} << 20U;

/// Between two attempts of a question to the broker that failed.
constexpr Duration kRetryPause = std::chrono::milliseconds(100);

/// A single question to the broker while the reader runs; bounds how long close() waits for it.
constexpr Duration kControlQueryTimeout = std::chrono::milliseconds(1500);

/// How long questions may go without an answer before they are asked through a new client:
/// librdkafka has states in which it never connects again.
constexpr Duration kPatienceWithQuestions = std::chrono::seconds(15);

/// How often the high watermarks are asked for while somebody wants to know whether a reader has
/// read everything.
constexpr Duration kWatermarkRefresh = std::chrono::seconds(1);

/// How often the topics' ids are compared, to notice that one was deleted and made again: nothing
/// else tells. Grows with the number of topics, so that asking costs less than a hundredth of a
/// core.
constexpr Duration kTopicIdInterval = std::chrono::seconds(2);
constexpr Duration kTopicIdIntervalPerTopic = std::chrono::milliseconds(4);

/// How long a topic must have been silent before its next message is held until the topic's id has
/// been compared (a millisecond): in less time nobody deletes a topic and makes it again. Grows
/// with the stride, so that a topic that speaks regularly is never asked about.
constexpr Duration kSuspiciousSilence = std::chrono::milliseconds(50);
constexpr double kSuspiciousSilenceStrides = 1.25;
/// A message that was written before the id was last compared is of the topic that had it then.
/// Publishers' clocks may be behind ours by this.
constexpr Duration kPublisherClockError = std::chrono::seconds(1);

/// How often silent partitions are compared with the ends of their logs. One look may fall between
/// a message's writing and its coming, so several in a row must agree before anything is done: few
/// when other partitions bring messages meanwhile, more when none does and it may be the broker.
constexpr Duration kSilenceCheck = std::chrono::seconds(2);
constexpr int kLooksAtOne = 2;
constexpr int kLooksAtAll = 5;
/// So often a silent partition is assigned anew before the whole client is made anew.
constexpr int kRevivalsBeforeRestart = 3;
/// Between two new clients, however often there seems to be a need.
constexpr Duration kRestartPause = std::chrono::seconds(1);

/// How long a topic that the broker does not know is waited for before messages to it fail: a topic
/// made just now may not be known everywhere. At most half of the publisher's timeout, so that the
/// failure is told in time.
constexpr Duration kUnknownTopicLimit = std::chrono::seconds(2);

/// What a producer that has failed for good gets for the answers to what it had sent.
constexpr Duration kFatalDrain = std::chrono::milliseconds(500);
/// What it takes librdkafka at most to report messages that were just given up.
constexpr Duration kPurgeReports = std::chrono::milliseconds(50);

}
