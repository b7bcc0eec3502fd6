#pragma once

/// A Flight server in this process that answers as a test says.

#include <arrow/flight/server.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace arrakis::testing {

/// Batches that are made when they are asked for.
class MadeRows final : public arrow::RecordBatchReader {
 public:
  using Batch = std::shared_ptr<arrow::RecordBatch>;
  /// `make(i)` is the i-th batch, nullptr the end. It may wait.
  MadeRows(std::shared_ptr<arrow::Schema> schema,
           std::function<arrow::Result<Batch>(std::size_t)> make)
      : schema_(std::move(schema)), make_(std::move(make)) {}

  [[nodiscard]] std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  arrow::Status ReadNext(Batch* batch) override { return make_(made_++).Value(batch); }

 private:
  std::shared_ptr<arrow::Schema> schema_;
  std::function<arrow::Result<Batch>(std::size_t)> make_;
  std::size_t made_ = 0;
};

/// It runs from start() on. The scripts are called on the server's threads; they must be set before
/// and must not wait for ever.
class ScriptedFlightServer final : public arrow::flight::FlightServerBase {
 public:
  /// An endpoint by its ticket and locations.
  struct Endpoint {
    std::string ticket;
    std::vector<std::string> locations;
  };
  using Rows = std::shared_ptr<arrow::RecordBatchReader>;
  std::function<arrow::Result<std::vector<Endpoint>>(const std::string& command)> on_info;
  std::function<arrow::Result<Rows>(const std::string& ticket)> on_get;
  std::function<arrow::Result<std::string>(const std::string& action)> on_action;

  ~ScriptedFlightServer() override {
    const auto deadline = std::chrono::system_clock::now() + std::chrono::seconds(1);
    (void)Shutdown(&deadline);
  }

  void start() {
    const auto location = arrow::flight::Location::ForGrpcTcp("127.0.0.1", 0).ValueOrDie();
    const arrow::Status status = Init(arrow::flight::FlightServerOptions(location));
    if (!status.ok()) throw std::runtime_error(status.ToString());
  }
  [[nodiscard]] std::string url() const { return "grpc://127.0.0.1:" + std::to_string(port()); }

  arrow::Status GetFlightInfo(const arrow::flight::ServerCallContext& /*context*/,
                              const arrow::flight::FlightDescriptor& request,
                              std::unique_ptr<arrow::flight::FlightInfo>* info) override {
    ARROW_ASSIGN_OR_RAISE(const std::vector<Endpoint> scripted, on_info(request.cmd));
    std::vector<arrow::flight::FlightEndpoint> endpoints;
    for (const Endpoint& endpoint : scripted) {
      arrow::flight::FlightEndpoint& added = endpoints.emplace_back();
      added.ticket.ticket = endpoint.ticket;
      for (const std::string& text : endpoint.locations) {
        ARROW_ASSIGN_OR_RAISE(added.locations.emplace_back(), arrow::flight::Location::Parse(text));
      }
    }
    ARROW_ASSIGN_OR_RAISE(
        auto made, arrow::flight::FlightInfo::Make(*arrow::schema({}), request, endpoints, -1, -1));
    *info = std::make_unique<arrow::flight::FlightInfo>(std::move(made));
    return arrow::Status::OK();
  }

  arrow::Status DoGet(const arrow::flight::ServerCallContext& /*context*/,
                      const arrow::flight::Ticket& request,
                      std::unique_ptr<arrow::flight::FlightDataStream>* stream) override {
    ARROW_ASSIGN_OR_RAISE(const Rows rows, on_get(request.ticket));
    *stream = std::make_unique<arrow::flight::RecordBatchStream>(rows);
    return arrow::Status::OK();
  }

  arrow::Status DoAction(const arrow::flight::ServerCallContext& /*context*/,
                         const arrow::flight::Action& action,
                         std::unique_ptr<arrow::flight::ResultStream>* result) override {
    ARROW_ASSIGN_OR_RAISE(std::string text, on_action(action.type));
    std::vector<arrow::flight::Result> results(1);
    results[0].body = arrow::Buffer::FromString(std::move(text));
    *result = std::make_unique<arrow::flight::SimpleResultStream>(std::move(results));
    return arrow::Status::OK();
  }
};

}  // namespace arrakis::testing
