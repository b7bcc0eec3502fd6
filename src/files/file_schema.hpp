#pragma once

/// Channels in the schema of a table of blocks.

#include <arrow/type_fwd.h>

#include <memory>

#include "arrakis/channel.hpp"

namespace arrakis::inline v1 {

/// column_schema(), and all that is known of each channel, as JSON, in the schema's metadata under
/// "arrakis.channel.<name>".
std::shared_ptr<arrow::Schema> file_schema(const ChannelSet& channels);
/// The channels of such a schema, or of any table with a column `time` and lists of samples that
/// say their `rate`, as Flight streams them. Throws Error(decode) that names the column.
ChannelSet channels_of(const arrow::Schema& schema);

}  // namespace arrakis::inline v1
