#pragma once

/// Column messages for tests, written by Arrow itself, and a decoder put to the question with them.

#include <arrow/ipc/options.h>
#include <arrow/type_fwd.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arrakis/channel.hpp"
#include "wire/column_decoder.hpp"

namespace arrakis::inline v1 {

/// An IPC message in its two parts.
struct ColumnMessage {
  std::string metadata;
  std::string body;
};
ColumnMessage schema_message(const arrow::Schema& schema);
ColumnMessage batch_message(
    const arrow::RecordBatch& batch,
    const arrow::ipc::IpcWriteOptions& options = arrow::ipc::IpcWriteOptions::Defaults());
/// The body at an address that is `misalignment` beyond a multiple of 64, with nothing readable
/// behind it under AddressSanitizer.
ColumnResult decode(ColumnDecoder& decoder, const ColumnMessage& message,
                    std::size_t misalignment = 0);

/// Channels "X:C-0" … of different types and rates and a stride of 250 ms.
ChannelSet mixed_channels();
/// Their block at `time_ns` by Arrow, with the gaps that `gaps` has bits for: channel c is a gap in
/// its sample k when bit (c + k) % 32 of it is set.
std::shared_ptr<arrow::RecordBatch> mixed_batch(std::int64_t time_ns, std::uint32_t gaps = 0);

/// Text that says all of what was decoded.
std::string describe(const ColumnResult& result, const ChannelSet& channels);

/// Decodes `input`, or a good message changed in the places that `input` says, by a new decoder and
/// by one that has just seen good messages. Ends the program when the two disagree, a good message
/// is no longer decoded, or something is refused without a reason.
void exercise_column_decoder(std::span<const std::byte> input);

}  // namespace arrakis::inline v1
