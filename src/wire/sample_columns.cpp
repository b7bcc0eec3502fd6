#include "wire/sample_columns.hpp"

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/message.h>
#include <arrow/ipc/writer.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <utility>

#include "arrakis/arrow.hpp"
#include "core/exercise.hpp"
#include "wire/arrow_types.hpp"
#include "wire/part.hpp"
#include "wire/sample_messages.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr std::int64_t kTime = 1'400'000'000'000'000'000;

ColumnMessage split(const std::shared_ptr<arrow::Buffer>& encapsulated) {
  arrow::io::BufferReader reader(encapsulated);
  const auto message = require_value(arrow::ipc::ReadMessage(&reader));
  return {message->metadata()->ToString(),
          message->body() == nullptr ? "" : message->body()->ToString()};
}

std::vector<ColumnMessage> make_good_messages() {
  arrow::ipc::IpcWriteOptions lz4 = arrow::ipc::IpcWriteOptions::Defaults();
  lz4.codec = require_value(arrow::util::Codec::Create(arrow::Compression::LZ4_FRAME));
  constexpr std::uint32_t kSomeGaps = 0b1001;
  return {batch_message(*mixed_batch(kTime)), batch_message(*mixed_batch(kTime, kSomeGaps)),
          batch_message(*mixed_batch(kTime, kSomeGaps), lz4)};
}

const std::vector<ColumnMessage>& good_messages() {
  static const std::vector<ColumnMessage> kMessages = make_good_messages();
  return kMessages;
}

const ColumnMessage& good_schema() {
  static const ColumnMessage kSchema = schema_message(*column_schema(mixed_channels()));
  return kSchema;
}

std::size_t place_in(std::span<const std::byte> two_bytes) {
  return std::to_integer<std::size_t>(two_bytes[0]) * 256 +
         std::to_integer<std::size_t>(two_bytes[1]);
}

/// A good message with bytes replaced as `edits` says: which message, then (place, value) each; the
/// places go on from the metadata into the body.
ColumnMessage changed(std::span<const std::byte> edits) {
  const std::vector<ColumnMessage>& good = good_messages();
  ColumnMessage message = good[std::to_integer<std::size_t>(edits[0]) % good.size()];
  for (std::size_t i = 1; i + 2 < edits.size(); i += 3) {
    std::size_t place =
        place_in(edits.subspan(i)) % (message.metadata.size() + message.body.size());
    std::string& part = place < message.metadata.size() ? message.metadata : message.body;
    if (&part == &message.body) place -= message.metadata.size();
    part[place] = std::to_integer<char>(edits[i + 2]);
  }
  return message;
}

/// The length of the metadata, the metadata and the body.
ColumnMessage raw(std::span<const std::byte> input) {
  if (input.size() < 2) return {};
  const std::size_t length = std::min(place_in(input), input.size() - 2);
  const std::string_view rest(reinterpret_cast<const char*>(input.data()) + 2, input.size() - 2);
  return {std::string(rest.substr(0, length)), std::string(rest.substr(length))};
}

void decode_good_messages(ColumnDecoder& decoder, std::string_view input) {
  for (const ColumnMessage& message : good_messages()) {
    require(decode(decoder, message).status == ColumnResult::Status::decoded,
            "a good message is decoded whatever came before", input);
  }
}

}  // namespace

ColumnMessage schema_message(const arrow::Schema& schema) {
  return split(require_value(arrow::ipc::SerializeSchema(schema)));
}

ColumnMessage batch_message(const arrow::RecordBatch& batch,
                            const arrow::ipc::IpcWriteOptions& options) {
  return split(require_value(arrow::ipc::SerializeRecordBatch(batch, options)));
}

ColumnResult decode(ColumnDecoder& decoder, const ColumnMessage& message,
                    std::size_t misalignment) {
  const ReceivedBytes metadata = received(message.metadata);
  return decoder.decode(metadata.bytes, received(message.body, misalignment));
}

ChannelSet mixed_channels() {
  std::vector<Channel> channels;
  const auto add = [&](DataType type, int rate) {
    channels.emplace_back(fmt::format("X:C-{}", channels.size()), type, SampleRate(rate));
    channels.back().stride = std::chrono::milliseconds(250);
  };
  add(DataType::float32, 16);
  add(DataType::float64, 4);
  add(DataType::int8, 8);
  add(DataType::int16, 64);
  return ChannelSet(std::move(channels));
}

std::shared_ptr<arrow::RecordBatch> mixed_batch(std::int64_t time_ns, std::uint32_t gaps) {
  const ChannelSet channels = mixed_channels();
  BlockBuilder builder(GpsTime::from_ns(time_ns), channels);
  for (std::size_t c = 0; c < channels.size(); ++c) {
    visit_type(channels[c].data_type(), [&](auto zero) {
      using T = decltype(zero);
      const std::size_t count = channels[c].sample_rate().samples_in(*channels[c].stride);
      std::vector<T> samples(count);
      std::vector<bool> missing(count);
      for (std::size_t k = 0; k < count; ++k) {
        samples[k] = static_cast<T>(20 * c + k);
        missing[k] = ((gaps >> ((c + k) % 32)) & 1U) != 0;
      }
      builder.set<T>(channels[c].name(), samples, missing);
    });
  }
  return to_column_batch(builder.build(), column_schema(channels));
}

std::string describe(const ColumnResult& result, const ChannelSet& channels) {
  if (result.status == ColumnResult::Status::bad) return "bad: " + result.reason;
  if (result.status == ColumnResult::Status::schema) return "schema " + result.reason;
  return result.part == nullptr ? "empty" : describe(*result.part, channels);
}

void exercise_column_decoder(std::span<const std::byte> input) {
  if (input.size() < 2) return;
  constexpr std::size_t kFewBytes = std::size_t{1} << 20U;
  constexpr std::size_t kAlignments = 64;
  using Status = ColumnResult::Status;
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  const bool is_raw = std::to_integer<int>(input[0]) % 2 == 0;
  const ColumnMessage message = is_raw ? raw(input.subspan(1)) : changed(input.subspan(1));
  const ChannelSet channels = mixed_channels();
  const std::size_t misalignment = input.size() % kAlignments;

  ColumnDecoder fresh(channels, {kFewBytes});
  decode(fresh, good_schema());
  const ColumnResult result = decode(fresh, message, misalignment);
  constexpr std::size_t kMaxReason = 500;
  require(result.status != Status::bad || !result.reason.empty(), "a refusal has a reason", text);
  require(result.reason.size() <= kMaxReason, "a reason is short", text);
  require((result.status == Status::decoded) == (result.part != nullptr),
          "a decoded batch is a part", text);
  const std::string expected = describe(result, channels);
  ColumnDecoder warm(channels, {kFewBytes});
  decode(warm, good_schema());
  for (int repeat = 0; repeat < 2; ++repeat) {
    decode_good_messages(warm, text);
    const std::string found = describe(decode(warm, message, misalignment), channels);
    require(found == expected,
            fmt::format("decoded alike after other messages:\n{}\ninstead of\n{}", found, expected),
            text);
    if (result.status == Status::schema) return;  // what comes after goes by that one
  }
  decode_good_messages(warm, text);
}

}  // namespace arrakis::inline v1
