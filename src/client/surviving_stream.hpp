#pragma once

/// The engine of a Client's stream: it outlives the servers that it reads.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "arrakis/client.hpp"
#include "arrakis/error.hpp"
#include "arrakis/source.hpp"
#include "arrakis/stream.hpp"
#include "client/reconnection.hpp"
#include "client/stream_engine.hpp"

namespace arrakis::inline v1 {

/// What an engine is made for.
struct StreamSpan {
  std::optional<GpsTime> from;  ///< none: from now
  std::optional<GpsTime> end;
  std::optional<Duration> duration;  ///< from the first block; only without an end
  /// Why the one before it failed.
  std::optional<Error> after;
};

/// Delivers what its engine delivers. When that fails in a way that may pass, it is made anew for
/// what comes after the last block, until it delivers again: one pair of log lines and events, an
/// OutageBegan and an OutageEnded, however many attempts it takes.
class SurvivingStream final : public StreamEngine {
 public:
  struct Settings {
    /// Makes an engine; throws Error. Called by other threads too, never by two at once.
    std::function<std::unique_ptr<StreamEngine>(const StreamSpan&)> connect;
    StreamSpan span;
    std::string name;     ///< what is streamed from where, for log lines and events
    std::string request;  ///< tells requests apart, for resume tokens
    bool reconnect = true;
    std::optional<Duration> give_up_after;
    std::function<void(const Event&)> on_event;
    const Clock* clock = &system_clock();
  };
  /// Makes the first engine; throws what that throws.
  explicit SurvivingStream(Settings settings);
  ~SurvivingStream() override;
  SurvivingStream(const SurvivingStream&) = delete;
  SurvivingStream& operator=(const SurvivingStream&) = delete;

  BlockStream::Next next(std::optional<Duration> wait) override;
  void cancel() override;
  void close() override;
  [[nodiscard]] StreamStats stats() const override;
  [[nodiscard]] const ChannelSet& channels() const override { return channels_; }
  [[nodiscard]] Duration stride() const override { return stride_; }
  [[nodiscard]] std::string resume_token() const override;

 private:
  struct Outage {
    Duration began{};  // by the monotonic clock
    Backoff backoff;
  };

  void deliver(const SeriesBlock& block);
  [[nodiscard]] bool may_survive(const Error& error) const;
  void lose_engine(const Error& error);
  void adopt(std::unique_ptr<StreamEngine> engine);
  bool await_engine(std::optional<std::chrono::steady_clock::time_point> limit);
  void report(const Event& event);
  [[nodiscard]] bool is_complete() const;

  Settings settings_;
  ChannelSet channels_;
  Duration stride_{};
  std::optional<Outage> outage_;
  std::unique_ptr<Reconnection> reconnection_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<StreamEngine> engine_;  // none while there is an outage
  std::optional<GpsTime> position_;       // end of the last block
  StreamStats past_;                      // of the engines before
  bool cancelled_ = false;
  bool woken_ = false;
};

/// "arrakis-resume:<ns>:<request>", and back: from when on. Throws Error(invalid_argument) for
/// another text, and for the token of another request.
std::string resume_token(GpsTime next, const std::string& request);
GpsTime parse_resume_token(const std::string& token, const std::string& request);

}  // namespace arrakis::inline v1
