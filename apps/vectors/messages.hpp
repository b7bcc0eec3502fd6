#pragma once

/// Kafka messages made from the rows that vectors list, by the library's encoder and decoder.

#include <nlohmann/json.hpp>
#include <string>

#include "arrakis/channel.hpp"
#include "arrakis/fwd.hpp"
#include "arrakis/time.hpp"
#include "wire/row_decoder.hpp"

namespace arrakis::vectors {

/// The message with the rows [{"id", "values"}], which may be of channels that `channels` lacks.
/// Throws std::exception where that is no message that a publisher could send.
std::string encode_rows(const nlohmann::json& rows, const ChannelSet& channels, GpsTime time);

/// The result of decoding `bytes`; the parts borrow from a copy that they keep.
DecodeResult decode_bytes(RowDecoder& decoder, std::string bytes);
/// The one part of the message; nullptr when it has no wanted row. Throws when it is refused.
BlockPartPtr decode_message(RowDecoder& decoder, std::string bytes);

}  // namespace arrakis::vectors
