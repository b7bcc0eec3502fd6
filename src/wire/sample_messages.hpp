#pragma once

/// Row messages for tests, written by Arrow itself, and a decoder put to the question with them.

#include <arrow/ipc/options.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrakis/channel.hpp"
#include "wire/row_decoder.hpp"

namespace arrakis::inline v1 {

/// One row; nothing stands for null.
struct SampleRow {
  std::optional<std::int64_t> time_ns;
  std::optional<std::int64_t> id;
  std::optional<std::vector<std::optional<double>>> samples;
};

enum class ExtraColumn { none, text, dictionary, nested, extension, view };

struct MessageForm {
  DataType type = DataType::float32;
  bool signed_ids = false;
  bool large_list = false;
  bool reversed_columns = false;
  ExtraColumn extra = ExtraColumn::none;
  arrow::ipc::IpcWriteOptions options = arrow::ipc::IpcWriteOptions::Defaults();
};

/// An IPC stream of one batch.
std::string make_message(const std::vector<SampleRow>& rows, const MessageForm& form = {});
/// An IPC stream of several.
std::string make_message_of_batches(const std::vector<std::vector<SampleRow>>& batches,
                                    const MessageForm& form = {});

/// `count` channels "X:C-0" … of 16 Hz with partition_index 0 … and a stride of 250 ms.
ChannelSet sample_channels(std::size_t count, DataType type = DataType::float32);
/// A row of four samples for each of them, the sample's value 100 * channel + i.
std::vector<SampleRow> sample_rows(std::size_t count, std::int64_t time_ns);

/// The message's bytes at an address that is `misalignment` beyond a multiple of 64, with nothing
/// readable behind them under AddressSanitizer.
ReceivedBytes received(std::span<const std::byte> message, std::size_t misalignment = 0);
ReceivedBytes received(const std::string& message, std::size_t misalignment = 0);

/// Text that says all of a part, every sample in it.
std::string describe(const BlockPart& part, const ChannelSet& channels);
/// Text that says all of a decoded message.
std::string describe(const DecodeResult& result, const ChannelSet& channels);

/// Decodes `input`, or a good message changed in the places that `input` says, by a new decoder and
/// by one that has just seen good messages; its first byte says which, and of which type the
/// channels are. Ends the program when the two disagree, a good message is no longer decoded, or
/// something is refused without a reason.
void exercise_row_decoder(std::span<const std::byte> input);

}  // namespace arrakis::inline v1
