#include "client/server_calls.hpp"

#include <arrow/buffer.h>
#include <arrow/flight/types.h>
#include <arrow/ipc/message.h>
#include <arrow/ipc/reader.h>
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

/// A stream keeps what it came over.
struct OpenedStream {
  explicit OpenedStream(std::shared_ptr<StreamTransport> over) : transport(std::move(over)) {}
  std::shared_ptr<StreamTransport> transport;
  std::unique_ptr<CallGuard::Stream> stream;
};

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

/// The messages of a Flight stream for Arrow's reader of batches.
class RowStream::Messages final : public arrow::ipc::MessageReader {
 public:
  explicit Messages(RowStream& rows) : rows_(rows) {}
  arrow::Result<std::unique_ptr<arrow::ipc::Message>> ReadNextMessage() override {
    while (true) {
      flight::internal::FlightData data;
      if (!rows_.stream_->ReadData(&data)) {
        rows_.has_ended_ = true;
        return nullptr;
      }
      if (data.metadata != nullptr) return data.OpenMessage();
    }
  }

 private:
  RowStream& rows_;
};

RowStream::RowStream(std::string what, std::shared_ptr<CallGuard::Stream> stream)
    : what_(std::move(what)),
      stream_(std::move(stream)),
      messages_(std::make_unique<Messages>(*this)) {}

RowStream::~RowStream() {
  if (is_finished_) return;
  stream_->TryCancel();
  (void)stream_->Finish(arrow::Status::OK());
}

std::shared_ptr<arrow::RecordBatch> RowStream::next() {
  while (true) {
    const arrow::Status status = prepare();
    if (!status.ok()) throw to_error(status, what_);
    std::shared_ptr<arrow::RecordBatch> batch = std::exchange(batch_, nullptr);
    if (batch == nullptr) return nullptr;
    const arrow::Status validity = batch->ValidateFull();
    if (!validity.ok()) {
      throw Error(Errc::protocol,
                  fmt::format("{}: a damaged batch of rows: {}", what_, validity.message()));
    }
    if (batch->num_rows() > 0) return batch;
  }
}

arrow::Status RowStream::prepare() {
  if (is_finished_ || batch_ != nullptr) return arrow::Status::OK();
  const arrow::Status status = read();
  return status.ok() && batch_ != nullptr ? status : finish(status);
}

arrow::Status RowStream::read() {
  if (reader_ == nullptr) {
    auto options = arrow::ipc::IpcReadOptions::Defaults();
    // gRPC delivers bodies at any address.
    options.ensure_alignment = arrow::ipc::Alignment::kDataTypeSpecificAlignment;
    ARROW_ASSIGN_OR_RAISE(reader_,
                          arrow::ipc::RecordBatchStreamReader::Open(std::move(messages_), options));
  }
  return reader_->ReadNext(&batch_);
}

arrow::Status RowStream::finish(const arrow::Status& status) {
  is_finished_ = true;
  if (!has_ended_) stream_->TryCancel();
  arrow::Status server_status = stream_->Finish(arrow::Status::OK());
  // What the server says explains why its messages ended.
  if (has_ended_ && !server_status.ok()) return server_status;
  if (status.ok()) return status;
  throw Error(Errc::protocol, fmt::format("{}: no stream of rows: {}", what_, status.message()));
}

void ServerCalls::Attempts::failed(const Error& error) {
  if (!may_pass(error)) throw error;
  errors_.push_back(error);
}

std::optional<ServerUrl> ServerCalls::Attempts::resolve(const std::string& location,
                                                        const ServerUrl& asked) {
  try {
    return Connector::resolve(location, asked);
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
                   [&](const ServerUrl& server, const CallDeadline& limit) {
                     return get_info(server, request, limit);
                   });
}

FlightEndpoints ServerCalls::get_info(const ServerUrl& server, const Request& request,
                                      const CallDeadline& deadline) {
  const auto descriptor = flight::FlightDescriptor::Command(to_command(request));
  const auto ask = [&](const std::shared_ptr<StreamTransport>& transport,
                       const flight::FlightCallOptions& options)
      -> arrow::Result<std::unique_ptr<flight::FlightInfo>> {
    std::unique_ptr<flight::FlightInfo> info;
    ARROW_RETURN_NOT_OK(transport->GetFlightInfo(options, descriptor, &info));
    return info;
  };
  const std::unique_ptr<flight::FlightInfo> info =
      call(server, at(lower(name_of(request)), server), deadline.left(), ask);
  FlightEndpoints answer{.asked = server, .endpoints = {}};
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
  const auto ask = [&](const std::shared_ptr<StreamTransport>& transport,
                       const flight::FlightCallOptions& options)
      -> arrow::Result<std::unique_ptr<flight::Result>> {
    std::unique_ptr<flight::ResultStream> results;
    ARROW_RETURN_NOT_OK(transport->DoAction(options, request, &results));
    return results->Next();
  };
  return ask_homes(action, deadline(), [&](const ServerUrl& server, const CallDeadline& limit) {
    const std::string what = at(action, server);
    const std::unique_ptr<flight::Result> result = call(server, what, limit.left(), ask);
    if (result == nullptr || result->body == nullptr) {
      throw Error(Errc::protocol, fmt::format("{}: an empty answer", what));
    }
    return Answer{.text = result->body->ToString(), .asked = server};
  });
}

std::unique_ptr<RowStream> ServerCalls::open(const FlightEndpoint& endpoint, const ServerUrl& asked,
                                             std::string_view what, const CallDeadline& deadline,
                                             CallGuard* guard) {
  return ask_locations(endpoint.locations, asked, what, deadline,
                       [&](const ServerUrl& url, const CallDeadline& limit) {
                         return open_at(url, endpoint.ticket, what, limit, guard);
                       });
}

std::vector<std::string> ServerCalls::servers_among(const std::vector<std::string>& locations) {
  std::vector<std::string> servers;
  std::ranges::copy_if(locations, std::back_inserter(servers),
                       [](const std::string& text) { return !is_kafka_location(text); });
  if (servers.empty()) servers.emplace_back(kReuseConnection);
  return servers;
}

std::unique_ptr<RowStream> ServerCalls::open_at(const ServerUrl& url, const std::string& ticket,
                                                std::string_view what, const CallDeadline& deadline,
                                                CallGuard* guard) {
  const std::string what_there = at(what, url);
  std::optional<CallGuard::Limit> waiting;
  if (guard != nullptr) waiting.emplace(*guard, deadline.left());
  const auto begin =
      [&](const std::shared_ptr<StreamTransport>& transport,
          const flight::FlightCallOptions& options) -> arrow::Result<std::unique_ptr<RowStream>> {
    const auto opened = std::make_shared<OpenedStream>(transport);
    ARROW_RETURN_NOT_OK(transport->DoGet(options, flight::Ticket{ticket}, &opened->stream));
    const std::shared_ptr<CallGuard::Stream> stream(opened, opened->stream.get());
    if (guard != nullptr) guard->watch(stream);
    auto rows = std::make_unique<RowStream>(what_there, stream);
    ARROW_RETURN_NOT_OK(rows->prepare());
    return rows;
  };
  const auto limit = guard == nullptr ? std::optional(deadline.left()) : std::nullopt;
  try {
    return call(url, what_there, limit, begin);
  } catch (const Error&) {
    connector_->forget(url);
    if (waiting && waiting->is_over() && !guard->is_cancelled()) {
      throw Error(Errc::timeout, fmt::format("{}: no answer in time", what_there));
    }
    throw;
  }
}

namespace {

arrow::Status send(flight::FlightStreamWriter& writer, const arrow::RecordBatch& batch) {
  ARROW_RETURN_NOT_OK(writer.Begin(batch.schema()));
  ARROW_RETURN_NOT_OK(writer.WriteRecordBatch(batch));
  return writer.DoneWriting();
}

arrow::Status read_to_end(flight::FlightStreamReader& reader) {
  for (;;) {
    ARROW_ASSIGN_OR_RAISE(const flight::FlightStreamChunk chunk, reader.Next());
    if (chunk.data == nullptr) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(chunk.data->ValidateFull());
  }
}

}

void ServerCalls::exchange(const Request& request,
                           const std::shared_ptr<arrow::RecordBatch>& batch) {
  const CallDeadline deadline = this->deadline();
  const std::string name = lower(name_of(request));
  const auto descriptor = flight::FlightDescriptor::Command(to_command(request));
  const FlightEndpoints where = get_info(request);
  std::vector<std::string> locations;
  for (const FlightEndpoint& endpoint : where.endpoints) {
    locations.insert(locations.end(), endpoint.locations.begin(), endpoint.locations.end());
  }
  const auto exchange_at = [&](const ServerUrl& url, const CallDeadline& limit) {
    const Connection server = connector_->connect(url);
    const auto once = [&](const std::shared_ptr<StreamTransport>& /*transport*/,
                          const flight::FlightCallOptions& options) -> arrow::Result<bool> {
      ARROW_ASSIGN_OR_RAISE(auto both, server.client->DoExchange(options, descriptor));
      arrow::Status status = send(*both.writer, *batch);
      if (status.ok()) status = read_to_end(*both.reader);
      // Where writing fails, the reason is known only now.
      ARROW_RETURN_NOT_OK(both.writer->Close());
      ARROW_RETURN_NOT_OK(status);
      return true;
    };
    return call(url, at(name, url), limit.left(), once);
  };
  ask_locations(locations, where.asked, name, deadline, exchange_at);
}

}  // namespace arrakis::inline v1
