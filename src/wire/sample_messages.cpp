#include "wire/sample_messages.hpp"

#include <arrow/api.h>
#include <arrow/extension_type.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "core/exercise.hpp"
#include "wire/part.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::align_val_t kAlign{kAlignment};

void check(const arrow::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

template <typename T>
T check(arrow::Result<T> result) {
  check(result.status());
  return *std::move(result);
}

template <typename Builder>
std::shared_ptr<arrow::Array> finished(Builder& builder) {
  return check(builder.Finish());
}

std::shared_ptr<arrow::Array> times_of(const std::vector<SampleRow>& rows) {
  arrow::Int64Builder builder;
  for (const SampleRow& row : rows) {
    check(row.time_ns ? builder.Append(*row.time_ns) : builder.AppendNull());
  }
  return finished(builder);
}

template <typename Builder>
std::shared_ptr<arrow::Array> ids_of(const std::vector<SampleRow>& rows) {
  Builder builder;
  for (const SampleRow& row : rows) {
    check(row.id ? builder.Append(static_cast<typename Builder::value_type>(*row.id))
                 : builder.AppendNull());
  }
  return finished(builder);
}

template <typename ListBuilder, typename T>
std::shared_ptr<arrow::Array> lists_of(const std::vector<SampleRow>& rows) {
  using ValueBuilder = typename arrow::CTypeTraits<T>::BuilderType;
  auto values = std::make_shared<ValueBuilder>();
  ListBuilder lists(arrow::default_memory_pool(), values);
  for (const SampleRow& row : rows) {
    if (!row.samples) {
      check(lists.AppendNull());
      continue;
    }
    check(lists.Append());
    for (const std::optional<double>& sample : *row.samples) {
      check(sample ? values->Append(static_cast<T>(*sample)) : values->AppendNull());
    }
  }
  return finished(lists);
}

std::shared_ptr<arrow::Array> data_of(const std::vector<SampleRow>& rows, const MessageForm& form) {
  return visit_type(form.type, [&](auto type) {
    using T = decltype(type);
    return form.large_list ? lists_of<arrow::LargeListBuilder, T>(rows)
                           : lists_of<arrow::ListBuilder, T>(rows);
  });
}

std::shared_ptr<arrow::Array> extra_of(std::size_t rows, ExtraColumn kind) {
  if (kind == ExtraColumn::dictionary) {
    arrow::StringDictionaryBuilder builder;
    for (std::size_t i = 0; i < rows; ++i) check(builder.Append("word"));
    return finished(builder);
  }
  if (kind == ExtraColumn::nested) {
    auto values = std::make_shared<arrow::Int32Builder>();
    arrow::ListBuilder builder(arrow::default_memory_pool(), values);
    for (std::size_t i = 0; i < rows; ++i) check(builder.Append());
    return finished(builder);
  }
  if (kind == ExtraColumn::view) {
    arrow::StringViewBuilder builder;
    for (std::size_t i = 0; i < rows; ++i) check(builder.Append("longer than what a view holds"));
    return finished(builder);
  }
  arrow::StringBuilder builder;
  for (std::size_t i = 0; i < rows; ++i) check(builder.Append("word"));
  return finished(builder);
}

std::shared_ptr<arrow::RecordBatch> batch_of(const std::vector<SampleRow>& rows,
                                             const MessageForm& form) {
  std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>> columns = {
      {"time", times_of(rows)},
      {"id",
       form.signed_ids ? ids_of<arrow::Int32Builder>(rows) : ids_of<arrow::UInt32Builder>(rows)},
      {"data", data_of(rows, form)}};
  if (form.extra != ExtraColumn::none) {
    columns.insert(columns.begin() + 1, {"extra", extra_of(rows.size(), form.extra)});
  }
  if (form.reversed_columns) std::reverse(columns.begin(), columns.end());
  std::vector<std::shared_ptr<arrow::Field>> fields;
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  for (auto& [name, array] : columns) {
    auto field = arrow::field(name, array->type());
    if (name == "extra" && form.extra == ExtraColumn::extension) {
      field = field->WithMetadata(
          arrow::key_value_metadata({"ARROW:extension:name"}, {"arrakis.unknown"}));
    }
    fields.push_back(std::move(field));
    arrays.push_back(std::move(array));
  }
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields)),
                                  static_cast<std::int64_t>(rows.size()), std::move(arrays));
}

constexpr std::size_t kExercisedChannels = 4;
constexpr std::size_t kTypes = 10;

std::vector<std::string> make_good_messages(DataType type) {
  std::vector<SampleRow> plain = sample_rows(kExercisedChannels, 1'400'000'000'000'000'000);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    // Values that int8 holds, too.
    for (std::size_t k = 0; k < 4; ++k) (*plain[i].samples)[k] = static_cast<double>(10 * i + k);
  }
  std::vector<SampleRow> gappy = plain;
  (*gappy[1].samples)[2] = std::nullopt;
  gappy[2].samples.reset();
  gappy[3].id.reset();
  MessageForm form;
  form.type = type;
  MessageForm lz4 = form;
  lz4.options.codec = check(arrow::util::Codec::Create(arrow::Compression::LZ4_FRAME));
  MessageForm zstd = form;
  zstd.options.codec = check(arrow::util::Codec::Create(arrow::Compression::ZSTD));
  MessageForm wide = form;
  wide.large_list = true;
  wide.signed_ids = true;
  wide.extra = ExtraColumn::view;
  MessageForm text = form;
  text.extra = ExtraColumn::text;
  return {make_message(plain, form),
          make_message(gappy, form),
          make_message(gappy, lz4),
          make_message(gappy, zstd),
          make_message(gappy, wide),
          make_message(plain, text),
          make_message_of_batches({plain, {}, gappy}, form)};
}

const std::vector<std::string>& good_messages(DataType type) {
  static const std::vector<std::vector<std::string>> kMessages = [] {
    std::vector<std::vector<std::string>> messages;
    for (std::size_t i = 0; i < kTypes; ++i) {
      messages.push_back(make_good_messages(static_cast<DataType>(i)));
    }
    return messages;
  }();
  return kMessages[static_cast<std::size_t>(type)];
}

/// A good message with bytes replaced as `edits` says: which message, then (place, value) each.
std::string changed_message(std::span<const std::byte> edits, DataType type) {
  const std::vector<std::string>& good = good_messages(type);
  std::string message = good[std::to_integer<std::size_t>(edits[0]) % good.size()];
  for (std::size_t i = 1; i + 2 < edits.size(); i += 3) {
    const std::size_t place =
        std::to_integer<std::size_t>(edits[i]) * 256 + std::to_integer<std::size_t>(edits[i + 1]);
    message[place % message.size()] = std::to_integer<char>(edits[i + 2]);
  }
  return message;
}

void decode_good_messages(RowDecoder& decoder, DataType type, std::string_view input) {
  for (const std::string& message : good_messages(type)) {
    require(decoder.decode(received(message)).status == DecodeResult::Status::decoded,
            "a good message is decoded whatever came before", input);
  }
}

void check_result(const DecodeResult& result, std::string_view input) {
  using Status = DecodeResult::Status;
  constexpr std::size_t kMaxReason = 500;
  const bool has_fault = result.status == Status::bad || result.dropped_rows != 0;
  require(has_fault != result.reason.empty(), "what is refused or dropped has a reason", input);
  require(result.reason.size() <= kMaxReason, "a reason is short", input);
  require((result.status == Status::decoded) == (result.part != nullptr),
          "a decoded message has a part", input);
  require(result.part != nullptr || result.more.empty(), "further parts follow a first", input);
}

}  // namespace

std::string make_message(const std::vector<SampleRow>& rows, const MessageForm& form) {
  return make_message_of_batches({rows}, form);
}

std::string make_message_of_batches(const std::vector<std::vector<SampleRow>>& batches,
                                    const MessageForm& form) {
  auto sink = check(arrow::io::BufferOutputStream::Create());
  auto writer =
      check(arrow::ipc::MakeStreamWriter(sink, batch_of({}, form)->schema(), form.options));
  for (const std::vector<SampleRow>& rows : batches) {
    check(writer->WriteRecordBatch(*batch_of(rows, form)));
  }
  check(writer->Close());
  return check(sink->Finish())->ToString();
}

ChannelSet sample_channels(std::size_t count, DataType type) {
  std::vector<Channel> channels;
  for (std::size_t i = 0; i < count; ++i) {
    channels.emplace_back(fmt::format("X:C-{}", i), type, SampleRate(16));
    channels.back().partition_index = static_cast<std::uint32_t>(i);
    channels.back().partition_id = "P";
    channels.back().stride = std::chrono::milliseconds(250);
  }
  return ChannelSet(std::move(channels));
}

std::vector<SampleRow> sample_rows(std::size_t count, std::int64_t time_ns) {
  std::vector<SampleRow> rows;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::optional<double>> samples;
    samples.reserve(4);
    for (int k = 0; k < 4; ++k) samples.emplace_back(static_cast<double>(i) * 100 + k);
    rows.push_back({time_ns, static_cast<std::int64_t>(i), std::move(samples)});
  }
  return rows;
}

ReceivedBytes received(std::span<const std::byte> message, std::size_t misalignment) {
  const std::size_t bytes = misalignment + message.size();
  auto* memory = static_cast<std::byte*>(::operator new(bytes + (bytes == 0 ? 1 : 0), kAlign));
  std::shared_ptr<const void> owner(memory,
                                    [](std::byte* held) { ::operator delete(held, kAlign); });
  if (!message.empty()) std::memcpy(memory + misalignment, message.data(), message.size());
  return {{memory + misalignment, message.size()}, std::move(owner)};
}

ReceivedBytes received(const std::string& message, std::size_t misalignment) {
  return received(std::as_bytes(std::span(message)), misalignment);
}

std::string describe(const BlockPart& part, const ChannelSet& channels) {
  std::string text = fmt::format("at {} for {}, gaps {}\n", part.time().ns(),
                                 part.duration().count(), part.has_gaps());
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const Samples samples = part.samples(i);
    text += fmt::format("{}: present {}, {} samples, {} gaps:", channels[i].name(), samples.present,
                        samples.size, samples.gap_count);
    const std::size_t bytes_each = size_of(channels[i].data_type());
    for (std::size_t k = 0; k < samples.size; ++k) {
      const std::size_t bit = samples.validity_offset + k;
      if (samples.validity != nullptr &&
          ((unsigned{samples.validity[bit / 8]} >> (bit % 8)) & 1U) == 0) {
        text += " gap";
        continue;
      }
      visit_type(channels[i].data_type(), [&](auto type) {
        using T = decltype(type);
        // Through T, so that UndefinedBehaviorSanitizer sees the alignment.
        const T value = reinterpret_cast<const T*>(samples.values)[k];
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, bytes_each);
        text += fmt::format(" {:x}", bits);
      });
    }
    text += '\n';
  }
  return text;
}

std::string describe(const DecodeResult& result, const ChannelSet& channels) {
  if (result.status == DecodeResult::Status::bad) return "bad: " + result.reason;
  std::string text = fmt::format("dropped {} ({})\n", result.dropped_rows, result.reason);
  if (result.part) text += describe(*result.part, channels);
  for (const BlockPartPtr& part : result.more) text += describe(*part, channels);
  return text;
}

void exercise_row_decoder(std::span<const std::byte> input) {
  if (input.empty()) return;
  constexpr std::size_t kFewBytes = std::size_t{1} << 20U;
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  const auto choice = std::to_integer<std::size_t>(input[0]);
  const bool is_raw = choice % 2 == 0 || input.size() < 2;
  const auto type = static_cast<DataType>(choice / 2 % kTypes);
  const std::string message =
      is_raw ? std::string(text.substr(1)) : changed_message(input.subspan(1), type);
  const ChannelSet channels = sample_channels(kExercisedChannels, type);
  const std::size_t misalignment = input.size() % kAlignment;

  RowDecoder fresh(channels, {kFewBytes});
  const DecodeResult result = fresh.decode(received(message, misalignment));
  check_result(result, text);
  const std::string expected = describe(result, channels);
  RowDecoder warm(channels, {kFewBytes});
  decode_good_messages(warm, type, text);
  for (int repeat = 0; repeat < 2; ++repeat) {
    const std::string found = describe(warm.decode(received(message, misalignment)), channels);
    require(found == expected,
            fmt::format("decoded alike after other messages:\n{}\ninstead of\n{}", found, expected),
            text);
  }
  decode_good_messages(warm, type, text);
}

}  // namespace arrakis::inline v1
