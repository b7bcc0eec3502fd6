#pragma once

#include <arrow/record_batch.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "arrakis/client.hpp"
#include "client/call_guard.hpp"
#include "client/server_calls.hpp"

namespace arrakis::inline v1 {

/// Reads one endpoint after the other. One thread, but cancel().
class ChannelListing::Impl {
 public:
  explicit Impl(std::shared_ptr<ServerCalls> calls) : calls_(std::move(calls)) {}

  /// Begins to read what these endpoints give: returns when the first has answered.
  void open(FlightEndpoints endpoints, const CallDeadline& deadline);
  std::vector<Channel> next();
  void cancel() { guard_.cancel(); }

 private:
  void open_next(const CallDeadline& deadline);
  /// Whether there is a batch.
  bool read();
  std::vector<Channel> take();
  void report_refused() const;
  [[noreturn]] void rethrow(const Error& error);

  std::shared_ptr<ServerCalls> calls_;
  FlightEndpoints endpoints_;
  std::size_t opened_ = 0;  // so many of them
  // Before the rows: what ends them must be there as long as they are.
  CallGuard guard_;
  std::unique_ptr<RowStream> rows_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::int64_t taken_ = 0;  // rows of it
  std::size_t refused_ = 0;
};

}  // namespace arrakis::inline v1
