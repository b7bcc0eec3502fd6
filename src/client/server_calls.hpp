#pragma once

/// Calls of a Client's servers that are no streams: each server in turn until one answers, each
/// location of an endpoint likewise, one deadline over all, the token renewed once.

#include <arrow/flight/transport.h>
#include <arrow/record_batch.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arrakis/client_options.hpp"
#include "arrakis/error.hpp"
#include "arrakis/time.hpp"
#include "client/call_guard.hpp"
#include "flight/connector.hpp"
#include "flight/flight_error.hpp"
#include "wire/request.hpp"

namespace arrakis::inline v1 {

/// What a server answers to a request: tickets, and where each may be redeemed.
struct FlightEndpoint {
  std::string ticket;
  std::vector<std::string> locations;  ///< replicas; none: the server that was asked
};
struct FlightEndpoints {
  ServerUrl asked;
  std::vector<FlightEndpoint> endpoints;  ///< may be empty
};

/// When a call must be done. A value.
class CallDeadline {
 public:
  CallDeadline(const Clock& clock, Duration limit);
  /// What is left; zero when nothing is.
  [[nodiscard]] Duration left() const;
  /// An equal part of what is left, for one of so many attempts.
  [[nodiscard]] CallDeadline share(std::size_t attempts) const;

 private:
  const Clock* clock_;
  Duration end_;
};

/// The record batches of one endpoint. Use from one thread.
class RowStream {
 public:
  /// Begins to read `stream`; `what` ("find at grpc://…") is for errors.
  RowStream(std::string what, std::shared_ptr<CallGuard::Stream> stream);
  /// Ends the call, if it hasn't ended.
  ~RowStream();
  RowStream(const RowStream&) = delete;
  RowStream& operator=(const RowStream&) = delete;

  /// Waits until there is a batch, or the end. Throws Error(protocol) for what is no stream of
  /// rows.
  arrow::Status prepare();
  /// The next batch with rows, validated; nullptr at the end. Throws Error.
  std::shared_ptr<arrow::RecordBatch> next();
  [[nodiscard]] const std::string& what() const { return what_; }

 private:
  class Messages;
  arrow::Status read();
  arrow::Status finish(const arrow::Status& status);

  std::string what_;
  std::shared_ptr<CallGuard::Stream> stream_;
  std::unique_ptr<Messages> messages_;  // until the schema is read
  std::shared_ptr<arrow::RecordBatchReader> reader_;
  std::shared_ptr<arrow::RecordBatch> batch_;  // read, but not yet given
  bool has_ended_ = false;                     // no more messages
  bool is_finished_ = false;
};

/// Safe from any thread.
class ServerCalls {
 public:
  /// Throws Error(invalid_argument) for options that can't be used.
  explicit ServerCalls(ClientOptions options, std::string scope = "arrakis.read");

  [[nodiscard]] const std::shared_ptr<Connector>& connector() const { return connector_; }
  /// The limit of a call that begins now.
  [[nodiscard]] CallDeadline deadline() const;

  /// Where a request is served. Throws Error.
  FlightEndpoints get_info(const Request& request);
  FlightEndpoints get_info(const ServerUrl& server, const Request& request,
                           const CallDeadline& deadline);

  /// Sends a batch to where a request for an exchange is served, and reads the answer to its end.
  void exchange(const Request& request, const std::shared_ptr<arrow::RecordBatch>& batch);

  /// The answer to an action without arguments, and who gave it.
  struct Answer {
    std::string text;
    ServerUrl asked;
  };
  Answer act(const std::string& action);

  /// Begins to read an endpoint: its locations in turn until one answers. With a guard, that one
  /// limits the waiting and the stream may then last as long as it takes; without one, the stream
  /// ends with the deadline.
  std::unique_ptr<RowStream> open(const FlightEndpoint& endpoint, const ServerUrl& asked,
                                  std::string_view what, const CallDeadline& deadline,
                                  CallGuard* guard = nullptr);

  /// Calls `ask(url, deadline)` with one home server after the other, the one that answered
  /// last first, until it does not throw an error that may pass.
  template <typename Ask>
  auto ask_homes(std::string_view what, const CallDeadline& deadline, Ask&& ask) {
    const std::vector<ServerUrl>& homes = connector_->home_urls();
    const std::size_t first = preferred_.load();
    Attempts attempts(what, homes.size(), deadline);
    for (std::size_t i = 0; i < homes.size(); ++i) {
      const std::size_t index = (first + i) % homes.size();
      try {
        auto answer = ask(homes[index], attempts.share());
        preferred_.store(index);
        return answer;
      } catch (const Error& error) {
        attempts.failed(error);
        connector_->forget(homes[index]);
      }
    }
    attempts.give_up();
  }

 private:
  /// One attempt after the other, and what came of them.
  class Attempts {
   public:
    Attempts(std::string_view what, std::size_t count, const CallDeadline& deadline)
        : what_(what), left_(count), deadline_(deadline) {}
    /// The time for the next attempt.
    CallDeadline share() { return deadline_.share(left_--); }
    /// Nothing for a location that can't be read: another one may be.
    std::optional<ServerUrl> resolve(const std::string& location, const ServerUrl& asked);
    /// Throws what asking elsewhere can't help.
    void failed(const Error& error);
    [[noreturn]] void give_up() const;

   private:
    std::string what_;
    std::size_t left_;
    CallDeadline deadline_;
    std::vector<Error> errors_;
  };

  /// `call(transport, options)` with the headers of a call; once more with another token, where
  /// there is one, when this one is refused.
  template <typename Call>
  auto call(const ServerUrl& url, const std::string& what, std::optional<Duration> limit,
            Call&& call) {
    const std::shared_ptr<StreamTransport> transport = connector_->stream_transport(url);
    auto result = call(transport, connector_->call_options(url, limit));
    if (!result.ok() && to_error(result.status(), what).code() == Errc::unauthenticated &&
        connector_->renew_token()) {
      result = call(transport, connector_->call_options(url, limit));
    }
    if (!result.ok()) throw to_error(result.status(), what);
    return *std::move(result);
  }

  /// Calls `ask(url, deadline)` with one location after the other, brokers left out, until it does
  /// not throw an error that may pass; with the server that was asked when there is none.
  template <typename Ask>
  auto ask_locations(const std::vector<std::string>& locations, const ServerUrl& asked,
                     std::string_view what, const CallDeadline& deadline, Ask&& ask) {
    const std::vector<std::string> servers = servers_among(locations);
    Attempts attempts(what, servers.size(), deadline);
    for (const std::string& location : servers) {
      const CallDeadline limit = attempts.share();
      const std::optional<ServerUrl> url = attempts.resolve(location, asked);
      if (!url) continue;
      try {
        return ask(*url, limit);
      } catch (const Error& error) {
        attempts.failed(error);
      }
    }
    attempts.give_up();
  }
  static std::vector<std::string> servers_among(const std::vector<std::string>& locations);

  std::unique_ptr<RowStream> open_at(const ServerUrl& url, const std::string& ticket,
                                     std::string_view what, const CallDeadline& deadline,
                                     CallGuard* guard);

  std::shared_ptr<Connector> connector_;
  std::atomic<std::size_t> preferred_ = 0;
};

}  // namespace arrakis::inline v1
