#include "client/server_calls.hpp"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/flight/types.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flight/server_url.hpp"

namespace arrakis::inline v1 {
namespace {

namespace flight = arrow::flight;

/// The location that means the server that was asked.
constexpr std::string_view kReuseConnection = "arrow-flight-reuse-connection://?";

/// Longer is as good as for ever, and a sum with it can't overflow.
constexpr Duration kLongest = std::chrono::hours(24 * 365 * 100);

std::string lower(std::string_view name) {
  std::string out(name);
  out.front() = static_cast<char>(out.front() - 'A' + 'a');
  return out;
}

std::string at(std::string_view what, const ServerUrl& url) {
  return fmt::format("{} at {}", what, url.text);
}

ClientOptions checked(ClientOptions options) {
  if (options.timeout <= Duration::zero()) {
    throw Error(Errc::invalid_argument,
                fmt::format("the client's timeout must be above zero, not {}",
                            format_duration(options.timeout)));
  }
  return options;
}

}  // namespace

CallDeadline::CallDeadline(const Clock& clock, Duration limit)
    : clock_(&clock), end_(clock.monotonic() + std::min(limit, kLongest)) {}

Duration CallDeadline::left() const {
  return std::max(end_ - clock_->monotonic(), Duration::zero());
}

CallDeadline CallDeadline::share(std::size_t attempts) const {
  return {*clock_, left() / static_cast<Duration::rep>(std::max<std::size_t>(attempts, 1))};
}

std::shared_ptr<arrow::RecordBatch> RowStream::next() {
  while (true) {
    if (batch_ == nullptr) {
      const arrow::Status status = read();
      if (!status.ok()) throw to_error(status, what_);
    }
    const std::shared_ptr<arrow::RecordBatch> batch = std::exchange(batch_, nullptr);
    if (batch == nullptr) return nullptr;
    const arrow::Status validity = batch->ValidateFull();
    if (!validity.ok()) {
      throw Error(Errc::protocol,
                  fmt::format("{}: a damaged batch of rows: {}", what_, validity.message()));
    }
    if (batch->num_rows() > 0) return batch;
  }
}

arrow::Status RowStream::read() {
  while (!is_at_end_ && batch_ == nullptr) {
    ARROW_ASSIGN_OR_RAISE(flight::FlightStreamChunk chunk, reader_->Next());
    is_at_end_ = chunk.data == nullptr && chunk.app_metadata == nullptr;
    batch_ = std::move(chunk.data);
  }
  return arrow::Status::OK();
}

void ServerCalls::Attempts::failed(const Error& error) {
  if (!may_pass(error)) throw error;
  errors_.push_back(error);
}

std::optional<Connection> ServerCalls::Attempts::connect(Connector& connector,
                                                         const std::string& location,
                                                         const ServerUrl& asked) {
  try {
    return connector.connect(location, asked);
  } catch (const Error& error) {
    errors_.push_back(error);
    return std::nullopt;
  }
}

void ServerCalls::Attempts::give_up() const {
  if (errors_.empty()) throw Error(Errc::unavailable, fmt::format("{}: no server to ask", what_));
  if (errors_.size() == 1) throw errors_.front();
  std::string texts;
  for (const Error& error : errors_) texts += fmt::format("; {}", error.what());
  throw Error(errors_.front().code(),
              fmt::format("{}: none of {} servers could answer{}", what_, errors_.size(), texts),
              errors_.front().request_id());
}

ServerCalls::ServerCalls(ClientOptions options, std::string scope)
    : connector_(std::make_shared<Connector>(checked(std::move(options)), std::move(scope))) {}

CallDeadline ServerCalls::deadline() const { return {connector_->clock(), connector_->timeout()}; }

FlightEndpoints ServerCalls::get_info(const Request& request) {
  return ask_homes(lower(name_of(request)), deadline(),
                   [&](const Connection& server, const CallDeadline& limit) {
                     return get_info(server, request, limit);
                   });
}

FlightEndpoints ServerCalls::get_info(const Connection& server, const Request& request,
                                      const CallDeadline& deadline) {
  const auto descriptor = flight::FlightDescriptor::Command(to_command(request));
  const std::unique_ptr<flight::FlightInfo> info =
      call(server.url, at(lower(name_of(request)), server.url), deadline.left(),
           [&](const flight::FlightCallOptions& options) {
             return server.client->GetFlightInfo(options, descriptor);
           });
  FlightEndpoints answer{.asked = server.url, .endpoints = {}};
  for (const flight::FlightEndpoint& endpoint : info->endpoints()) {
    FlightEndpoint& added = answer.endpoints.emplace_back();
    added.ticket = endpoint.ticket.ticket;
    for (const flight::Location& location : endpoint.locations) {
      added.locations.push_back(location.ToString());
    }
  }
  return answer;
}

ServerCalls::Answer ServerCalls::act(const std::string& action) {
  const flight::Action request{action, arrow::Buffer::FromString("")};
  return ask_homes(action, deadline(), [&](const Connection& server, const CallDeadline& limit) {
    const auto first_result = [&](const flight::FlightCallOptions& options)
        -> arrow::Result<std::unique_ptr<flight::Result>> {
      ARROW_ASSIGN_OR_RAISE(const auto results, server.client->DoAction(options, request));
      return results->Next();
    };
    const std::string what = at(action, server.url);
    const std::unique_ptr<flight::Result> result =
        call(server.url, what, limit.left(), first_result);
    if (result == nullptr || result->body == nullptr) {
      throw Error(Errc::protocol, fmt::format("{}: an empty answer", what));
    }
    return Answer{.text = result->body->ToString(), .asked = server.url};
  });
}

std::unique_ptr<RowStream> ServerCalls::open(const FlightEndpoint& endpoint, const ServerUrl& asked,
                                             std::string_view what, const CallDeadline& deadline,
                                             CallGuard* guard) {
  std::vector<std::string> locations;
  std::ranges::copy_if(endpoint.locations, std::back_inserter(locations),
                       [](const std::string& text) { return !is_kafka_location(text); });
  if (locations.empty()) locations.emplace_back(kReuseConnection);
  Attempts attempts(what, locations.size(), deadline);
  for (const std::string& location : locations) {
    const CallDeadline limit = attempts.share();
    const std::optional<Connection> connection = attempts.connect(*connector_, location, asked);
    if (!connection) continue;
    try {
      return open_at(*connection, endpoint.ticket, what, limit, guard);
    } catch (const Error& error) {
      attempts.failed(error);
    }
  }
  attempts.give_up();
}

std::unique_ptr<RowStream> ServerCalls::open_at(Connection connection, const std::string& ticket,
                                                std::string_view what, const CallDeadline& deadline,
                                                CallGuard* guard) {
  const ServerUrl url = connection.url;
  std::unique_ptr<RowStream> rows(new RowStream(at(what, url), std::move(connection)));
  std::optional<CallGuard::Limit> waiting;
  if (guard != nullptr) waiting.emplace(*guard, deadline.left());
  const auto begin = [&](const flight::FlightCallOptions& options) -> arrow::Result<bool> {
    ARROW_ASSIGN_OR_RAISE(rows->reader_,
                          rows->connection_.client->DoGet(options, flight::Ticket{ticket}));
    if (guard != nullptr) guard->watch(rows->reader_);
    ARROW_RETURN_NOT_OK(rows->read());
    return true;
  };
  try {
    (void)call(url, rows->what_, guard == nullptr ? std::optional(deadline.left()) : std::nullopt,
               begin);
  } catch (const Error&) {
    connector_->forget(url);
    if (waiting && waiting->is_over() && !guard->is_cancelled()) {
      throw Error(Errc::timeout, fmt::format("{}: no answer in time", rows->what_));
    }
    throw;
  }
  return rows;
}

namespace {

using Batches = std::vector<std::shared_ptr<arrow::RecordBatch>>;

arrow::Status send(flight::FlightStreamWriter& writer, const arrow::RecordBatch& batch) {
  ARROW_RETURN_NOT_OK(writer.Begin(batch.schema()));
  ARROW_RETURN_NOT_OK(writer.WriteRecordBatch(batch));
  return writer.DoneWriting();
}

arrow::Result<Batches> receive(flight::FlightStreamReader& reader) {
  Batches batches;
  for (;;) {
    ARROW_ASSIGN_OR_RAISE(const flight::FlightStreamChunk chunk, reader.Next());
    if (chunk.data == nullptr) return batches;
    ARROW_RETURN_NOT_OK(chunk.data->ValidateFull());
    batches.push_back(chunk.data);
  }
}

}

void ServerCalls::exchange(const Request& request, const std::shared_ptr<arrow::RecordBatch>& batch,
                           const std::function<void(const arrow::RecordBatch&)>& take) {
  const CallDeadline deadline = this->deadline();
  const std::string name = lower(name_of(request));
  const auto descriptor = flight::FlightDescriptor::Command(to_command(request));
  const FlightEndpoints where = get_info(request);
  std::vector<std::string> locations;
  for (const FlightEndpoint& endpoint : where.endpoints) {
    locations.insert(locations.end(), endpoint.locations.begin(), endpoint.locations.end());
  }
  if (locations.empty()) locations.emplace_back(kReuseConnection);
  Attempts attempts(name, locations.size(), deadline);
  for (const std::string& location : locations) {
    const CallDeadline limit = attempts.share();
    const std::optional<Connection> server = attempts.connect(*connector_, location, where.asked);
    if (!server) continue;
    const auto once = [&](const flight::FlightCallOptions& options) -> arrow::Result<Batches> {
      ARROW_ASSIGN_OR_RAISE(auto both, server->client->DoExchange(options, descriptor));
      const arrow::Status sent = send(*both.writer, *batch);
      arrow::Result<Batches> received = sent.ok() ? receive(*both.reader) : sent;
      // Where writing fails, the reason is known only now.
      const arrow::Status closed = both.writer->Close();
      if (!closed.ok()) return closed;
      return received;
    };
    try {
      for (const auto& answer : call(server->url, at(name, server->url), limit.left(), once)) {
        take(*answer);
      }
      return;
    } catch (const Error& error) {
      attempts.failed(error);
    }
  }
  attempts.give_up();
}

}  // namespace arrakis::inline v1
