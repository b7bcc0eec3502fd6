#pragma once

/// A Flight server inside the test's process, which does what the test says: answers, breaks off,
/// falls silent, sends what no server should.

#include <arrow/buffer.h>
#include <arrow/flight/server.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace arrakis::testing {

/// One thing that the answer to a DoGet does.
namespace flight_steps {
struct Send {
  std::shared_ptr<arrow::RecordBatch> batch;
};
/// A message of exactly these bytes. Where the body's length is no multiple of eight and it is not
/// padded, Arrow makes of it a message that is no Flight data.
struct SendBytes {
  std::string metadata, body;
  bool is_padded = true;
};
/// Nothing, until the caller goes or the server is told to go on.
struct Wait {};
/// The end, with this status.
struct End {
  arrow::Status status;
};
}  // namespace flight_steps
using FlightStep = std::variant<flight_steps::Send, flight_steps::SendBytes, flight_steps::Wait,
                                flight_steps::End>;

/// The answer to a DoGet: the schema, then step 0, 1, … until one ends it.
struct FlightAnswer {
  std::shared_ptr<arrow::Schema> schema;
  std::function<FlightStep(std::size_t)> step;
  /// Hold back the schema, too, until the server is told to go on.
  bool is_mute = false;
};

/// An answer of these steps, and then the end.
inline FlightAnswer flight_answer(std::shared_ptr<arrow::Schema> schema,
                                  std::vector<FlightStep> steps) {
  return {std::move(schema), [steps = std::move(steps)](std::size_t i) -> FlightStep {
            if (i < steps.size()) return steps[i];
            return flight_steps::End{};
          }};
}

class FlightServer {
 public:
  struct Call {
    std::string method, argument;
    std::vector<std::pair<std::string, std::string>> headers;

    [[nodiscard]] std::optional<std::string> header(const std::string& name) const {
      for (const auto& [its_name, value] : headers) {
        if (its_name == name) return value;
      }
      return std::nullopt;
    }
  };
  /// What it does. A call without a function is "not implemented". May be called from several
  /// threads at once.
  struct Functions {
    std::function<arrow::Result<FlightAnswer>(const Call&)> do_get;
    std::function<arrow::Result<arrow::flight::FlightInfo>(const Call&)> get_flight_info;
    std::function<arrow::Result<std::string>(const Call&)> do_action;
  };
  struct Options {
    int port = 0;                  ///< 0: a free one
    std::string certificate, key;  ///< PEM; not empty: TLS
  };

  explicit FlightServer(Functions functions) : FlightServer(std::move(functions), Options()) {}
  FlightServer(Functions functions, const Options& options)
      : server_(std::make_unique<Server>(std::move(functions))) {
    using arrow::flight::Location;
    const bool is_tls = !options.certificate.empty();
    auto location = is_tls ? Location::ForGrpcTls("127.0.0.1", options.port)
                           : Location::ForGrpcTcp("127.0.0.1", options.port);
    arrow::flight::FlightServerOptions its_options(*location);
    if (is_tls) its_options.tls_certificates = {{options.certificate, options.key}};
    if (const arrow::Status status = server_->Init(its_options); !status.ok()) {
      throw std::runtime_error("no Flight server: " + status.ToString());
    }
    url_ = (is_tls ? "grpc+tls://127.0.0.1:" : "grpc://127.0.0.1:") + std::to_string(port());
  }
  ~FlightServer() { stop(); }
  FlightServer(const FlightServer&) = delete;
  FlightServer& operator=(const FlightServer&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] int port() const { return server_->port(); }
  /// Ends every wait, those to come included.
  void go_on() { server_->released = true; }
  /// Breaks off all calls; nobody listens any more.
  void stop() {
    go_on();
    const auto now = std::chrono::system_clock::now();
    static_cast<void>(server_->Shutdown(&now));
  }

  [[nodiscard]] std::vector<Call> calls(const std::string& method) const {
    const std::unique_lock lock(server_->mutex);
    std::vector<Call> found;
    for (const Call& call : server_->calls) {
      if (call.method == method) found.push_back(call);
    }
    return found;
  }
  /// Steps done, in all answers.
  [[nodiscard]] std::size_t steps() const { return server_->steps; }
  /// Answers that are being given.
  [[nodiscard]] std::size_t open_answers() const { return server_->answers; }

 private:
  class Server;

  class Stream final : public arrow::flight::FlightDataStream {
   public:
    Stream(Server& server, const arrow::flight::ServerCallContext& context, FlightAnswer answer)
        : server_(server), context_(context), answer_(std::move(answer)) {
      ++server_.answers;
    }
    ~Stream() override { --server_.answers; }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    std::shared_ptr<arrow::Schema> schema() override { return answer_.schema; }
    arrow::Result<arrow::flight::FlightPayload> GetSchemaPayload() override {
      if (answer_.is_mute) wait();
      arrow::flight::FlightPayload payload;
      ARROW_RETURN_NOT_OK(arrow::ipc::GetSchemaPayload(
          *answer_.schema, arrow::ipc::IpcWriteOptions::Defaults(), mapper_, &payload.ipc_message));
      return payload;
    }
    arrow::Result<arrow::flight::FlightPayload> Next() override {
      for (;;) {
        const FlightStep step = answer_.step(next_++);
        ++server_.steps;
        arrow::flight::FlightPayload payload;
        if (const auto* send = std::get_if<flight_steps::Send>(&step)) {
          ARROW_RETURN_NOT_OK(arrow::ipc::GetRecordBatchPayload(
              *send->batch, arrow::ipc::IpcWriteOptions::Defaults(), &payload.ipc_message));
          return payload;
        }
        if (const auto* bytes = std::get_if<flight_steps::SendBytes>(&step)) {
          payload.ipc_message.type = arrow::ipc::MessageType::RECORD_BATCH;
          payload.ipc_message.metadata = arrow::Buffer::FromString(bytes->metadata);
          constexpr std::size_t kPadding = 8;
          std::string body = bytes->body;
          if (bytes->is_padded) body.resize((body.size() + kPadding - 1) / kPadding * kPadding);
          payload.ipc_message.body_length = static_cast<std::int64_t>(body.size());
          payload.ipc_message.body_buffers = {arrow::Buffer::FromString(std::move(body))};
          return payload;
        }
        if (const auto* end = std::get_if<flight_steps::End>(&step)) {
          ARROW_RETURN_NOT_OK(end->status);
          return payload;  // without metadata: the end
        }
        wait();
        if (context_.is_cancelled()) return arrow::Status::Cancelled("the caller has gone");
      }
    }

   private:
    void wait() {
      while (!server_.released && !context_.is_cancelled()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    }

    Server& server_;
    const arrow::flight::ServerCallContext& context_;
    FlightAnswer answer_;
    arrow::ipc::DictionaryFieldMapper mapper_;
    std::size_t next_ = 0;
  };

  class Server final : public arrow::flight::FlightServerBase {
   public:
    explicit Server(Functions functions) : functions_(std::move(functions)) {}

    arrow::Status DoGet(const arrow::flight::ServerCallContext& context,
                        const arrow::flight::Ticket& ticket,
                        std::unique_ptr<arrow::flight::FlightDataStream>* stream) override {
      const Call call = note("DoGet", ticket.ticket, context);
      if (!functions_.do_get) return arrow::Status::NotImplemented("no DoGet");
      ARROW_ASSIGN_OR_RAISE(FlightAnswer answer, functions_.do_get(call));
      *stream = std::make_unique<Stream>(*this, context, std::move(answer));
      return arrow::Status::OK();
    }
    arrow::Status GetFlightInfo(const arrow::flight::ServerCallContext& context,
                                const arrow::flight::FlightDescriptor& request,
                                std::unique_ptr<arrow::flight::FlightInfo>* info) override {
      const Call call = note("GetFlightInfo", request.cmd, context);
      if (!functions_.get_flight_info) return arrow::Status::NotImplemented("no GetFlightInfo");
      ARROW_ASSIGN_OR_RAISE(arrow::flight::FlightInfo answer, functions_.get_flight_info(call));
      *info = std::make_unique<arrow::flight::FlightInfo>(std::move(answer));
      return arrow::Status::OK();
    }
    arrow::Status DoAction(const arrow::flight::ServerCallContext& context,
                           const arrow::flight::Action& action,
                           std::unique_ptr<arrow::flight::ResultStream>* result) override {
      const Call call = note("DoAction", action.type, context);
      if (!functions_.do_action) return arrow::Status::NotImplemented("no DoAction");
      ARROW_ASSIGN_OR_RAISE(std::string answer, functions_.do_action(call));
      arrow::flight::Result one;
      one.body = arrow::Buffer::FromString(std::move(answer));
      *result = std::make_unique<arrow::flight::SimpleResultStream>(
          std::vector<arrow::flight::Result>{one});
      return arrow::Status::OK();
    }
    arrow::Status ListActions(const arrow::flight::ServerCallContext& context,
                              std::vector<arrow::flight::ActionType>* /*actions*/) override {
      note("ListActions", "", context);
      return arrow::Status::OK();
    }

    mutable std::mutex mutex;
    std::vector<Call> calls;
    std::atomic<bool> released{false};
    std::atomic<std::size_t> steps{0};
    std::atomic<std::size_t> answers{0};

   private:
    Call note(const char* method, std::string argument,
              const arrow::flight::ServerCallContext& context) {
      Call call{method, std::move(argument), {}};
      for (const auto& [name, value] : context.incoming_headers()) {
        call.headers.emplace_back(name, value);
      }
      const std::unique_lock lock(mutex);
      calls.push_back(call);
      return call;
    }

    Functions functions_;
  };

  std::unique_ptr<Server> server_;
  std::string url_;
};

}  // namespace arrakis::testing
