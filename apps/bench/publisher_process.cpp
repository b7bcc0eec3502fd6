#include "bench/publisher_process.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <vector>

#include "arrakis/error.hpp"
#include "bench/broker.hpp"
#include "bench/stride_messages.hpp"
#include "bench/synthetic.hpp"

namespace arrakis::bench {
namespace {

/// What may wait in librdkafka, 64 MiB.
constexpr const char* kQueueKilobytes = "65536";
constexpr Duration kFlushTimeout = std::chrono::seconds(60);

/// Whether the other process spoke, or ended, before `until`.
bool is_told_before(int fd, GpsTime until) {
  const Duration left = std::max(until - system_clock().now(), Duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec limit{seconds.count(), (left - seconds).count()};
  pollfd wanted{fd, POLLIN, 0};
  return ::ppoll(&wanted, 1, &limit, nullptr) > 0;
}

struct TopicDeleter {
  void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
};
using TopicPtr = std::unique_ptr<rd_kafka_topic_t, TopicDeleter>;

/// What the publishing process does.
class Publishing {
 public:
  Publishing(const std::string& bootstrap, const ChannelSet& channels,
             const ChildProcess::Line& line)
      : broker_(bootstrap), messages_(channels), line_(line) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < messages_.size(); ++i) names.push_back(messages_.topic(i));
    broker_.create_topics(names);
    // Many publishers are one here: what they ask of the broker must not be more than theirs is.
    Handle::Callbacks callbacks;
    callbacks.on_delivery = [this](const rd_kafka_message_t& message) { on_delivery(message); };
    producer_ = Handle::create(HandleKind::producer, broker_.bootstrap(),
                               {{"linger.ms", "0"},
                                {"acks", "1"},
                                {"queue.buffering.max.messages", "0"},
                                {"queue.buffering.max.kbytes", kQueueKilobytes}},
                               {}, callbacks);
    for (const std::string& name : names) {
      topics_.emplace_back(rd_kafka_topic_new(producer_->get(), name.c_str(), nullptr));
    }
  }

  void run(const std::optional<Backlog>& backlog) {
    line_.answer(broker_.bootstrap());
    if (!line_.wait()) return;
    const Duration latest = backlog ? publish_backlog(*backlog) : publish_live();
    rd_kafka_purge(producer_->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    line_.answer(fmt::format("{:.3f}", std::chrono::duration<double, std::milli>(latest).count()));
  }

 private:
  /// How late a stride was handed over at most.
  Duration publish_live() {
    Duration latest{};
    GpsTime time = system_clock().now().floor_to(kStride);
    while (!is_told_before(line_.descriptor(), time + kStride)) {
      publish_stride(time);
      latest = std::max(latest, system_clock().now() - (time + kStride));
      time += kStride;
    }
    return latest;
  }

  Duration publish_backlog(const Backlog& backlog) {
    for (std::size_t n = 0; n < backlog.strides; ++n) {
      if (is_told_before(line_.descriptor(), GpsTime::min())) return {};
      publish_stride(backlog.from + static_cast<std::int64_t>(n) * kStride);
      if ((n + 1) % backlog.report_every == 0) {
        if (rd_kafka_flush(producer_->get(), timeout_ms(kFlushTimeout)) !=
            RD_KAFKA_RESP_ERR_NO_ERROR) {
          throw Error(Errc::delivery_failed,
                      fmt::format("not confirmed within {}", format_duration(kFlushTimeout)));
        }
        line_.answer("");
      }
    }
    static_cast<void>(line_.wait());
    return {};
  }

  void publish_stride(GpsTime time) {
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      messages_.set_time(i, time);
      produce(i);
    }
    rd_kafka_poll(producer_->get(), 0);
    if (!failure_.empty()) throw Error(Errc::delivery_failed, failure_);
  }

  void produce(std::size_t i) {
    const std::span<std::byte> bytes = messages_.bytes(i);
    while (rd_kafka_produce(topics_[i].get(), 0, RD_KAFKA_MSG_F_COPY, bytes.data(), bytes.size(),
                            nullptr, 0, nullptr) != 0) {
      if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        throw Error(Errc::delivery_failed,
                    fmt::format("{}: {}", messages_.topic(i), text_of(rd_kafka_last_error())));
      }
      rd_kafka_poll(producer_->get(), timeout_ms(kFlushTimeout));
    }
  }

  void on_delivery(const rd_kafka_message_t& message) {
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR || !failure_.empty()) return;
    failure_ = fmt::format("{}: {}", rd_kafka_topic_name(message.rkt), text_of(message.err));
  }

  Broker broker_;
  StrideMessages messages_;
  ChildProcess::Line line_;
  std::string failure_;  // the first that a message had
  std::shared_ptr<Handle> producer_;
  std::vector<TopicPtr> topics_;
};

}

PublisherProcess::PublisherProcess(const std::string& bootstrap, const ChannelSet& channels,
                                   std::optional<Backlog> backlog)
    : process_("publishing process", [&](const ChildProcess::Line& line) {
        Publishing(bootstrap, channels, line).run(backlog);
      }) {
  bootstrap_ = process_.read_line();
}

void PublisherProcess::start() { process_.speak(); }

void PublisherProcess::wait_for_report() { process_.read_line(); }

double PublisherProcess::stop() {
  process_.speak();
  return std::stod(process_.read_line());
}

}
