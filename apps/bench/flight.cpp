#include "bench/flight.hpp"

#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <arrow/buffer.h>
#include <arrow/flight/client.h>
#include <arrow/flight/server.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/arrow.hpp"
#include "arrakis/stream.hpp"
#include "bench/allocator.hpp"
#include "bench/child_process.hpp"
#include "bench/percentiles.hpp"
#include "bench/stopwatch.hpp"
#include "flight/flight_reader.hpp"

namespace arrakis::bench {
namespace {

namespace fl = arrow::flight;

constexpr std::int64_t kFirstSecond = 1'400'000'000;
/// Batches sent in turn, so that samples don't stay in the innermost cache as only a benchmark's
/// would.
constexpr std::size_t kBatches = 16;
/// Where a batch's time stands among its buffers, after the bitmap that it does not have.
constexpr std::size_t kTimeBuffer = 1;

GpsTime time_of(std::size_t i) {
  return GpsTime::from_seconds(kFirstSecond) + static_cast<std::int64_t>(i) * kStride;
}

void check(const arrow::Status& status) {
  if (!status.ok()) throw Error(Errc::server, status.ToString());
}
template <typename T>
T check(arrow::Result<T> result) {
  check(result.status());
  return *std::move(result);
}

/// The batches' payloads, made beforehand: the server's work is none of what is measured.
class Payloads {
 public:
  explicit Payloads(const ChannelSet& channels) : schema_(column_schema(channels)) {
    for (std::size_t i = 0; i < kBatches; ++i) {
      const auto batch = to_column_batch(make_samples(channels, time_of(i), i), schema_);
      check(arrow::ipc::GetRecordBatchPayload(*batch, arrow::ipc::IpcWriteOptions::Defaults(),
                                              &payloads_.emplace_back()));
    }
  }
  [[nodiscard]] const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }
  [[nodiscard]] arrow::ipc::IpcPayload at(std::size_t i) const {
    arrow::ipc::IpcPayload payload = payloads_[i % payloads_.size()];
    const std::int64_t time = time_of(i).ns();
    payload.body_buffers[kTimeBuffer] =
        arrow::Buffer::FromString({reinterpret_cast<const char*>(&time), sizeof time});
    return payload;
  }

 private:
  std::shared_ptr<arrow::Schema> schema_;
  std::vector<arrow::ipc::IpcPayload> payloads_;
};

class Stream final : public fl::FlightDataStream {
 public:
  Stream(const Payloads& payloads, std::size_t batches) : payloads_(payloads), batches_(batches) {}
  std::shared_ptr<arrow::Schema> schema() override { return payloads_.schema(); }
  arrow::Result<fl::FlightPayload> GetSchemaPayload() override {
    fl::FlightPayload payload;
    ARROW_RETURN_NOT_OK(arrow::ipc::GetSchemaPayload(*payloads_.schema(),
                                                     arrow::ipc::IpcWriteOptions::Defaults(),
                                                     mapper_, &payload.ipc_message));
    return payload;
  }
  arrow::Result<fl::FlightPayload> Next() override {
    fl::FlightPayload payload;
    if (next_ < batches_) payload.ipc_message = payloads_.at(next_++);
    return payload;
  }

 private:
  const Payloads& payloads_;
  std::size_t batches_;
  std::size_t next_ = 0;
  arrow::ipc::DictionaryFieldMapper mapper_;
};

/// Gives as many batches as the ticket says.
class Server final : public fl::FlightServerBase {
 public:
  explicit Server(const ChannelSet& channels) : payloads_(channels) {}
  arrow::Status DoGet(const fl::ServerCallContext& /*context*/, const fl::Ticket& ticket,
                      std::unique_ptr<fl::FlightDataStream>* stream) override {
    *stream = std::make_unique<Stream>(payloads_, std::stoul(ticket.ticket));
    return arrow::Status::OK();
  }
  arrow::Status ListActions(const fl::ServerCallContext& /*context*/,
                            std::vector<fl::ActionType>* /*actions*/) override {
    return arrow::Status::OK();
  }

 private:
  Payloads payloads_;
};

void serve(const ChannelSet& channels, const ChildProcess::Line& line) {
  Server server(channels);
  check(server.Init(fl::FlightServerOptions(check(fl::Location::ForGrpcTcp("127.0.0.1", 0)))));
  line.answer(fmt::format("grpc://127.0.0.1:{}", server.port()));
  static_cast<void>(line.wait());
  check(server.Shutdown());
}

/// What one side took, a value a round.
struct Figures {
  Percentiles cpu, wall;
  std::uint64_t batches = 0;
  std::uint64_t bytes = 0;
  double sum = 0;

  void add(const Stopwatch& watch) {
    cpu.add(watch.cpu());
    wall.add(watch.wall());
  }
};

/// Samples at any address, as Arrow hands them out.
template <typename T>
double sum_of(const void* samples, std::size_t count) {
  const auto* bytes = static_cast<const char*>(samples);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    T sample{};
    std::memcpy(&sample, bytes + i * sizeof(T), sizeof(T));
    sum += static_cast<double>(sample);
  }
  return sum;
}

double sum_of(const arrow::RecordBatch& batch, DataType type) {
  double sum = 0;
  for (int c = 1; c < batch.num_columns(); ++c) {
    const arrow::ArrayData& items = *batch.column_data(c)->child_data[0];
    visit_type(type, [&]<typename T>(T) {
      sum += sum_of<T>(items.buffers[1]->data(), static_cast<std::size_t>(items.length));
    });
  }
  return sum;
}

double sum_of(const SeriesBlock& block, DataType type) {
  double sum = 0;
  for (std::size_t c = 0; c < block.size(); ++c) {
    const Series series = block.at(c);
    visit_type(type,
               [&]<typename T>(T) { sum += sum_of<T>(series.bytes().data(), series.size()); });
  }
  return sum;
}

/// Arrow's client alone.
void read_plainly(fl::FlightClient& client, const FlightOptions& options, Figures& figures) {
  const Stopwatch watch;
  fl::Ticket ticket;
  ticket.ticket = std::to_string(options.batches);
  const std::unique_ptr<fl::FlightStreamReader> reader = check(client.DoGet(ticket));
  for (;;) {
    const fl::FlightStreamChunk chunk = check(reader->Next());
    if (chunk.data == nullptr) break;
    ++figures.batches;
    if (options.visit) figures.sum += sum_of(*chunk.data, options.shape.type);
  }
  figures.add(watch);
}

void read_blocks(const std::shared_ptr<Connector>& connector, const ChannelSet& channels,
                 const FlightOptions& options, Figures& figures) {
  const Stopwatch watch;
  StreamEndpoint endpoint;
  endpoint.ticket = std::to_string(options.batches);
  endpoint.asked = connector->home_urls().front();
  endpoint.channels = channels;
  endpoint.start = time_of(0);
  endpoint.end = time_of(options.batches);
  StreamOptions stream_options;
  stream_options.start = endpoint.start;
  stream_options.end = endpoint.end;
  auto reader = std::make_unique<FlightReader>(connector, std::vector{endpoint});
  const FlightReader& its_reader = *reader;
  BlockStream stream(std::move(reader), stream_options);
  for (const SeriesBlock& block : stream) {
    ++figures.batches;
    if (options.visit) figures.sum += sum_of(block, options.shape.type);
  }
  figures.add(watch);
  figures.bytes += its_reader.stats().bytes;
}

}

std::string flight(const FlightOptions& options) {
  if (options.tune_allocator) tune_allocator();
  const ChannelSet channels = make_channels(options.shape, "flight");
  ChildProcess server("server's process",
                      [&](const ChildProcess::Line& line) { serve(channels, line); });
  const std::string url = server.read_line();
  const auto client = check(fl::FlightClient::Connect(check(fl::Location::Parse(url))));
  ClientOptions client_options;
  client_options.urls = {url};
  client_options.token.mode = TokenOptions::Mode::off;
  const auto connector = std::make_shared<Connector>(client_options);

  Figures floor;
  Figures ours;
  for (std::size_t round = 0; round < options.rounds; ++round) {
    for (const bool is_floor : {round % 2 == 0, round % 2 != 0}) {
      if (is_floor) {
        read_plainly(*client, options, floor);
      } else {
        read_blocks(connector, channels, options, ours);
      }
    }
  }
  if (ours.batches != floor.batches || ours.sum != floor.sum) {
    throw Error(Errc::no_data, fmt::format("{} blocks of sum {} where Arrow reads {} of {}",
                                           ours.batches, ours.sum, floor.batches, floor.sum));
  }
  constexpr double kMedian = 0.5;
  const auto ratio = [](const Percentiles& its_floor, const Percentiles& its) {
    return its_floor.at(kMedian) / its.at(kMedian);
  };
  return fmt::format(
      R"({{"mode": "flight", "visit": {}, "channels": {}, "batches": {}, "batch_bytes": {}, )"
      R"("rounds": {}, "floor_cpu": {:.4f}, "cpu": {:.4f}, "floor_wall": {:.4f}, "wall": {:.4f}, )"
      R"("of_floor_cpu": {:.3f}, "of_floor_wall": {:.3f}, "gb_per_s": {:.2f}}})",
      options.visit, channels.size(), options.batches, ours.bytes / ours.batches, options.rounds,
      floor.cpu.at(kMedian), ours.cpu.at(kMedian), floor.wall.at(kMedian), ours.wall.at(kMedian),
      ratio(floor.cpu, ours.cpu), ratio(floor.wall, ours.wall),
      static_cast<double>(ours.bytes) / static_cast<double>(options.rounds) /
          ours.wall.at(kMedian) * 1e-9);
}

}
